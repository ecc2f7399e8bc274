// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Foundation
import Synchronization
import TestThreads
import Testing

@testable import LinkDelivery  // how long a program may take is internal
@testable import UserBus  // the messages of a bus are internal

/// An app that has its name on the bus some time after its command has written a file.
private final class LateApp: Sendable {
    private let program = Mutex<BusProgram?>(nil)

    init(
        _ address: String,
        after file: String,
        answer: @escaping @Sendable (BusConnection, ReceivedMessage) throws -> Void
    ) {
        Thread.detachNewThread { [self] in
            for _ in 0..<60_000 {
                if FileManager.default.fileExists(atPath: file) { break }
                usleep(1000)
            }
            let app = BusProgram(address, "org.example.App", answer: answer)
            program.withLock { $0 = app }
        }
    }
}

/// Links for apps and desktops that are on the user's bus.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct BusDeliveryTests {
    private static let noMessage = LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: false)
    private static let message = LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: true)
    private static let scheme = Delivery.customScheme(Desk.app, "own:x")
    private let bus: TestBus
    private let desk: Desk

    init() throws {
        bus = try TestBus()
        desk = try Desk(bus)
        try desk.program("app")
        try desk.entry("org.example.App", "Exec=app %u")
    }

    /// The app, which answers one method and lacks all others.
    private func app(_ method: String, _ values: [BusValue]) -> BusProgram {
        BusProgram(bus.address, "org.example.App") { _, call in
            try call.answer(call.name.hasSuffix("." + method) ? values : nil)
        }
    }

    private func deliver(_ delivery: Delivery? = nil) throws -> LinkDeliverer.Receipt {
        try desk.deliverer().deliver(try delivery ?? desk.link())
    }

    @Test func `running app with a command: gets the link over the bus, or else by its command`() throws {
        let rows: [(String, [BusValue], Delivery, LinkDeliverer.Receipt, [String])] = [
            ("ContinueUserActivity", [.boolean(true)], try desk.link(), Self.message, []),
            ("Open", [], try desk.link(), Self.noMessage, []), ("Open", [], Self.scheme, Self.noMessage, []),
            ("Other", [], try desk.link(), Self.noMessage, ["app", "https://example.org/a"]),
            ("Other", [], Self.scheme, Self.noMessage, ["app", "own:x"]),
        ]
        for (method, values, delivery, receipt, log) in rows {
            let app = app(method, values)
            #expect(try deliver(delivery) == receipt, "\(method) \(delivery)")
            #expect(desk.log == log, "\(method) \(delivery)")
            desk.clearLog()
            withExtendedLifetime(app) {}
        }
    }

    @Test func `running app that refuses or does not answer: its command is not started`() throws {
        let refusing = app("ContinueUserActivity", [.boolean(false)])
        desk.expect(.refused) { try deliver() }
        refusing.stop()
        let silent = BusProgram(bus.address, "org.example.App") { _, _ in }
        desk.expect(.noAnswer) { try desk.deliverer(limit: .milliseconds(100)).deliver(desk.link()) }
        #expect(desk.log == [])
        withExtendedLifetime(silent) {}
    }

    @Test func `DBusActivatable: the command is used only if the bus knows no program and the app does not run`() throws
    {
        try desk.entry("org.example.App", "DBusActivatable=true")
        desk.expect(.notStarted) { try deliver(Self.scheme) }
        for (method, code) in [("Open", nil), ("Other", .refused)] as [(String, DeliveryError.Code?)] {
            let app = app(method, [])
            if let code {
                desk.expect(code) { try deliver() }
            } else {
                #expect(try deliver() == Self.noMessage)
            }
            withExtendedLifetime(app) {}
        }
        try desk.entry("org.example.App", "DBusActivatable=true", "Exec=app %u")
        #expect(try deliver(Self.scheme) == Self.noMessage)
        #expect(desk.log == ["app", "own:x"])
        let app = BusProgram(bus.address, "org.example.App") { _, call in try call.refuse("Failed", "No.") }
        desk.expect(.refused) { try deliver(Self.scheme) }
        withExtendedLifetime(app) {}
    }

    @Test(arguments: ["ContinueUserActivity", "Open", ""])
    func `app that implements UserActivity1: started once without the link, which is then sent over the bus`(
        method: String
    ) throws {
        try desk.entry("org.example.App", "Exec=app", "Implements=org.opencorenfc.UserActivity1;")
        let app = LateApp(bus.address, after: desk.scratch.path + "/log") { _, call in
            let isKnown = !method.isEmpty && call.name.hasSuffix("." + method)
            try call.answer(isKnown ? (method == "Open" ? [] : [.boolean(true)]) : nil)
        }
        if method.isEmpty {
            desk.expect(.ended) { try deliver() }
        } else {
            #expect(try deliver() == (method == "Open" ? Self.noMessage : Self.message))
        }
        #expect(desk.log == ["app"])
        withExtendedLifetime(app) {}
    }

    @Test func `app that implements UserActivity1 but ends or takes no bus name: an error, and no second start`() throws
    {
        try desk.entry("org.example.App", "Exec=app", "Implements=org.opencorenfc.UserActivity1;")
        try desk.program("app", "exit 4")
        desk.expect(.ended) { try deliver() }
        try desk.program("app")
        desk.expect(.noAnswer) { try desk.deliverer(limit: .milliseconds(300)).deliver(desk.link()) }
        // It was started, and what it writes may arrive later.
        while desk.log.count < 2 { usleep(1000) }
        #expect(desk.log == ["app", "app"])
    }

    @Test func `scheme: the first app that runs or can be started opens it`() throws {
        try desk.entry("org.example.First", "DBusActivatable=true")
        try desk.handlers("tel", "org.example.First.desktop;org.example.App.desktop")
        let receipt = LinkDeliverer.Receipt(app: "org.example.App", hasMessage: false)
        #expect(try deliver(.system(.call, "tel:1")) == receipt)
        #expect(desk.log == ["app", "tel:1"])
        let app = app("Open", [])
        #expect(try deliver(.system(.call, "tel:1")) == receipt)
        #expect(desk.log == ["app", "tel:1"])
        withExtendedLifetime(app) {}
    }

    @Test func `no app: the desktop's portal opens the link`() throws {
        let portal = BusProgram(bus.address, "org.freedesktop.portal.Desktop") { _, call in
            try call.answer([.path("/request/1")])
        }
        #expect(try deliver(.system(.call, "tel:1")) == LinkDeliverer.Receipt(app: nil, hasMessage: false))
        withExtendedLifetime(portal) {}
    }

    @Test func `app started by systemd: the state of its unit decides whether the link counts as opened`() throws {
        let rows: [(String, Int32, Int32, DeliveryError.Code?)] = [
            ("inactive", 1, 0, nil), ("failed", 1, 3, .ended), ("failed", 2, 9, .ended), ("failed", 0, 0, .notStarted),
            ("active", 0, 0, nil),
        ]
        for (state, code, status, error) in rows {
            let systemd = BusProgram.systemd(bus.address, state, code, status)
            let deliverer = desk.deliverer(settling: state == "active" ? .zero : .seconds(60))
            if let error {
                desk.expect(error, state) { try deliverer.deliver(Self.scheme) }
            } else {
                #expect(try deliverer.deliver(Self.scheme) == Self.noMessage)
            }
            systemd.stop()
        }
        #expect(desk.log == [])
    }
}
