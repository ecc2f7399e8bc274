// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension BackgroundService {
    @Suite struct `The service on the bus` {
        private static let path = "/org/opencorenfc/Background"
        private static let interface = "org.opencorenfc.Background1"

        @Test func `D-Bus introspection: leads from the root to the service's object and interface`() async throws {
            let desk = try await Desk()
            try await desk.start()
            for (path, content) in [
                ("/", "<node name=\"org\"/>"), ("/org", "<node name=\"opencorenfc\"/>"),
                ("/org/opencorenfc", "<node name=\"Background\"/>"),
                (Self.path, "<interface name=\"org.opencorenfc.Background1\">"),
            ] {
                let text = try #require(try await desk.ask("introspect", path) as? String)
                #expect(text.contains(content), "\(path): \(text)")
            }
        }

        @Test func `D-Bus call with a wrong method, argument or object: answered with its D-Bus error name`()
            async throws
        {
            let desk = try await Desk()
            try await desk.start()
            for (path, interface, method, arguments, name) in [
                (Self.path, Self.interface, "Nonsense", [], "UnknownMethod: \(Self.interface) "),
                (Self.path, Self.interface, "Open", [], "InvalidArgs: Open "),
                (Self.path, Self.interface, "Open", ["../x"], "InvalidArgs: Open "),
                (Self.path, Self.interface, "Status", ["x"], "InvalidArgs: Status "),
                (Self.path, "org.example.Other", "Status", [], "UnknownInterface: "),
                ("/org/other", Self.interface, "Status", [], "UnknownObject: "),
                ("/org/other", "org.freedesktop.DBus.Introspectable", "Introspect", [], "UnknownObject: "),
            ] {
                let call: [Any] = [path, interface, method] + arguments
                let answer = try await desk.ask("call", list: call) as? String
                #expect(answer?.hasPrefix("org.freedesktop.DBus.Error." + name) == true, "\(answer ?? "")")
            }
            let unknown = try await desk.ask("call", list: [Self.path, Self.interface, "Open", "019fb0c2d4e11a2b3c4d"])
            #expect(unknown as? String == "unknown")
        }

        @Test func `A notification has the service's icon and entry, and names the browser`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            let shown = try #require(try await desk.notifications().first)
            #expect(shown.body == "Open “b.example” in Browser")
            #expect(shown.actions == ["default", "Open"])
            #expect(shown.icon == "org.opencorenfc.Background")
            #expect(shown.hints["desktop-entry"] as? String == "org.opencorenfc.Background")
        }

        @Test
        func
            `Link whose browser has changed: the first click names the new browser, the next one opens the link`()
            async throws
        {
            let desk = try await Desk()
            try desk.installBrowser()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            // The person has another browser now.
            let entry = "[Desktop Entry]\nType=Application\nName=Other\nExec=browser --other %u\n"
            try desk.write("data/applications/other.desktop", entry)
            try desk.write("config/mimeapps.list", "[Default Applications]\nx-scheme-handler/https=other.desktop\n")
            try await desk.ask("act", 1, "default")
            try await desk.event("shown")
            #expect(desk.lines(of: "opened").isEmpty)
            #expect(try await desk.notifications().map(\.body).last == "Open “b.example” in Other")
            try await desk.ask("act", 1, "default")
            try await desk.event("delivered")
            #expect(desk.lines(of: "opened") == ["2", "--other", "https://b.example/1"])
        }
    }
}
