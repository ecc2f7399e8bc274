// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Glibc
import TestThreads
import Testing
import UserBus

@testable import LinkDelivery  // the findings of one part are internal

/// What the doctor finds about apps and links. The wording is held by the snapshot of `nfc doctor`.
struct LinkDiagnosticsTests {
    private func findings(_ desk: Desk, _ check: String) -> [Finding] {
        LinkDiagnostics(environment: desk.environment, now: 0).findings.filter { $0.check == check }
    }

    private func describe(_ desk: Desk, _ name: String = "org.example.App", domains: String...) throws {
        let domains = domains.map { "\"applinks:\($0)\"" }.joined(separator: ",")
        let text = #"{"app_id":"T.\#(name)","associated_domains":[\#(domains)]}"#
        try desk.scratch.write("own/nfc/apps/\(name).json", text)
    }

    /// A desk with an app that opens the links of a domain.
    private func deskWithLinks() throws -> Desk {
        let desk = try Desk()
        try desk.program("app")
        try desk.entry("org.example.App", "Exec=app %u")
        try describe(desk, domains: "a.example", "*.a.example")
        return desk
    }

    @Test func `doctor, schemes: works with an app, limited without one; https without a browser fails`() throws {
        let desk = try Desk()
        func state(_ scheme: String) -> Finding? { findings(desk, "scheme").first { $0.subject == scheme } }
        #expect(state("https")?.state == .fails && state("tel")?.state == .limited)
        #expect(state("tel")?.fix?.hasSuffix("xdg-mime default NAME.desktop x-scheme-handler/tel") == true)
        for name in ["app", "xdg-open"] { try desk.program(name) }
        try desk.entry("app", "Exec=app %u")
        try desk.entry("broken", "Exec=missing %u")
        let list = "[Default Applications]\nx-scheme-handler/tel=app.desktop\nx-scheme-handler/https=broken.desktop\n"
        try desk.scratch.write("config/mimeapps.list", list)
        #expect(state("tel")?.state == .works && state("tel")?.fix == nil)
        #expect(state("tel")?.text.contains(desk.scratch.path + "/own/applications/app.desktop") == true)
        #expect(state("https")?.state == .limited && state("https")?.text.contains("broken.desktop") == true)
    }

    @Test func `doctor, association files: each domain's state follows from its files, all but 'works' have a fix`()
        throws
    {
        #expect(findings(try Desk(), "association") == [])
        let desk = try deskWithLinks()
        let fetch = "nfc links fetch --force a.example"
        // A cached file, its state, what the text contains, and what to do.
        let rows: [(String?, Finding.State, String, String?)] = [
            (nil, .fails, "is missing", fetch),
            ("nfc-links 1 5 - - no-connection: It is off.\n", .fails, "no-connection: It is off.", fetch),
            ("nfc-links 1 0 0 2 \n{}", .works, "just now", nil),
            ("nfc-links 1 0 -300 2 \n{}", .works, "5 minutes ago", nil),
            ("nfc-links 1 0 - 2 \n{}", .works, "unknown time", nil),
            ("nfc-links 1 0 -300 2 timeout: It is slow.\n{}", .limited, "timeout: It is slow.", fetch),
        ]
        for (cached, state, text, fix) in rows {
            if let cached { try desk.scratch.write("cache/nfc/links/a.example.links", cached) }
            let found = findings(desk, "association")
            #expect(found.map(\.subject) == ["a.example"] && found.map(\.state) == [state], "\(cached ?? "-")")
            #expect(found.first?.fix == fix && found.first?.text.contains(text) == true, "\(cached ?? "-")")
        }
        let file = #"{"applinks":{"details":[{"appIDs":["T.org.example.App"],"paths":["*"]}]}}"#
        try desk.scratch.write("config/nfc/links/a.example.association", file)
        let local = findings(desk, "association")
        #expect(local.map(\.state) == [.limited] && local.map(\.fix) == ["nfc links remove a.example"])
        try desk.entry("org.example.Other", "Exec=app %u")
        try describe(desk, "org.example.Other", domains: "b.example", "a.example")
        #expect(findings(desk, "association").map(\.subject) == ["a.example", "b.example"])
    }

    @Test func `association files: a cache folder that can't be opened is one failure, and none without apps`() throws {
        let (desk, empty) = (try deskWithLinks(), try Desk())
        for desk in [desk, empty] { try desk.scratch.write("cache/nfc/links", "x") }
        #expect(findings(empty, "association") == [])
        let found = findings(desk, "association")
        #expect(found.map(\.state) == [.fails] && found.map(\.subject) == [nil] && found[0].fix != nil)
    }

    @Test func `doctor, apps: fails without a desktop entry or program, works without apps`() throws {
        let desk = try Desk()
        #expect(findings(desk, "app").map(\.state) == [.works])
        try describe(desk, domains: "a.example")
        let missing = findings(desk, "app")
        #expect(missing.map(\.state) == [.fails] && missing[0].subject?.hasSuffix("/org.example.App.json") == true)
        try desk.entry("org.example.App", "Exec=app %u")
        let unstarted = findings(desk, "app")
        #expect(unstarted.map(\.state) == [.fails] && unstarted.map(\.subject) == ["T.org.example.App"])
        try desk.program("app")
        #expect(findings(desk, "app").map(\.state) == [.works])
    }

    @Test func `bus diagnostics without a bus: the missing bus is the only finding`() throws {
        let found = LinkDiagnostics(environment: try Desk().environment, now: 0).busFindings
        #expect(found.map(\.check) == ["bus"] && found.map(\.state) == [.fails] && found[0].fix != nil)
    }
}

/// What the doctor finds on the user's bus.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct BusDiagnosticsTests {
    private let bus: TestBus
    private let desk: Desk

    init() throws {
        bus = try TestBus()
        desk = try Desk(bus)
    }

    private func finding(_ check: String) -> Finding? {
        LinkDiagnostics(environment: desk.environment, now: 0).busFindings.first { $0.check == check }
    }

    /// A screen saver that answers whether it is on, or nothing.
    private func saver(_ name: String, answers: Bool = true) -> BusProgram {
        BusProgram(bus.address, name) { _, call in
            if answers { try call.answer([.boolean(false)]) }
        }
    }

    @Test func `doctor, notifications: working if they can be clicked, limited if only shown`() throws {
        #expect(finding("bus")?.state == .works)
        #expect(finding("notifications")?.state == .fails && finding("notifications")?.fix != nil)
        let rows: [([String], String?, Finding.State, String)] = [
            (["persistence", "actions"], "Show", .works, "Show shows notifications that can be clicked, and keeps"),
            (["body", "actions"], nil, .works, "does not keep them"), (["body"], "Show", .limited, "can't be clicked"),
            (["persistence"], nil, .limited, "can't be clicked"),
        ]
        for (capabilities, name, state, text) in rows {
            let program = BusProgram(bus.address, "org.freedesktop.Notifications") { _, call in
                switch call.name.split(separator: ".").last {
                case "GetCapabilities": try call.answer([.strings(capabilities), .strings(["other"])])
                case "GetServerInformation":
                    try call.answer(name.map { [$0, "Maker", "1", "1.2"].map(BusValue.string) })
                default: try call.answer(nil)
                }
            }
            let found = finding("notifications")
            #expect(found?.state == state && found?.text.contains(text) == true, "\(capabilities)")
            #expect((found?.fix == nil) == (state == .works), "\(capabilities)")
            program.stop()
        }
    }

    @Test func `doctor, lock: names who reports it; limited by a silent screen saver`() throws {
        let login = LoginReport.ask(of: geteuid(), own: nil)
        try #require(!login.isSilent)
        #expect(finding("lock")?.state == (login.session == nil ? .limited : .works))
        let savers = [saver("org.gnome.ScreenSaver"), saver("org.mate.ScreenSaver")]
        #expect(finding("lock")?.state == .works)
        #expect(finding("lock")?.text.contains("org.gnome.ScreenSaver, org.mate.ScreenSaver") == true)
        savers[0].stop()
        let silent = saver("org.gnome.ScreenSaver", answers: false)
        let found = finding("lock")
        #expect(found?.state == .limited && found?.text.hasPrefix("org.gnome.ScreenSaver does not answer") == true)
        withExtendedLifetime((savers, silent)) {}
    }

    @Test func `doctor, lock: a logind that fails is reported`() async {
        // In another process, because all threads share the environment.
        await #expect(processExitsWith: .success) {
            let (user, system) = (try TestBus(), try TestBus())
            let desk = try Desk(user)
            let login = BusProgram(system.address, "org.freedesktop.login1") { _, call in
                try call.refuse("Failed", "No.")
            }
            _ = unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", system.address, 1)
            let found = LinkDiagnostics(environment: desk.environment, now: 0).busFindings.first { $0.check == "lock" }
            #expect(found?.state == .limited && found?.text.hasPrefix("logind does not answer") == true)
            withExtendedLifetime((user, system, login)) {}
        }
    }
}
