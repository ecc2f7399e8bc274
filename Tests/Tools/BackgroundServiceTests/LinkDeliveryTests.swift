// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import NDEF
import TestThreads
import Testing
import UserBus

/// A user with an app `org.example.App`, and with programs that log their arguments.
private struct Desk {
    let user: User
    let environment: [String: String]
    let app = InstalledApp(id: "TEAM.app", name: "App", desktopID: "org.example.App", associatedDomains: [])

    init(bus: Bus? = nil) throws {
        user = try User()
        var environment = user.nfc.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus?.address ?? "unix:path=/nowhere"
        environment["NOTIFY_SOCKET"] = "/nowhere"
        self.environment = environment
    }

    func deliverer(limit: Duration = .seconds(20)) -> LinkDeliverer {
        // What a program writes is looked at when it has ended, however slow the machine.
        LinkDeliverer(environment: environment, limit: limit, settling: .seconds(60))
    }

    /// Installs the app's desktop entry.
    func entry(_ name: String = "org.example.App", _ lines: String...) throws {
        let text = (["[Desktop Entry]", "Type=Application", "Name=App"] + lines).joined(separator: "\n")
        try user.write("data/applications/\(name).desktop", text)
    }

    /// Installs a program that writes a line of how many arguments it has, and each of them, and then ends.
    @discardableResult
    func program(_ name: String, _ rest: String = "exit 0") throws -> String {
        let log = user.scratch.path("log")
        let script = "#!/bin/sh\nprintf '%s\\n' \"$0 $#\" \"$@\" \"${NOTIFY_SOCKET-unset}\" >> '\(log)'\n\(rest)\n"
        try user.write("bin/\(name)", script, mode: 0o755)
        return user.scratch.path("bin/\(name)")
    }

    /// What the programs wrote.
    var log: [String] {
        let text = (try? String(contentsOfFile: user.scratch.path("log"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    func link(_ uri: String = "https://example.org/x") throws -> Delivery {
        let message = try NDEFMessage([.uri(uri), .text("more", language: "en")]).encoded()
        let text = try #require(TagURI(uri)).text
        let type = UserActivityPayload.browsingWeb
        return .app(app, try UserActivityPayload(activityType: type, webpageURL: text, message: message))
    }

    func failure(_ delivery: Delivery, limit: Duration = .seconds(20)) throws -> DeliveryError {
        let error = #expect(throws: DeliveryError.self) { try deliverer(limit: limit).deliver(delivery) }
        return try #require(error)
    }
}

@Suite(.ownThreads) struct `An app that is started by its Exec` {
    private static let hostile = "https://a.example/$(touch x);`y`&'|\"\\-*?~#!{a,b}"

    @Test(arguments: [hostile, "https://a.example/" + String(repeating: "$(x)", count: 15_000)])
    func `The link is one argument of it, past every shell`(uri: String) throws {
        let desk = try Desk()
        let program = try desk.program("app")
        try desk.entry("org.example.App", "Exec=\(program) --link %u \"a \\\\$b\" 100%% %c %i %k", "Icon=ic on")
        let text = try #require(TagURI(uri)).text
        let receipt = try desk.deliverer().deliver(try desk.link(uri))
        #expect(receipt.app == "TEAM.app" && !receipt.hasMessage)
        let path = desk.user.scratch.path("data/applications/org.example.App.desktop")
        #expect(
            desk.log == [
                "\(program) 8", "--link", text, "a $b", "100%", "App", "--icon", "ic on", path, "unset",
            ]
        )
    }

    @Test func `An entry that can't be used says why, and nothing is started`() throws {
        let desk = try Desk()
        try desk.program("app")
        for (lines, reason) in [
            (["Name=x"], "no Exec"), (["Exec=app %u", "Terminal=true"], "terminal"),
            (["Exec=app %u", "TryExec=not-there"], "not-there"), (["Exec=app"], "Implements"),
            (["Exec=app %f"], "Implements"), (["Exec=not-there %u"], "not-there"), (["Exec=./app %u"], "program"),
            (["Exec=app %u; app"], "character ;"), (["Exec=app $(app) %u"], "character $"),
            (["Exec=app \"%u\""], "quotation"),
        ] {
            try desk.user.write(
                "data/applications/org.example.App.desktop",
                (["[Desktop Entry]", "Type=Application", "Name=App"] + lines).joined(separator: "\n")
            )
            let error = try desk.failure(try desk.link())
            #expect(error.code == (reason == "Implements" ? .takesNoLink : .notStarted))
            #expect(error.reason.contains(reason), "\(lines): \(error.reason)")
        }
        try FileManager.default.removeItem(atPath: desk.user.scratch.path("data/applications/org.example.App.desktop"))
        #expect(try desk.failure(try desk.link()).code == .notStarted)
        #expect(desk.log == [])
    }

    @Test func `A program that fails at once is reported`() throws {
        let desk = try Desk()
        try desk.program("app", "exit 3")
        try desk.entry("org.example.App", "Exec=app %u")
        #expect(try desk.failure(try desk.link()).reason == "App ended at once, with status 3.")
        try desk.program("app", "kill -SEGV $$")
        #expect(try desk.failure(try desk.link()).reason == "App ended at once, by signal 11.")
        try desk.user.write("bin/app", "no program", mode: 0o755)
        #expect(try desk.failure(try desk.link()).code == .notStarted)
    }

    @Test func `It begins in the folder of its entry, with no signal blocked and no file of others`() throws {
        let desk = try Desk()
        let log = desk.user.scratch.path("log")
        // Unlike others this one would stay open in what is started.
        let file = fcntl(STDERR_FILENO, F_DUPFD, 100)
        defer { close(file) }
        let script = "{ pwd; grep SigBlk /proc/self/status; ls -d /proc/$$/fd/\(file) || echo none; } >> '\(log)' 2>&1"
        try desk.program("app", script)
        try desk.entry("org.example.App", "Exec=app %u", "Path=\(desk.user.scratch.path("data"))")
        _ = try desk.deliverer().deliver(try desk.link())
        let end = desk.log.suffix(4)
        #expect(end.prefix(2) == [desk.user.scratch.path("data"), "SigBlk:\t0000000000000000"])
        #expect(end.last == "none")
    }
}

@Suite(.ownThreads) struct `What the desktop opens` {
    @Test func `The browser of the person gets the URL alone, and then the next that can be started`() throws {
        let desk = try Desk()
        try desk.program("first")
        try desk.program("second")
        try desk.entry("first", "Exec=first %U")
        try desk.entry("second", "Exec=second %u")
        try desk.user.write(
            "config/mimeapps.list",
            "[Default Applications]\nx-scheme-handler/https=gone.desktop;first.desktop;\n"
                + "[Added Associations]\nx-scheme-handler/https=second.desktop;\n"
        )
        #expect(try desk.deliverer().deliver(.browser("https://b.example/")).app == "first")
        #expect(desk.log == [desk.user.scratch.path("bin/first") + " 1", "https://b.example/", "unset"])
        try desk.entry("first", "Exec=first %U", "Terminal=true")
        #expect(try desk.deliverer().deliver(.browser("https://b.example/")).app == "second")
    }

    @Test(arguments: ["first", "first %f", "env X=%u first %u"])
    func `An entry without one place for the link goes to no tool that would still run it`(exec: String) throws {
        let desk = try Desk()
        try desk.program("first")
        try desk.program("second")
        try desk.user.opener()
        try desk.entry("first", "Exec=\(exec)")
        try desk.user.write("config/mimeapps.list", "[Default Applications]\nx-scheme-handler/https=first.desktop;\n")
        let error = try desk.failure(.browser("https://b.example/"))
        #expect(error.code == .takesNoLink, "\(error.reason)")
        #expect(desk.log == [] && desk.user.opened == [])
        // Another app that the person has for it opens it.
        try desk.entry("second", "Exec=second %u")
        try desk.user.write(
            "config/mimeapps.list",
            "[Default Applications]\nx-scheme-handler/https=first.desktop;second.desktop;\n"
        )
        #expect(try desk.deliverer().deliver(.browser("https://b.example/")).app == "second")
    }

    @Test func `Without a default the desktop's own tools are asked`() throws {
        let desk = try Desk()
        try desk.user.opener()
        #expect(try desk.deliverer().deliver(.browser("https://b.example/;x")).app == nil)
        #expect(desk.user.opened == ["2", "open", "https://b.example/;x"])
        try desk.user.opener(status: 3)
        let error = try desk.failure(.system(.homeKit, "X-HM://0023"))
        #expect(error.code == .noHandler)
        #expect(error.reason.contains("xdg-mime default NAME.desktop x-scheme-handler/x-hm"))
    }

    @Test func `A place goes to the app for maps where there is one`() throws {
        let desk = try Desk()
        try desk.user.opener()
        let link = "http://maps.apple.com/?q=Caf%C3%A9&ll=50.894967,4.341626"
        func delivery() throws -> Delivery? {
            Delivery(message: try NDEFMessage([.uri(link)]).encoded(), router: try desk.deliverer().router())
        }
        #expect(try delivery() == .browser(link))
        #expect(try desk.deliverer().router().unopenedSchemes == Set(LinkScheme.allCases))
        try desk.user.opener(status: 3)
        let error = try desk.failure(.system(.map, "geo:1,2"))
        #expect(error.code == .noHandler)
        #expect(error.reason.contains("No app on this system opens geo: links."))
        try desk.user.opener()
        try desk.entry("org.example.Maps", "Exec=maps %u", "MimeType=x-scheme-handler/geo;")
        try desk.user.write(
            "data/applications/mimeinfo.cache",
            "[MIME Cache]\nx-scheme-handler/geo=org.example.Maps.desktop;\n"
        )
        // One that can't be started opens nothing.
        #expect(try delivery() == .browser(link))
        try desk.program("maps")
        #expect(try delivery() == .system(.map, link))
        #expect(try desk.deliverer().deliver(.system(.map, link)).app == "org.example.Maps")
        #expect(desk.log.contains("geo:50.894967,4.341626?q=Caf%C3%A9"))
        #expect(try desk.deliverer().deliver(.system(.map, "geo:52.5,13.4,34;u=5?q=Gate")).app == "org.example.Maps")
        #expect(desk.log.contains("geo:52.5,13.4?q=Gate"))
        #expect(try desk.deliverer().router().unopenedSchemes == Set(LinkScheme.allCases).subtracting([.map]))
    }

    @Test func `There is no browser where neither a desktop entry nor xdg-open has one`() throws {
        let desk = try Desk()
        func without(_ variables: [String: String] = [:]) throws -> Set<String> {
            let environment = desk.environment.merging(["PATH": desk.user.scratch.path("bin")]) { $1 }
            return try LinkDeliverer(environment: environment.merging(variables) { $1 }).router().schemesWithoutBrowser
        }
        try desk.program("gio")
        #expect(try without() == ["http", "https"])
        let system = ["PATH": desk.user.scratch.path("bin") + ":/usr/bin"]
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/xdg-open") {
            try desk.program("fox")
            #expect(try without(system.merging(["BROWSER": "gone:fox %s"]) { $1 }) == [])
            try desk.program("x-www-browser")
            #expect(try without(system.merging(["DISPLAY": ":0"]) { $1 }) == [])
        }
        try desk.entry("first", "Exec=first %U")
        try desk.user.write("config/mimeapps.list", "[Default Applications]\nx-scheme-handler/https=first.desktop\n")
        #expect(try without() == ["http", "https"])
        try desk.program("first")
        #expect(try without() == ["http"])
        // The person's own program replaces the system's, and may open anything.
        try desk.program("xdg-open")
        #expect(try without() == [])
    }
}

@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
struct `An app on the bus` {
    private let folder: ScratchFolder
    private let bus: Bus
    private let desk: Desk

    init() throws {
        folder = try ScratchFolder()
        bus = try Bus(folder.path(""))
        desk = try Desk(bus: bus)
        try desk.program("app")
    }

    /// A program on the bus, which ends with the test.
    private func peer(_ mode: String, user: UInt32 = geteuid()) throws -> BusPeer {
        try BusPeer(folder.path("bus"), user, mode, "org.example.App")
    }

    @Test func `An app that runs gets the message, and an own entry is not asked`() throws {
        try desk.entry("org.example.App", "Exec=app %u")
        let seen = Seen()
        let service = try DeliveryService(desktopID: "org.example.App", address: bus.address) { seen.note($0) }
        Thread { _ = try? service.run() }.start()
        #expect(try desk.deliverer().deliver(try desk.link()).hasMessage)
        #expect(seen.links == ["https://example.org/x"])
        #expect(desk.log == [])
    }

    @Test func `An app that does not answer in time is reported`() throws {
        try desk.entry("org.example.App", "Exec=app %u", "DBusActivatable=true")
        let peer = try peer("silent")
        let error = try desk.failure(try desk.link(), limit: .milliseconds(200))
        #expect(error.code == .noAnswer)
        #expect(error.reason.hasPrefix("org.example.App does not answer: "))
        withExtendedLifetime(peer) {}
    }

    @Test func `A program that has the name but lacks the interfaces is started again with the link`() throws {
        try desk.entry("org.example.App", "Exec=app %u")
        let peer = try peer("unknown")
        #expect(try desk.deliverer().deliver(try desk.link()).hasMessage == false)
        #expect(desk.log.contains("https://example.org/x"))
        try desk.entry("org.example.App", "Exec=app %u", "DBusActivatable=true")
        #expect(try desk.failure(try desk.link()).code == .refused)
        withExtendedLifetime(peer) {}
    }

    @Test(.enabled(if: geteuid() == 0, "only the system's owner can be another user"))
    func `Another user who has the app's name gets nothing`() throws {
        let peer = try peer("silent", user: 65534)
        for line in ["DBusActivatable=true", "Exec=app %u", "Implements=org.opencorenfc.UserActivity1;"] {
            try desk.entry("org.example.App", line)
            #expect(try desk.failure(try desk.link()).code == .foreign)
        }
        #expect(desk.log == [])
        withExtendedLifetime(peer) {}
    }

    @Test(.enabled(if: geteuid() == 0, "only the system's owner can be another user"))
    func `Another user can't give an app a link`() throws {
        let seen = Seen()
        let service = try DeliveryService(desktopID: "org.example.App", address: bus.address) { seen.note($0) }
        Thread { _ = try? service.run() }.start()
        #expect(try peer("call", user: 65534).firstLine == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(seen.links == [])
        #expect(try peer("call").firstLine == "handled")
        #expect(seen.links == ["https://a.example"])
    }

    @Test func `An app for messages that ends, or never gets its name, is reported`() throws {
        try desk.entry("org.example.App", "Exec=app %u", "Implements=org.opencorenfc.UserActivity1;")
        try desk.program("app", "exit 4")
        #expect(try desk.failure(try desk.link()).reason == "org.example.App ended at once, with status 4.")
        // It was started without the link.
        #expect(desk.log.first?.hasSuffix("app 0") == true)
        try desk.program("app", "exec sleep 1")
        #expect(try desk.failure(try desk.link(), limit: .milliseconds(100)).code == .noAnswer)
    }

    @Test func `An app that the bus starts and that ends is reported`() throws {
        try desk.entry("org.example.App", "DBusActivatable=true")
        #expect(try desk.failure(try desk.link()).reason.contains("dbus-1/services"))
        let program = try desk.program("app", "exit 5")
        try FileManager.default.createDirectory(
            atPath: folder.path("services"),
            withIntermediateDirectories: true
        )
        try Data("[D-BUS Service]\nName=org.example.App\nExec=\(program)\n".utf8)
            .write(to: URL(fileURLWithPath: folder.path("services/org.example.App.service")))
        let error = try desk.failure(try desk.link(), limit: .seconds(2))
        #expect(error.code == .noAnswer || error.reason.contains("dbus-1/services"), "\(error)")
    }
}

/// What an app was given.
private final class Seen: @unchecked Sendable {
    // Sendable because the lock is held for every use.
    private let lock = NSLock()
    private var payloads: [UserActivityPayload] = []

    func note(_ payload: UserActivityPayload) -> Bool {
        lock.withLock { payloads.append(payload) }
        return true
    }

    var links: [String] { lock.withLock { payloads.map(\.webpageURL) } }
}
