// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Foundation
import NDEF
import PrivateStorage
import TestThreads
import Testing
import UserBus

@testable import LinkDelivery

/// A user whose programs are shell scripts that log their words.
private struct Desk {
    static let app = InstalledApp(id: "TEAM.app", name: "App", desktopID: "org.example.App", associatedDomains: [])
    let scratch: Scratch
    let environment: [String: String]

    init(_ bus: TestBus? = nil) throws {
        scratch = try Scratch()
        environment = [
            "HOME": scratch.path, "XDG_STATE_HOME": scratch.path + "/state", "XDG_CACHE_HOME": scratch.path + "/cache",
            "XDG_DATA_HOME": scratch.path + "/own", "XDG_DATA_DIRS": scratch.path + "/system",
            "XDG_CONFIG_HOME": scratch.path + "/config", "XDG_CONFIG_DIRS": scratch.path + "/etc",
            "PATH": scratch.path + "/bin",
            "DBUS_SESSION_BUS_ADDRESS": bus?.address ?? "unix:path=\(scratch.path)/nothing",
        ]
    }

    func deliverer(limit: Duration = .seconds(60), settling: Duration = .seconds(60)) -> LinkDeliverer {
        LinkDeliverer(environment: environment, limit: limit, settling: settling)
    }

    /// Installs a program that logs its words, and then goes on with a script.
    func program(_ name: String, _ rest: String = "exit 0") throws {
        let script = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" \"$@\" >> '\(scratch.path)/log'\n\(rest)\n"
        try scratch.write("bin/\(name)", script, mode: 0o755)
    }

    func entry(_ name: String, _ lines: String...) throws {
        let text = (["[Desktop Entry]", "Type=Application", "Name=\(name)"] + lines).joined(separator: "\n")
        try scratch.write("own/applications/\(name).desktop", text)
    }

    func handlers(_ scheme: String, _ apps: String) throws {
        try scratch.write("config/mimeapps.list", "[Default Applications]\nx-scheme-handler/\(scheme)=\(apps)\n")
    }

    var log: [String] {
        let text = (try? String(contentsOfFile: scratch.path + "/log", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    func link() throws -> Delivery {
        let link = "https://example.org/a"
        let payload = try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: link,
            message: try NDEFMessage([try .uri(link)]).encoded()
        )
        return .app(Self.app, payload)
    }

    func expect(_ code: DeliveryError.Code, _ reason: String, _ body: () throws -> Void) {
        let error = #expect(throws: DeliveryError.self) { try body() }
        #expect(error?.code == code)
        #expect(error?.reason.replacing(scratch.path, with: "~") == reason)
    }
}

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
        try desk.program("good")
        try desk.entry("none", "Exec=missing %u")
        try desk.entry("good", "Exec=good %u")
        try desk.handlers("tel", "none.desktop;good.desktop")
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

@Suite struct `The findings about apps` {
    private func findings(_ desk: Desk, _ check: String) -> [Finding] {
        Examination(environment: desk.environment, now: 0).findings.filter { $0.check == check }
    }

    @Test func `name for each scheme what opens it, what is wrong, and what to do`() throws {
        let desk = try Desk()
        let fix = { (scheme: String) in
            "Install an app for it, and: xdg-mime default NAME.desktop x-scheme-handler/\(scheme)"
        }
        var schemes = findings(desk, "scheme")
        #expect(schemes.first == Finding("scheme", of: "https", .fails, "No app opens it.", fix: fix("https")))
        #expect(schemes.contains(Finding("scheme", of: "tel", .limited, "No app opens it.", fix: fix("tel"))))
        try desk.program("app")
        try desk.program("xdg-open")
        try desk.entry("app", "Exec=app %u")
        try desk.entry("broken", "Exec=missing %u")
        try desk.scratch.write(
            "config/mimeapps.list",
            "[Default Applications]\nx-scheme-handler/tel=app.desktop\nx-scheme-handler/https=broken.desktop\n"
        )
        schemes = findings(desk, "scheme")
        let place = desk.scratch.path + "/own/applications/"
        #expect(schemes.contains(Finding("scheme", of: "tel", .works, "app opens it (\(place)app.desktop).")))
        let text = "broken can't be started (\(place)broken.desktop). xdg-open is left to choose."
        #expect(schemes.contains(Finding("scheme", of: "https", .limited, text, fix: fix("https"))))
    }

    @Test func `name the file of each domain, and that a local one takes the site's place`() throws {
        let desk = try Desk()
        #expect(findings(desk, "association") == [])
        try desk.program("app")
        try desk.entry("org.example.App", "Exec=app %u")
        try desk.scratch.write(
            "own/nfc/apps/org.example.App.json",
            #"{"app_id":"T.org.example.app","associated_domains":["applinks:a.example","applinks:*.a.example"]}"#
        )
        let none = "There is no association file, so links open in the browser."
        let fix = "nfc links fetch --force a.example"
        #expect(
            findings(desk, "association") == [Finding("association", of: "a.example", .fails, none, fix: fix)]
        )
        let file = #"{"applinks":{"details":[{"appIDs":["T.org.example.app"],"paths":["*"]}]}}"#
        try desk.scratch.write("config/nfc/links/a.example.association", file)
        let local = "A local file is used in developer mode; the site is not asked."
        let removal = "nfc links remove a.example"
        #expect(
            findings(desk, "association") == [Finding("association", of: "a.example", .limited, local, fix: removal)]
        )
    }

    @Test func `say why there is no file of a domain where the last try failed`() throws {
        let desk = try Desk()
        try desk.program("app")
        try desk.entry("org.example.App", "Exec=app %u")
        try desk.scratch.write(
            "own/nfc/apps/org.example.App.json",
            #"{"app_id":"T.org.example.app","associated_domains":["applinks:a.example"]}"#
        )
        try desk.scratch.write("cache/nfc/links/a.example.links", "nfc-links 1 5 - - no-connection: It is off.\n")
        let text =
            "There is no association file, so links open in the browser. The last try failed: no-connection: It is off."
        let fix = "nfc links fetch --force a.example"
        #expect(
            findings(desk, "association") == [Finding("association", of: "a.example", .fails, text, fix: fix)]
        )
    }

    @Test func `name each app, and what is wrong with it`() throws {
        let desk = try Desk()
        #expect(findings(desk, "app") == [Finding("app", .works, "No app is installed: links open in the browser.")])
        try desk.scratch.write(
            "own/nfc/apps/org.example.App.json",
            #"{"app_id":"T.org.example.app","associated_domains":["applinks:a.example"]}"#
        )
        let missing = findings(desk, "app")
        #expect(missing.map(\.state) == [.fails] && missing[0].subject?.hasSuffix("/org.example.App.json") == true)
        #expect(missing[0].text == "There is no desktop entry org.example.App.desktop.")
        #expect(missing[0].fix == "Correct the file; see: nfc apps --help")
        try desk.entry("org.example.App", "Exec=app %u")
        let unstarted = findings(desk, "app")
        #expect(unstarted.map(\.subject) == ["T.org.example.app"] && unstarted.map(\.fix) == ["Install it again."])
        #expect(unstarted[0].text.contains("there is no program app."))
        try desk.program("app")
        #expect(
            findings(desk, "app") == [
                Finding("app", of: "T.org.example.app", .works, "org.example.App can be started.")
            ]
        )
    }
}
