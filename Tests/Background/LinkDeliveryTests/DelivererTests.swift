// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import TestThreads
import Testing

@testable import LinkDelivery  // child programs are internal
@testable import UserBus  // errors of a bus have no public initializer

/// Links for programs of a person without a bus.
@Suite(.ownThreads, .timeLimit(.minutes(3))) struct DelivererTests {
    private static let call = Delivery.system(.call, "tel:1")
    private static let web = Delivery.browser("https://example.org/")
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func deliver(_ delivery: Delivery? = nil, token: String? = nil) throws -> LinkDeliverer.Receipt {
        try desk.deliverer().deliver(try delivery ?? desk.link(), activationToken: token)
    }

    /// Installs programs that log their words, and entries for them.
    private func install(_ names: String...) throws {
        for name in names {
            try desk.program(name)
            try desk.entry(name, "Exec=\(name) %u")
        }
    }

    @Test func `command: gets the link, and its failure is reported`() throws {
        try desk.entry("org.example.App", "Exec=app --link %u")
        let ends = [("exit 0", nil), ("exit 1", "status 1"), ("exit 3", "status 3"), ("kill -TERM $$", "signal 15")]
        for (end, reason) in ends {
            try desk.program("app", end)
            if let reason {
                let error = #expect(throws: DeliveryError.self) { try deliver() }
                #expect(error?.code == .ended && error?.reason.contains(reason) == true, "\(end)")
            } else {
                #expect(try deliver() == LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: false))
            }
        }
        #expect(desk.log == ends.flatMap { _ in ["app", "--link", "https://example.org/a"] })
    }

    @Test func `command that still runs after the settling time: the link counts as opened`() throws {
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

    @Test func `activation token: passed to each kind of app, and the service's own is never inherited`() throws {
        let variables = "\"${XDG_ACTIVATION_TOKEN-none}\" \"${DESKTOP_STARTUP_ID-none}\""
        try desk.program("app", "printf '%s\\n' \(variables) >> \"$HOME/log\"")
        try desk.entry("org.example.App", "Exec=app %u")
        let handlers = ["https", "tel"].map { "x-scheme-handler/\($0)=org.example.App.desktop" }
        let list = ["[Default Applications]"] + handlers
        try desk.scratch.write("config/mimeapps.list", list.joined(separator: "\n"))
        let rows: [(Delivery, String, String)] = [
            (try desk.link(), "https://example.org/a", "TEAM.app"),
            (Self.web, "https://example.org/", "org.example.App"),
            (Self.call, "tel:1", "org.example.App"), (.customScheme(Desk.app, "own:x"), "own:x", "TEAM.app"),
        ]
        let old = ["XDG_ACTIVATION_TOKEN": "old", "DESKTOP_STARTUP_ID": "old"]
        let environment = desk.environment.merging(old) { $1 }
        let deliverer = LinkDeliverer(environment: environment, limit: .seconds(60), settling: .seconds(60))
        for (delivery, link, app) in rows {
            for token in ["token", nil] {
                let receipt = try deliverer.deliver(delivery, activationToken: token)
                #expect(receipt == LinkDeliverer.Receipt(app: app, hasMessage: false))
                #expect(desk.log == ["app", link, token ?? "none", token ?? "none"])
                desk.clearLog()
            }
        }
    }

    @Test func `working folder of an app: Path of its desktop entry, else the home folder`() throws {
        try desk.program("app", "pwd >> \"$HOME/log\"")
        for (lines, folder) in [(["Path=/"], "/"), ([], desk.scratch.path)] {
            try desk.entry("org.example.App", lines: ["Exec=app %u"] + lines)
            _ = try deliver()
            #expect(desk.log.last == folder)
        }
    }

    @Test func `working folder that is missing: the error names the folder, not the program`() throws {
        try desk.program("app")
        try desk.entry("org.example.App", "Exec=app %u", "Path=/nowhere")
        let ofEntry = #expect(throws: DeliveryError.self) { try deliver() }
        #expect(ofEntry?.code == .notStarted && ofEntry?.reason.contains("/nowhere") == true)
        try desk.entry("org.example.App", "Exec=app %u")
        var environment = desk.environment
        environment["HOME"] = "/nowhere"
        let homeless = LinkDeliverer(environment: environment)
        let ofUser = #expect(throws: DeliveryError.self) { try homeless.deliver(desk.link()) }
        #expect(ofUser?.code == .notStarted && ofUser?.reason.contains("/nowhere, from HOME") == true)
        #expect(desk.log.isEmpty)
    }

    @Test func `desktop entry: its app gets the link over the bus, or by a command with or without the link`() throws {
        try desk.program("app")
        let rows: [([String], LinkDeliverer.Way)] = [
            (["DBusActivatable=true"], .bus), (["Exec=app %u"], .link),
            (["Exec=app %u", "DBusActivatable=true"], .bus),
            (["Exec=app", "Implements=org.opencorenfc.UserActivity1;"], .command),
        ]
        for (lines, way) in rows {
            try desk.entry("org.example.App", lines: lines)
            #expect(try desk.deliverer().way(to: Desk.app) == way, "\(lines)")
        }
    }

    @Test func `entry that can't be started with a link: an error before anything is started`() throws {
        try desk.program("app")
        let rows: [([String], DeliveryError.Code)] = [
            (["Exec=app"], .takesNoLink), ([], .notStarted), (["Exec=app %u", "Terminal=true"], .notStarted),
            (["Exec=app %u", "TryExec=other"], .notStarted), (["Exec=other %u"], .notStarted),
            (["Exec=../app %u"], .notStarted),
        ]
        for (lines, code) in rows {
            try desk.entry("org.example.App", lines: lines)
            desk.expect(code, "\(lines)") { try deliver() }
            desk.expect(code, "\(lines)") { try desk.deliverer().way(to: Desk.app) }
        }
        #expect(desk.log.isEmpty)
    }

    // MARK: Schemes

    /// `first`, `second` and so on are the apps of a scheme, in order.
    @Test(
        arguments: [
            // The first that can be started with the link.
            ("missing.desktop;good.desktop;other.desktop", ["good", "tel:1"], nil),
            ("nolink.desktop;good.desktop", ["good", "tel:1"], nil),
            // One that was started and failed may have opened the link: no other is tried.
            ("bad.desktop;good.desktop", ["bad", "tel:1"], .ended),
            // The reason of the first, where none can be started.
            ("missing.desktop;absent.desktop", ["gio", "open", "tel:1"], .notStarted),
            // An app that takes no link is not started without it, and so not by a tool either.
            ("nolink.desktop;missing.desktop", [], .takesNoLink),
        ] as [(String, [String], DeliveryError.Code?)]
    )
    func `scheme with several apps: the first usable one opens it`(
        apps: String,
        log: [String],
        code: DeliveryError.Code?
    ) throws {
        try install("good", "other", "bad", "nolink")
        try desk.program("bad", "exit 3")
        try desk.program("gio", "exit 2")
        try desk.entry("nolink", "Exec=nolink")
        for name in ["missing", "absent"] { try desk.entry(name, "Exec=\(name) %u") }
        try desk.handlers("tel", apps)
        if let code {
            desk.expect(code) { try deliver(Self.call) }
        } else {
            #expect(try deliver(Self.call) == LinkDeliverer.Receipt(app: "good", hasMessage: false))
            #expect(desk.deliverer().opener(of: "tel")?.name == "good")
        }
        #expect(desk.log == log)
        #expect(desk.deliverer().opener(of: "mailto") == nil)
    }

    @Test func `scheme: the default of the running desktop is preferred`() throws {
        try install("usual", "mobile")
        try desk.handlers("tel", "usual.desktop")
        let list = "[Default Applications]\nx-scheme-handler/tel=mobile.desktop\n"
        try desk.scratch.write("config/phosh-mimeapps.list", list)
        #expect(desk.deliverer().opener(of: "tel")?.name == "usual")
        let environment = desk.environment.merging(["XDG_CURRENT_DESKTOP": "Phosh:GNOME"]) { $1 }
        #expect(LinkDeliverer(environment: environment).opener(of: "tel")?.name == "mobile")
    }

    @Test func `scheme without an app: gio opens it, or else xdg-open`() throws {
        desk.expect(.noHandler) { try deliver(Self.web) }
        try desk.program("gio", "exit 2")
        desk.expect(.noHandler) { try deliver(Self.web) }
        desk.clearLog()
        try desk.program("xdg-open")
        #expect(try deliver(Self.web) == LinkDeliverer.Receipt(app: nil, hasMessage: false))
        #expect(desk.log == ["gio", "open", "https://example.org/", "xdg-open", "https://example.org/"])
    }

    @Test func `map link: the app for geo gets a geo URI, or the link if it has no coordinates`() throws {
        try install("maps")
        try desk.handlers("geo", "maps.desktop")
        for link in ["https://maps.apple.com/?ll=1%2c2", "https://maps.apple.com/?ll=1e1,2"] {
            #expect(try deliver(.system(.map, link)).app == "maps")
        }
        #expect(desk.log == ["maps", "geo:1,2", "maps", "https://maps.apple.com/?ll=1e1,2"])
    }

    // MARK: What can be opened at all

    @Test func `router: lists the schemes that no installed program opens, and names the browser for http and https`()
        throws
    {
        var router = try desk.deliverer().router()
        #expect(router.schemesWithoutBrowser == ["http", "https"] && router.browserNames == [:])
        #expect(router.unopenedSchemes == Set(LinkScheme.allCases))
        try install("fox")
        try desk.handlers("https", "fox.desktop")
        router = try desk.deliverer().router()
        #expect(router.schemesWithoutBrowser == ["http"] && router.browserNames == ["https": "fox"])
        try desk.handlers("tel", "fox.desktop")
        try desk.program("xdg-open")
        router = try desk.deliverer().router()
        #expect(router.schemesWithoutBrowser == [] && router.browserNames == [:])
        #expect(router.unopenedSchemes == Set(LinkScheme.allCases).subtracting([.call]))
    }

    /// The variables and the installed programs.
    @Test(
        arguments: [
            ("", ":0", "", [], false), ("", ":0", "", ["other"], false), ("", ":0", "", ["firefox"], true),
            ("", "", "wayland-0", ["firefox"], true), ("", "", "", ["firefox"], false), ("", "", "", ["wslview"], true),
            ("firefox", "", "", ["firefox"], true), ("other", ":0", "", ["other"], true),
            ("missing:other --new %s", ":0", "", ["other"], true), ("missing other", ":0", "", ["other"], false),
        ] as [(String, String, String, [String], Bool)]
    )
    func `browser: exists if BROWSER names an installed one, or a known one is installed and there is a display`(
        browser: String,
        x11: String,
        wayland: String,
        programs: [String],
        hasOne: Bool
    ) throws {
        for program in programs { try desk.program(program) }
        let variables = ["BROWSER": browser, "DISPLAY": x11, "WAYLAND_DISPLAY": wayland]
        let environment = desk.environment.merging(variables) { $1 }
        #expect(LinkDeliverer(environment: environment).hasBrowser == hasOne)
        #expect(LinkDeliverer(environment: desk.environment).browserTool == nil)
    }

    // MARK: Child programs and errors

    @Test func `child program: wait returns nil while it runs, and after its end its status each time`() throws {
        func child(_ script: String) throws -> ChildProgram {
            try ChildProgram("/bin/sh", ["sh", "-c", script], folder: "/", environment: [:])
        }
        let ended = try child("exit 3")
        for limit in [Duration.seconds(60), .seconds(60), .zero] { #expect(ended.wait(limit) == 3 << 8) }
        let running = try child("read -r line < /dev/null; exec sleep 600")
        #expect(running.wait(.zero) == nil && running.wait(.milliseconds(1)) == nil)
        kill(running.process, SIGTERM)
        #expect(running.wait(.seconds(60)) == SIGTERM)
        desk.expect(.notStarted) { try ChildProgram("/nowhere", ["x"], folder: "/", environment: [:]) }
    }

    @Test(arguments: [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]) func `environment of apps: variables of systemd and D-Bus for the service itself are left out`(name: String) {
        let own = ["HOME": "/h", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/b", "XDG_RUNTIME_DIR": "/r", "DISPLAY": ":0"]
        #expect(LinkDeliverer.environmentOfApps(own.merging([name: "x"]) { $1 }) == own)
    }

    @Test func `bus error while a link is delivered: mapped to a delivery error, which keeps the reason`() {
        let rows: [(BusError.Code, DeliveryError.Code)] = [
            (.libraryMissing, .noBus), (.noBus, .noBus), (.nobody, .notStarted), (.noAnswer, .noAnswer),
            (.silentBus, .noAnswer), (.foreign, .foreign), (.daemonMissing, .refused), (.noMethod, .refused),
            (.nameTaken, .refused), (.badMessage, .refused), (.refused, .refused),
        ]
        for (code, expected) in rows {
            let error = DeliveryError(BusError(code, "Why."))
            #expect(error.code == expected && error.reason == "Why.")
        }
    }

    @Test func `ages in words: 2 to 119 minutes, 2 to 47 hours, then days; waits are rounded up`() {
        let ages: [(Int64, String)] = [
            (.min, "in the future"), (-1, "in the future"), (0, "just now"), (119, "just now"), (120, "2 minutes ago"),
            (7199, "119 minutes ago"), (7200, "2 hours ago"), (172_799, "47 hours ago"), (172_800, "2 days ago"),
        ]
        for (seconds, text) in ages { #expect(ageText(seconds: seconds) == text) }
        let waits: [(Int64, String)] = [
            (0, "a minute"), (60, "a minute"), (61, "2 minutes"), (120, "2 minutes"), (121, "3 minutes"),
            (7200, "120 minutes"), (7201, "3 hours"), (10_800, "3 hours"), (10_801, "4 hours"),
        ]
        for (seconds, text) in waits { #expect(durationText(seconds: seconds) == text) }
    }
}
