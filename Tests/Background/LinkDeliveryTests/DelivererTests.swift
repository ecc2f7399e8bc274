// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Foundation
import TestThreads
import Testing
import UserBus

@testable import LinkDelivery

@Suite(.ownThreads, .timeLimit(.minutes(3))) struct `What opens a link` {
    @Test func `gets the token that lets it come to the front, and no old one`() throws {
        let desk = try Desk()
        let line = "printf '%s\\n' \"${XDG_ACTIVATION_TOKEN-none}\" \"${DESKTOP_STARTUP_ID-none}\" >> \"$HOME/log\""
        try desk.program("app", line)
        try desk.entry("org.example.App", "Exec=app %u")
        let old = ["XDG_ACTIVATION_TOKEN": "old", "DESKTOP_STARTUP_ID": "old"]
        let environment = desk.environment.merging(old) { $1 }
        let deliverer = LinkDeliverer(environment: environment, limit: .seconds(60), settling: .seconds(60))
        _ = try deliverer.deliver(desk.link(), activationToken: "token")
        _ = try deliverer.deliver(desk.link())
        let link = "https://example.org/a"
        #expect(desk.log == ["app", link, "token", "token", "app", link, "none", "none"])
    }

    @Test func `is the app's command with the link, and its failure is reported`() throws {
        let desk = try Desk()
        try desk.program("app", "read -r status < \"$HOME/status\"; exit $status")
        try desk.entry("org.example.App", "Exec=app --link %u")
        for (status, how) in [(0, nil), (1, "with status 1"), (3, "with status 3")] as [(Int, String?)] {
            try desk.scratch.write("status", "\(status)\n")
            if let how {
                desk.expect(.ended, "org.example.App ended at once, \(how).") {
                    _ = try desk.deliverer().deliver(desk.link())
                }
            } else {
                let receipt = try desk.deliverer().deliver(desk.link())
                #expect(receipt == LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: false))
            }
        }
        #expect(desk.log == Array(repeating: ["app", "--link", "https://example.org/a"], count: 3).flatMap { $0 })
        try desk.program("app", "kill -TERM $$")
        desk.expect(.ended, "org.example.App ended at once, by signal 15.") {
            _ = try desk.deliverer().deliver(desk.link())
        }
    }

    @Test(
        arguments: [
            (["DBusActivatable=true"], .bus), (["Exec=app %u"], .link),
            (["Exec=app %u", "DBusActivatable=true"], .bus),
            (["Exec=app", "Implements=org.opencorenfc.UserActivity1;"], .command),
        ] as [([String], LinkDeliverer.Way)]
    )
    func `is told before the app runs`(lines: [String], way: LinkDeliverer.Way) throws {
        let desk = try Desk()
        try desk.program("app")
        let text = ["[Desktop Entry]", "Type=Application", "Name=App"] + lines
        try desk.scratch.write("own/applications/org.example.App.desktop", text.joined(separator: "\n"))
        #expect(try desk.deliverer().way(to: Desk.app) == way)
    }

    @Test func `counts as open when it still runs after a while`() throws {
        let desk = try Desk()
        try desk.program("app", "echo $$ > \"$HOME/process\"; exec /bin/sleep 600")
        try desk.entry("org.example.App", "Exec=app %u")
        #expect(try desk.deliverer(settling: .milliseconds(1)).deliver(desk.link()).app == "TEAM.app")
        var process: Int32?
        while process == nil {
            let text = try? String(contentsOfFile: desk.scratch.path + "/process", encoding: .utf8)
            process = text.flatMap { Int32($0.trimmingCharacters(in: .newlines)) }
        }
        kill(try #require(process), SIGKILL)
    }

    @Test(
        arguments: [
            (
                ["Exec=app"], .takesNoLink,
                "Exec has no %u for a link, and Implements does not name org.opencorenfc.UserActivity1."
            ),
            ([], .notStarted, "its desktop entry has no Exec."),
            (["Exec=app %u", "Terminal=true"], .notStarted, "it needs a terminal, and there is none to start it in."),
            (["Exec=app %u", "TryExec=other"], .notStarted, "there is no other."),
            (["Exec=other %u"], .notStarted, "there is no program other."),
            (["Exec=../app %u"], .notStarted, "Exec does not begin with the path or the name of a program."),
        ] as [([String], DeliveryError.Code, String)]
    )
    func `is no entry that can't be started with one`(lines: [String], code: DeliveryError.Code, reason: String) throws
    {
        let desk = try Desk()
        try desk.program("app")
        let text = ["[Desktop Entry]", "Type=Application", "Name=App"] + lines
        try desk.scratch.write("own/applications/org.example.App.desktop", text.joined(separator: "\n"))
        let place = "(~/own/applications/org.example.App.desktop)"
        desk.expect(code, "App can't be started: \(reason) \(place)") { _ = try desk.deliverer().deliver(desk.link()) }
        desk.expect(code, "App can't be started: \(reason) \(place)") { _ = try desk.deliverer().way(to: Desk.app) }
        #expect(desk.log.isEmpty)
    }

    @Test func `is the first app of the scheme that can be started with it`() throws {
        let desk = try Desk()
        for name in ["good", "other"] {
            try desk.program(name)
            try desk.entry(name, "Exec=\(name) %u")
        }
        try desk.entry("none", "Exec=missing %u")
        try desk.handlers("tel", "none.desktop;good.desktop;other.desktop")
        #expect(
            try desk.deliverer().deliver(.system(.call, "tel:1"))
                == LinkDeliverer.Receipt(app: "good", hasMessage: false)
        )
        #expect(desk.log == ["good", "tel:1"])
        #expect(desk.deliverer().opener(of: "tel")?.name == "good" && desk.deliverer().opener(of: "mailto") == nil)
    }

    @Test func `is no other app where the first was started and failed, because it may have opened the link`() throws {
        let desk = try Desk()
        try desk.program("bad", "exit 3")
        for name in ["good", "gio", "xdg-open"] { try desk.program(name) }
        try desk.entry("bad", "Exec=bad %u")
        try desk.entry("good", "Exec=good %u")
        try desk.handlers("tel", "bad.desktop;good.desktop")
        desk.expect(.ended, "bad ended at once, with status 3.") {
            _ = try desk.deliverer().deliver(.system(.call, "tel:1"))
        }
        #expect(desk.log == ["bad", "tel:1"])
    }

    @Test func `is missing for the reason of the first app where none can be started`() throws {
        let desk = try Desk()
        try desk.entry("first", "Exec=missing %u")
        try desk.entry("second", "Exec=absent %u")
        try desk.handlers("tel", "first.desktop;second.desktop")
        let reason = "first can't be started: there is no program missing. (~/own/applications/first.desktop)"
        desk.expect(.notStarted, reason) { _ = try desk.deliverer().deliver(.system(.call, "tel:1")) }
        // Also where a tool of the desktop knows no app either.
        try desk.program("gio", "exit 2")
        desk.expect(.notStarted, reason) { _ = try desk.deliverer().deliver(.system(.call, "tel:1")) }
        #expect(desk.log == ["gio", "open", "tel:1"])
    }

    @Test func `is the next app where the first one takes no link`() throws {
        let desk = try Desk()
        for name in ["first", "good"] { try desk.program(name) }
        try desk.entry("first", "Exec=first")
        try desk.entry("good", "Exec=good %u")
        try desk.handlers("tel", "first.desktop;good.desktop")
        let receipt = try desk.deliverer().deliver(.system(.call, "tel:1"))
        #expect(receipt == LinkDeliverer.Receipt(app: "good", hasMessage: false) && desk.log == ["good", "tel:1"])
    }

    @Test func `is no tool where an app takes no link, though another app can't be started at all`() throws {
        let desk = try Desk()
        for name in ["first", "second", "gio", "xdg-open"] { try desk.program(name) }
        for name in ["first", "second"] { try desk.entry(name, "Exec=\(name)") }
        try desk.entry("third", "Exec=missing %u")
        try desk.handlers("tel", "first.desktop;second.desktop;third.desktop")
        let reason =
            "first can't be started: Exec has no %u for a link, and Implements does not name "
            + "org.opencorenfc.UserActivity1. (~/own/applications/first.desktop)"
        desk.expect(.takesNoLink, reason) { _ = try desk.deliverer().deliver(.system(.call, "tel:1")) }
        #expect(desk.log.isEmpty)
    }

    @Test func `is the app that the running desktop prefers`() throws {
        let desk = try Desk()
        for name in ["usual", "mobile"] {
            try desk.program(name)
            try desk.entry(name, "Exec=\(name) %u")
        }
        try desk.handlers("tel", "usual.desktop")
        let list = "[Default Applications]\nx-scheme-handler/tel=mobile.desktop\n"
        try desk.scratch.write("config/phosh-mimeapps.list", list)
        #expect(desk.deliverer().opener(of: "tel")?.name == "usual")
        let environment = desk.environment.merging(["XDG_CURRENT_DESKTOP": "Phosh:GNOME"]) { $1 }
        #expect(LinkDeliverer(environment: environment).opener(of: "tel")?.name == "mobile")
    }

    @Test func `is the desktop's own tool where no app is set, the next one if it fails`() throws {
        let desk = try Desk()
        let none =
            "No app on this system opens https: links. Install one, and make it the default with: "
            + "xdg-mime default NAME.desktop x-scheme-handler/https"
        desk.expect(.noHandler, none) { _ = try desk.deliverer().deliver(.browser("https://example.org/")) }
        try desk.program("gio", "exit 2")
        desk.expect(.noHandler, none) { _ = try desk.deliverer().deliver(.browser("https://example.org/")) }
        try desk.program("xdg-open")
        let receipt = try desk.deliverer().deliver(.browser("https://example.org/"))
        #expect(receipt == LinkDeliverer.Receipt(app: nil, hasMessage: false))
        let gio = ["gio", "open", "https://example.org/"]
        #expect(desk.log == gio + gio + ["xdg-open", "https://example.org/"])
        // An app that takes no link is not started without it, and so not by a tool either.
        try desk.program("app")
        try desk.entry("app", "Exec=app")
        try desk.handlers("https", "app.desktop")
        let error = #expect(throws: DeliveryError.self) {
            try desk.deliverer().deliver(.browser("https://example.org/"))
        }
        #expect(error?.code == .takesNoLink && desk.log.count == 8)
    }

    @Test func `begins in the home of the person where its entry names no folder`() throws {
        let desk = try Desk()
        try desk.program("app", "pwd >> \"$HOME/log\"")
        try desk.entry("org.example.App", "Exec=app %u")
        _ = try desk.deliverer().deliver(desk.link())
        #expect(desk.log == ["app", "https://example.org/a", desk.scratch.path])
    }

    @Test func `begins in the folder that its entry names`() throws {
        let desk = try Desk()
        try desk.program("app", "pwd >> \"$HOME/log\"")
        try desk.entry("org.example.App", "Exec=app %u", "Path=/")
        _ = try desk.deliverer().deliver(desk.link())
        #expect(desk.log == ["app", "https://example.org/a", "/"])
    }

    @Test func `gets the place of a map, and the link where that has no place`() throws {
        let desk = try Desk()
        try desk.program("maps")
        try desk.entry("maps", "Exec=maps %u")
        try desk.handlers("geo", "maps.desktop")
        for link in ["https://maps.apple.com/?ll=1%2c2", "https://maps.apple.com/?ll=1e1,2"] {
            #expect(try desk.deliverer().deliver(.system(.map, link)).app == "maps")
        }
        #expect(desk.log == ["maps", "geo:1,2", "maps", "https://maps.apple.com/?ll=1e1,2"])
    }

    @Test func `gets the token with a link of any kind, and is named by what it is`() throws {
        let desk = try Desk()
        try desk.program("app", "printf '%s\\n' \"${XDG_ACTIVATION_TOKEN-none}\" >> \"$HOME/log\"")
        try desk.entry("org.example.App", "Exec=app %u")
        let entry = "org.example.App.desktop"
        let lines = ["[Default Applications]", "x-scheme-handler/https=\(entry)", "x-scheme-handler/tel=\(entry)"]
        try desk.scratch.write("config/mimeapps.list", lines.joined(separator: "\n"))
        let deliveries: [(Delivery, String)] = [
            (.browser("https://b.example/"), "org.example.App"), (.system(.call, "tel:1"), "org.example.App"),
            (.customScheme(Desk.app, "own:x"), "TEAM.app"),
        ]
        for (delivery, app) in deliveries {
            let receipt = try desk.deliverer().deliver(delivery, activationToken: "token")
            #expect(receipt == LinkDeliverer.Receipt(app: app, hasMessage: false))
        }
        let links = ["https://b.example/", "tel:1", "own:x"]
        #expect(desk.log == links.flatMap { ["app", $0, "token"] })
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `is an app that runs, with the message`() throws {
        let bus = try TestBus()
        let desk = try Desk(bus)
        try desk.entry("org.example.App", "Exec=app", "Implements=org.opencorenfc.UserActivity1;")
        let service = try DeliveryService(desktopID: "org.example.App", address: bus.address) { _ in true }
        let end = Ending()
        let thread = Thread { [end] in
            _ = try? service.run { end.isOver }
            end.signal()
        }
        thread.start()
        #expect(try desk.deliverer().deliver(desk.link()) == LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: true))
        #expect(desk.log.isEmpty)
        end.finish()
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `is not an app for messages that ends before it has its name on the bus, or never has it`() throws {
        let bus = try TestBus()
        let desk = try Desk(bus)
        try desk.entry("org.example.App", "Exec=app", "Implements=org.opencorenfc.UserActivity1;")
        try desk.program("app", "exit 4")
        desk.expect(.ended, "org.example.App ended at once, with status 4.") {
            _ = try desk.deliverer().deliver(desk.link())
        }
        try desk.program("app")
        desk.expect(.noAnswer, "org.example.App was started, and does not have its name on the bus in time.") {
            _ = try desk.deliverer(limit: .milliseconds(300)).deliver(desk.link())
        }
        // It was started, and what it writes may come later.
        while desk.log.count < 2 { usleep(1000) }
        #expect(desk.log == ["app", "app"])
    }
}

/// Lets a thread end, and waits for it.
private final class Ending: @unchecked Sendable {
    // Sendable because a lock guards the flag.
    private let lock = NSLock()
    private var isSet = false
    private let ended = DispatchSemaphore(value: 0)

    var isOver: Bool { lock.withLock { isSet } }

    func signal() { ended.signal() }

    func finish() {
        lock.withLock { isSet = true }
        ended.wait()
    }
}
