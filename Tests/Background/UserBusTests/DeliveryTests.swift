// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Foundation
import NDEF
import Synchronization
import TestThreads
import Testing

@testable import UserBus

/// What an app and the sender of a link see of each other.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A link over the bus` {
    private static let app = "org.example.App"
    private static let link = "https://example.org/a"
    private static let limit = Duration.seconds(60)
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private static func payload() throws -> UserActivityPayload {
        let message = NDEFMessage([try .uri(link)])
        return try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: link,
            message: try message.encoded()
        )
    }

    private func deliver(_ name: String = app, starts: Bool = false, token: String? = nil) throws(BusError)
        -> UserBus.Outcome
    {
        let bus = try UserBus(address: bus.address)
        guard let payload = try? Self.payload() else { return .none }
        return try bus.deliver(payload, to: name, starts: starts, token: token, limit: Self.limit)
    }

    private func expect(_ code: BusError.Code, _ reason: String, _ body: () throws -> Void) {
        let error = #expect(throws: BusError.self) { try body() }
        #expect(error?.code == code)
        #expect(error?.reason == reason)
    }

    @Test(arguments: [nil, "token-1"]) func `has its type, its URL, its message and the token`(token: String?) throws {
        let peer = try Peer(bus.address, Self.app) { _ in .values([.boolean(true)]) }
        #expect(try deliver(token: token) == .message)
        let data: [String: BusValue] =
            token.map { ["activation-token": .string($0), "desktop-startup-id": .string($0)] } ?? [:]
        let values: [BusValue] = [
            .string("NSUserActivityTypeBrowsingWeb"), .string(Self.link), .bytes(try Self.payload().message),
            .properties(data),
        ]
        #expect(
            peer.calls == [
                .init(
                    name: "org.opencorenfc.UserActivity1.ContinueUserActivity",
                    path: "/org/example/App",
                    values: values
                )
            ]
        )
    }

    @Test(arguments: [nil, "token-1"]) func `goes alone to an app without the interface`(token: String?) throws {
        let peer = try Peer(bus.address, Self.app) { call in
            call.name == "org.freedesktop.Application.Open" ? .values([]) : .unknown
        }
        #expect(try deliver(token: token) == .link)
        #expect(peer.methods == ["ContinueUserActivity", "Open"])
        let data: [String: BusValue] =
            token.map { ["activation-token": .string($0), "desktop-startup-id": .string($0)] } ?? [:]
        #expect(peer.calls.last?.path == "/org/example/App")
        #expect(peer.calls.last?.values == [.list([.string(Self.link)]), .properties(data)])
        let bus = try UserBus(address: bus.address)
        #expect(try bus.open("tel:1", in: Self.app, starts: false, token: token, limit: Self.limit) == .link)
        #expect(peer.methods == ["ContinueUserActivity", "Open", "Open"])
        #expect(peer.calls.last?.values == [.list([.string("tel:1")]), .properties(data)])
    }

    @Test func `goes nowhere when the app has neither interface`() throws {
        let peer = try Peer(bus.address, Self.app)
        #expect(try deliver() == .none)
        #expect(peer.methods == ["ContinueUserActivity", "Open"])
        let bus = try UserBus(address: bus.address)
        #expect(try bus.open("tel:1", in: Self.app, starts: false, limit: Self.limit) == .none)
    }

    @Test(
        arguments: [
            (.values([.boolean(false)]), .refused, "org.example.App does not take the link."),
            (.values([]), .badMessage, "org.example.App answers with other values than it should."),
            (.values([.uint32(1)]), .badMessage, "org.example.App answers with other values than it should."),
            (
                .values([.boolean(true), .byte(0)]), .badMessage,
                "org.example.App answers with other values than it should."
            ),
            (.refusal("AccessDenied", "No."), .refused, "org.example.App says: No."),
        ] as [(Peer.Answer, BusError.Code, String)]
    )
    func `is not delivered by another answer, and not sent a second time`(
        answer: Peer.Answer,
        code: BusError.Code,
        reason: String
    ) throws {
        let peer = try Peer(bus.address, Self.app) { _ in answer }
        expect(code, reason) { _ = try deliver() }
        #expect(peer.methods == ["ContinueUserActivity"])
    }

    @Test(arguments: [.unknown, .refusal("Failed", "No.")] as [Peer.Answer])
    func `goes to an app that fails to open it alone`(answer: Peer.Answer) throws {
        let peer = try Peer(bus.address, Self.app) { $0.name.hasSuffix("Open") ? .refusal("Failed", "No.") : .unknown }
        expect(.refused, "org.example.App says: No.") { _ = try deliver() }
        #expect(peer.methods == ["ContinueUserActivity", "Open"])
    }

    @Test func `is for an app that runs, or that the bus knows how to start`() throws {
        #expect(try deliver() == .none)
        #expect(try !UserBus(address: bus.address).isRunning(Self.app))
        expect(
            .nobody,
            "The bus knows no program for org.example.App. Install org.example.App.service in dbus-1/services of a folder "
                + "for data, or remove DBusActivatable from org.example.App.desktop."
        ) { _ = try deliver(starts: true) }
        #expect(try deliver("org.1.App") == .none)
        expect(.nobody, "org.1.App can't be the name of an app on the bus.") {
            _ = try deliver("org.1.App", starts: true)
        }
        let peer = try Peer(bus.address, Self.app) { _ in .values([.boolean(true)]) }
        #expect(try deliver(starts: true) == .message)
        #expect(try UserBus(address: bus.address).isRunning(Self.app))
        #expect(try UserBus(address: bus.address).owner(of: Self.app) == peer.owner)
    }

    @Test func `is not said to be another user's when its app has just left the bus`() throws {
        let bus = try UserBus(address: bus.address)
        let peer = try Peer(self.bus.address, Self.app)
        #expect(try bus.isOwn(peer.owner))
        peer.stop()
        #expect(try !bus.isRunning(Self.app))
        // The bus notices the end of a connection by itself, and later than that its name was given back.
        while try bus.connection.isThere(peer.owner) { usleep(1000) }
        let error = #expect(throws: BusError.self) { try bus.isOwn(peer.owner) }
        #expect(error?.code == .nobody)
    }

    @Test func `goes to the desktop's portal, or there is none`() throws {
        let bus = try UserBus(address: bus.address)
        let error = #expect(throws: BusError.self) { try bus.openWithPortal("tel:1", limit: Self.limit) }
        #expect(error?.code == .nobody)
        let peer = try Peer(self.bus.address, "org.freedesktop.portal.Desktop") { call in
            call.values[1] == .string("tel:1") ? .values([.path("/request/1")]) : .refusal("Failed", "No.")
        }
        try bus.openWithPortal("tel:1", limit: Self.limit)
        let call = Peer.Call(
            name: "org.freedesktop.portal.OpenURI.OpenURI",
            path: "/org/freedesktop/portal/desktop",
            values: [.string(""), .string("tel:1"), .properties([:])]
        )
        #expect(peer.calls == [call])
        expect(.refused, "org.freedesktop.portal.Desktop says: No.") {
            try bus.openWithPortal("tel:2", limit: Self.limit)
        }
    }
}

/// An app's service, called by hand.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The service of an app` {
    private static let app = "org.example.App"
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    /// A service on a thread of its own, which notes its links.
    private final class Running: Sendable {
        private let isStopped = Mutex(false)
        private let looks = Mutex(0)
        private let links = Mutex<[String]>([])
        private let end = Mutex<Result<DeliveryService.End, BusError>?>(nil)

        init(_ address: String, _ presence: DeliveryService.Presence = .visible) throws {
            let service = try DeliveryService(desktopID: app, presence: presence, address: address) {
                [weak self] payload in
                self?.links.withLock { $0.append(payload.webpageURL) }
                return payload.webpageURL.hasSuffix("yes")
            }
            Thread.detachNewThread { [self] in
                let result = Result { () throws(BusError) in
                    try service.run {
                        self.looks.withLock { $0 += 1 }
                        return self.isStopped.withLock { $0 }
                    }
                }
                end.withLock { $0 = result }
            }
        }

        /// How often it has looked whether it is stopped.
        var lookCount: Int { looks.withLock { $0 } }
        var received: [String] { links.withLock { $0 } }
        var hasEnded: Bool { end.withLock { $0 != nil } }

        func stop() -> Result<DeliveryService.End, BusError>? {
            isStopped.withLock { $0 = true }
            return wait()
        }

        func wait() -> Result<DeliveryService.End, BusError>? {
            while !hasEnded { usleep(1000) }
            return end.withLock { $0 }
        }
    }

    private static func values(_ link: String, type: String = UserActivityPayload.browsingWeb, _ other: String? = nil)
        throws -> [BusValue]
    {
        [
            .string(type), .string(link), .bytes(try NDEFMessage([try .uri(other ?? link)]).encoded()),
            .properties([:]),
        ]
    }

    private func call(
        _ values: [BusValue],
        _ path: String = "/org/example/App",
        _ interface: String = "org.opencorenfc.UserActivity1",
        _ method: String = "ContinueUserActivity"
    ) throws(BusError) -> [BusValue] {
        let connection = try BusConnection(.user, address: bus.address)
        return try connection.ask(BusCall(BusCall.Object(Self.app, path, interface), method, values), within: 60)
    }

    @Test func `takes a link and says whether it was handled`() throws {
        let service = try Running(bus.address)
        #expect(try call(try Self.values("https://example.org/yes")) == [.boolean(true)])
        #expect(try call(try Self.values("https://example.org/no")) == [.boolean(false)])
        #expect(service.received == ["https://example.org/yes", "https://example.org/no"])
        #expect(!service.hasEnded)
        #expect(service.stop() == .success(.stopped))
        // Each second, and for each message. Without a pause they would be thousands.
        #expect(service.lookCount < 100)
    }

    @Test func `has one object with one method`() throws {
        let service = try Running(bus.address)
        let values = try Self.values("https://example.org/yes")
        for (path, interface, method) in [
            ("/org/example", "org.opencorenfc.UserActivity1", "ContinueUserActivity"),
            ("/org/example/App", "org.opencorenfc.UserActivity2", "ContinueUserActivity"),
            ("/org/example/App", "org.opencorenfc.UserActivity1", "Continue"),
        ] {
            let error = #expect(throws: BusError.self) { try call(values, path, interface, method) }
            #expect(error?.code == .noMethod)
        }
        #expect(service.received.isEmpty)
        _ = service.stop()
    }

    @Test func `refuses values that are not those of a link`() throws {
        let service = try Running(bus.address)
        let good = try Self.values("https://example.org/yes")
        let bad: [[BusValue]] = [
            [], Array(good.dropLast()), good + [.byte(0)], [good[0], good[1], .string("x"), good[3]],
            try Self.values("https://example.org/yes", type: "Other"),
            try Self.values("https://example.org/yes", "https://example.org/no"),
            [good[0], good[1], .bytes([]), good[3]], [good[0], good[1], good[2], .strings([])],
        ]
        for values in bad {
            let error = #expect(throws: BusError.self) { try call(values) }
            #expect(
                error?.code == .refused && error?.reason == "org.example.App says: The values are not those of a link."
            )
        }
        #expect(service.received.isEmpty)
        _ = service.stop()
    }

    @Test func `in the background ends when a visible one has come, and both get what was sent to them`() throws {
        let hidden = try Running(bus.address, .background)
        let connection = try BusConnection(.user, address: bus.address)
        let owner = try #require(
            try connection.ask(BusCall(.daemon, "GetNameOwner", [.string(Self.app)])).first?.text
        )
        let start = ContinuousClock.now
        let visible = try Running(bus.address, .visible)
        // A sender that has looked up the name just before.
        let late = BusCall.Object(owner, "/org/example/App", "org.opencorenfc.UserActivity1")
        let values = try Self.values("https://example.org/yes")
        #expect(try connection.ask(BusCall(late, "ContinueUserActivity", values), within: 60) == [.boolean(true)])
        #expect(try call(try Self.values("https://example.org/no")) == [.boolean(false)])
        #expect(hidden.wait() == .success(.replaced))
        // It has stayed for senders that have looked up its name before.
        #expect(ContinuousClock.now - start >= .seconds(2))
        #expect(hidden.received == ["https://example.org/yes"] && visible.received == ["https://example.org/no"])
        #expect(!visible.hasEnded)
        #expect(visible.stop() == .success(.stopped))
    }

    @Test func `takes its name from no other that keeps it`() throws {
        let pairs: [(DeliveryService.Presence, DeliveryService.Presence)] = [
            (.visible, .visible), (.visible, .background), (.background, .background),
        ]
        for (number, (first, second)) in pairs.enumerated() {
            let name = "org.example.App\(number)"
            let service = try DeliveryService(desktopID: name, presence: first, address: bus.address) { _ in true }
            let error = #expect(throws: BusError.self) {
                try DeliveryService(desktopID: name, presence: second, address: bus.address) { _ in true }
            }
            #expect(error?.code == .nameTaken)
            withExtendedLifetime(service) {}
        }
    }

    @Test func `has lost its name only when the bus says so`() throws {
        let (first, second) = (
            try BusConnection(.user, address: bus.address), try BusConnection(.user, address: bus.address)
        )
        try first.listen(to: "interface='org.freedesktop.DBus'")
        let names = [Self.app, "org.example.Other"]
        for name in names { try first.take(name, yields: true) }
        for name in names { try second.take(name, replaces: true) }
        let liar = try Peer(bus.address, "org.example.Liar")
        let daemon = BusCall.Object("", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        liar.emit(daemon, "NameLost", [.string(Self.app)])
        // The bus delivers the signals before its answer.
        _ = try first.ask(BusCall(.daemon, "GetId"))
        var messages: [ReceivedMessage] = []
        while let message = try first.receive() { messages.append(message) }
        #expect(messages.count { $0.name == "org.freedesktop.DBus.NameLost" } == 3)
        let losses = messages.filter { DeliveryService.isLoss($0, of: Self.app) }
        #expect(losses.map(\.name) == ["org.freedesktop.DBus.NameLost"])
        #expect(losses.map(\.sender) == ["org.freedesktop.DBus"])
        #expect(losses.map { $0.values() } == [[.string(Self.app)]])
    }

    @Test func `keeps its name from signals of others that only look like its end`() throws {
        let service = try Running(bus.address, .background)
        let peer = try Peer(bus.address, "org.example.Other")
        let daemon = BusCall.Object("", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        peer.emit(daemon, "NameLost", [.string(Self.app)])
        #expect(try call(try Self.values("https://example.org/yes")) == [.boolean(true)])
        #expect(!service.hasEnded)
        #expect(service.stop() == .success(.stopped))
    }

    @Test func `ends with an error when the bus is gone`() throws {
        let service = try Running(bus.address)
        bus.end()
        guard case .failure(let error)? = service.wait() else {
            Issue.record("It goes on without a bus.")
            return
        }
        #expect(error.code == .noBus)
    }

    @Test(arguments: ["App", "org..App", "org.2.App", ""]) func `needs a name that a bus has for an app`(name: String) {
        let error = #expect(throws: BusError.self) {
            try DeliveryService(desktopID: name, address: bus.address) { _ in true }
        }
        #expect(error?.code == .nobody && error?.reason == "\(name) can't be the name of an app on the bus.")
    }
}
