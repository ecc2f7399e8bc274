// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import Foundation
import NDEF
import PrivateStorage
import Testing

/// A user with folders, apps and an inbox of a test's own.
private struct User {
    let scratch: ScratchFolder
    let nfc: Command

    init(environment: [String: String] = [:]) throws {
        scratch = try ScratchFolder()
        var variables = [
            "XDG_DATA_HOME": scratch.path("data"), "XDG_DATA_DIRS": scratch.path("none"),
            "XDG_STATE_HOME": scratch.path("state"), "XDG_CACHE_HOME": scratch.path("cache"),
            "PATH": scratch.path("bin") + ":/usr/bin:/bin",
        ]
        variables.merge(environment) { $1 }
        nfc = Command(name: "nfc", environment: variables)
        try write("data/nfc/apps/org.example.Reader.json", Self.description)
        try write(
            "data/applications/org.example.Reader.desktop",
            "[Desktop Entry]\nType=Application\nName=Reader\nDBusActivatable=true\nMimeType=x-scheme-handler/reader;\n"
        )
    }

    private static let description = """
        {"app_id":"TEAM.org.example.reader","associated_domains":["applinks:good.site.example"]}
        """

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        let path = scratch.path(name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// Puts an association file into the cache, as if its site had served it now.
    func cache(_ file: String) throws {
        let now = Int64(Date().timeIntervalSince1970)
        try write("cache/nfc/links/good.site.example.links", "nfc-links 1 \(now) \(now) \(file.utf8.count) \n\(file)")
    }

    static let association =
        #"{"applinks":{"details":[{"appIDs":["TEAM.org.example.reader"],"components":[{"/":"/x/*"}]}]}}"#

    /// Adds an entry to the inbox.
    func add(_ uri: String, number: UInt32 = 1) throws -> String {
        let id = InboxEntry.ID(received: UInt64(Date().timeIntervalSince1970 * 1000), number: number)
        let message = try NDEFMessage([.uri(uri), .text("more", language: "en")]).encoded()
        try Inbox(DirectoryStore(scratch.path("state/nfc/inbox"))).add(InboxEntry(id: id, message: message))
        return id.description
    }

    /// What was opened, as a desktop would be told.
    func opener(status: Int = 0) throws {
        let script = "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" >> '\(scratch.path("opened"))'\nexit \(status)\n"
        try write("bin/xdg-open", script, mode: 0o755)
    }

    var opened: [String] {
        let text = (try? String(contentsOfFile: scratch.path("opened"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}

@Suite struct `nfc apps` {
    @Test func `It lists each app with its domains and rules`() throws {
        let user = try User()
        let before = try user.nfc.run("apps")
        #expect(before.status == 0)
        #expect(
            before.output == """
                Reader  TEAM.org.example.reader  (org.example.Reader.desktop)
                  applinks:good.site.example
                    no association file; nfc links fetch gets it
                  reader: only where custom schemes are allowed

                """
        )
        try user.cache(User.association)
        let object = try #require(try user.nfc.run("apps", "--json").objects().first)
        let domain = try #require((object["associated_domains"] as? [[String: Any]])?.first)
        #expect(domain["rules"] as? [String] == [#"details[0].components[0] {"/": "/x/*"}"#])
        #expect(object["app_id"] as? String == "TEAM.org.example.reader")
    }

    @Test func `What is no app is told`() throws {
        let user = try User()
        try user.write("data/nfc/apps/org.example.Bad.json", "{")
        let outcome = try user.nfc.run("apps", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().map { $0["ok"] as? Bool } == [true, false])
    }
}

@Suite struct `nfc inbox` {
    @Test func `It lists entries, safely and with where they go`() throws {
        let user = try User()
        try user.cache(User.association)
        #expect(try user.nfc.run("inbox", "list").output == "The inbox is empty.\n")
        let first = try user.add("https://good.site.example/x/1", number: 1)
        _ = try user.add("mailto:a\u{202E}b@c.example", number: 2)
        let outcome = try user.nfc.run("inbox", "list")
        #expect(outcome.lines.count == 2)
        #expect(outcome.lines[0] == "\(first)  Open “good.site.example” in Reader  (just now)")
        #expect(!outcome.output.contains("\u{202E}"))
        let objects = try user.nfc.run("inbox", "list", "--json").objects()
        #expect(objects.map { $0["opens"] as? String } == ["TEAM.org.example.reader", "mailto"])
        let mode = try FileManager.default.attributesOfItem(atPath: user.scratch.path("state/nfc/inbox"))[
            .posixPermissions
        ]
        #expect(mode as? Int == 0o700)
    }

    @Test func `Opening gives the browser the URL alone, past every shell`() throws {
        let user = try User()
        try user.opener()
        _ = try user.add("https://b.example/$(touch x);`y`&'|\"")
        #expect(try user.nfc.run("inbox", "open").status == 0)
        #expect(user.opened == ["1", "https://b.example/$(touch%20x);%60y%60&'%7C%22"])
        #expect(try user.nfc.run("inbox", "list").output == "The inbox is empty.\n")
        #expect(try user.nfc.run("inbox", "open").status == 1)
    }

    @Test func `What can't be opened stays`() throws {
        let user = try User()
        try user.opener(status: 3)
        let id = try user.add("tel:+49123")
        #expect(try user.nfc.run("inbox", "open", id, "--json").objects().first?["error"] as? String == "not-opened")
        _ = try user.add("reader:x", number: 2)
        #expect(try user.nfc.run("inbox", "open", "--json").objects().first?["error"] as? String == "nothing-to-open")
        #expect(try user.nfc.run("inbox", "list").lines.count == 2)
        #expect(try user.nfc.run("inbox", "clear", id).status == 0)
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        #expect(try user.nfc.run("inbox", "clear").status == 0)
        #expect(try user.nfc.run("inbox", "list").output == "The inbox is empty.\n")
        #expect(try user.nfc.run("inbox", "open", "../x").status == 2)
    }
}

@Suite struct `Delivery over the bus` {
    /// A bus of a test's own, which ends with it, with everything that it started.
    private final class Bus {
        let process = Process()
        let address: String

        init(_ folder: String) throws {
            let configuration = """
                <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" \
                "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
                <busconfig><type>session</type><listen>unix:path=\(folder)/bus</listen>
                <servicedir>\(folder)/services</servicedir>
                <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>\
                <allow own="*"/></policy></busconfig>
                """
            try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/bus.conf"))
            process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
            process.arguments = ["--nofork", "--config-file=\(folder)/bus.conf", "--print-address"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            address = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }

        deinit {
            // What a thread of the tests starts has its signals blocked, so that it can't be asked to end.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    private static let hasBus = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")

    @Test(.enabled(if: hasBus, "dbus-daemon is not installed"))
    func `An app is started and given the link with the message, and then given more while it runs`() throws {
        let folder = try ScratchFolder()
        let probe = Command(name: "DeliveryProbe").path
        let services = folder.path("services")
        try FileManager.default.createDirectory(atPath: services, withIntermediateDirectories: true)
        let service =
            "[D-BUS Service]\nName=org.example.Reader\nExec=\(probe) org.example.Reader \(folder.path("log"))\n"
        try Data(service.utf8).write(to: URL(fileURLWithPath: services + "/org.example.Reader.service"))
        let bus = try Bus(folder.path(""))
        let user = try User(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try user.cache(User.association)
        _ = try user.add("https://good.site.example/x/1")
        let first = try user.nfc.run("inbox", "open", "--json")
        #expect(first.status == 0, "\(first)")
        #expect(try first.objects().first?["opened_in"] as? String == "TEAM.org.example.reader")
        _ = try user.add("https://good.site.example/x/refuse")
        let refused = try user.nfc.run("inbox", "open", "--json")
        #expect(try refused.objects().first?["error"] as? String == "not-delivered")
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        let log = try String(contentsOfFile: folder.path("log"), encoding: .utf8).split(separator: "\n")
        #expect(log.count == 3)
        #expect(
            log.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }.suffix(2) == [
                "https://good.site.example/x/1 2", "https://good.site.example/x/refuse 2",
            ]
        )
        // One process was given both.
        #expect(Set(log.compactMap { $0.split(separator: " ").first }).count == 1)
        withExtendedLifetime(bus) {}
    }

    @Test(.enabled(if: hasBus, "dbus-daemon is not installed"))
    func `An app that nobody can start leaves the entry in the inbox`() throws {
        let folder = try ScratchFolder()
        let bus = try Bus(folder.path(""))
        let user = try User(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try user.cache(User.association)
        _ = try user.add("https://good.site.example/x/1")
        let outcome = try user.nfc.run("inbox", "open", "--json")
        #expect(try outcome.objects().first?["error"] as? String == "not-delivered")
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        withExtendedLifetime(bus) {}
    }

    @Test func `Without a bus it is told, and the entry stays`() throws {
        let user = try User(environment: [
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "XDG_RUNTIME_DIR": "/nowhere",
        ])
        try user.cache(User.association)
        _ = try user.add("https://good.site.example/x/1")
        let outcome = try user.nfc.run("inbox", "open")
        #expect(outcome.status == 1)
        #expect(outcome.error.hasPrefix("Error: "))
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
    }
}

@Suite struct `nfc links fetch` {
    @Test func `Only domains that an installed app lists are fetched`() throws {
        let user = try User()
        let outcome = try user.nfc.run("links", "fetch", "other.example", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "not-listed")
    }

    @Test func `A site that can't be reached is told, and nothing is lost`() throws {
        let user = try User()
        try user.cache(User.association)
        let fresh = try user.nfc.run("links", "fetch", "--json")
        #expect(fresh.status == 0)
        #expect(try fresh.objects().first?["age_s"] as? Int ?? 100 < 60)
        let forced = try user.nfc.run("links", "fetch", "--force", "--connect-to", "127.0.0.1:1", "--json")
        #expect(forced.status == 1)
        let object = try #require(try forced.objects().first)
        #expect(object["error"] as? String == "no-connection")
        #expect(object["size"] as? Int == User.association.utf8.count)
        #expect(try user.nfc.run("links", "fetch", "--timeout", "0").status == 2)
    }

    @Test func `A file is fetched from a site and used`() throws {
        let user = try User()
        let site = Process()
        site.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("LinkFetchingTests/site.py").path
        try FileManager.default.createDirectory(atPath: user.scratch.path("site"), withIntermediateDirectories: true)
        site.arguments = ["python3", script, user.scratch.path("site")]
        let (input, output) = (Pipe(), Pipe())
        site.standardInput = input
        site.standardOutput = output
        try site.run()
        defer {
            try? input.fileHandleForWriting.close()
            site.waitUntilExit()
        }
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let outcome = try user.nfc.run(
            "links",
            "fetch",
            "--connect-to",
            "127.0.0.1:\(port)",
            "--authorities",
            user.scratch.path("site/ca.pem")
        )
        #expect(outcome.status == 0)
        #expect(outcome.output == "good.site.example  77 octets, the site answered just now\n")
        let mode = try FileManager.default.attributesOfItem(
            atPath: user.scratch.path("cache/nfc/links/good.site.example.links")
        )[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }
}
