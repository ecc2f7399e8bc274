// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Foundation
import NDEF
import Synchronization
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

private let app = "org.example.App"
private let link = "https://example.org/a"

/// The values of a call that passes a link.
private func values(
    _ link: String = link,
    type: String = UserActivityPayload.browsingWeb,
    message: String? = nil,
    data: [String: BusValue] = [:]
) throws -> [BusValue] {
    let bytes = try NDEFMessage([try .uri(message ?? link)]).encoded()
    return [.string(type), .string(link), .bytes(bytes), .properties(data)]
}

/// What the sender of a link sends, and what it makes of the answers.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct DeliveryTests {
    private static let limit = Duration.seconds(60)
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    private func deliver(_ name: String = app, starts: Bool = false, token: String? = nil) throws
        -> BusConnection.DeliveryOutcome
    {
        let payload = try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: link,
            message: try NDEFMessage([try .uri(link)]).encoded()
        )
        let bus = try BusConnection(.user, address: bus.address)
        return try bus.deliver(payload, to: name, starts: starts, token: token, limit: Self.limit)
    }

    private func open(_ uri: String, token: String? = nil) throws -> BusConnection.DeliveryOutcome {
        try BusConnection(.user, address: bus.address).open(
            uri,
            in: app,
            starts: false,
            token: token,
            limit: Self.limit
        )
    }

    @Test(arguments: [nil, "token-1"])
    func `link: the app gets type, URL, message and token, an app without the interface only URL and token`(
        token: String?
    ) throws {
        let data: [String: BusValue] =
            token.map { ["activation-token": .string($0), "desktop-startup-id": .string($0)] } ?? [:]
        let full = Peer.Call(
            name: "org.opencorenfc.UserActivity1.ContinueUserActivity",
            path: "/org/example/App",
            values: try values(data: data)
        )
        var opened = Peer.Call(
            name: "org.freedesktop.Application.Open",
            path: "/org/example/App",
            values: [.list([.string(link)]), .properties(data)]
        )
        let peer = try Peer(bus.address, app) { _ in .values([.boolean(true)]) }
        #expect(try deliver(token: token) == .message)
        #expect(peer.calls == [full])
        peer.stop()
        let other = try Peer(bus.address, app) { $0.name.hasSuffix(".Open") ? .values([]) : .unknown }
        #expect(try deliver(token: token) == .link)
        #expect(other.calls == [full, opened])
        #expect(try open("tel:1", token: token) == .link)
        opened.values[0] = .list([.string("tel:1")])
        #expect(other.calls.last == opened)
    }

    @Test func `link to an app without the interfaces: not delivered; a failing app reports its error`() throws {
        let peer = try Peer(bus.address, app)
        #expect(try deliver() == .none && open("tel:1") == .none)
        #expect(peer.methods == ["ContinueUserActivity", "Open", "Open"])
        peer.stop()
        let failing = try Peer(bus.address, app) { $0.name.hasSuffix("Open") ? .refusal("Failed", "No.") : .unknown }
        expect(.refused) { try deliver() }
        #expect(failing.methods == ["ContinueUserActivity", "Open"])
    }

    @Test func `link answered with false, other values or an error: refused or badMessage, and not sent again`() throws
    {
        let rows: [(Peer.Answer, BusError.Code)] = [
            (.values([.boolean(false)]), .refused), (.values([]), .badMessage), (.values([.uint32(1)]), .badMessage),
            (.values([.boolean(true), .byte(0)]), .badMessage), (.refusal("AccessDenied", "No."), .refused),
        ]
        for (answer, code) in rows {
            let peer = try Peer(bus.address, app) { _ in answer }
            expect(code, "\(answer)") { try deliver() }
            #expect(peer.methods == ["ContinueUserActivity"])
        }
    }

    @Test func `link to an app that does not run: delivered only if the bus can start it`() throws {
        let user = try BusConnection(.user, address: bus.address)
        #expect(try deliver() == .none && !user.isRunning(app))
        expect(.nobody) { try deliver(starts: true) }
        #expect(try deliver("org.1.App") == .none)
        expect(.nobody) { try deliver("org.1.App", starts: true) }
        let peer = try Peer(bus.address, app) { _ in .values([.boolean(true)]) }
        #expect(try deliver(starts: true) == .message)
        #expect(try user.isRunning(app) && user.userOwner(of: app) == peer.owner && user.isOwn(peer.owner))
        peer.stop()
        #expect(try !user.isRunning(app))
        // The bus notices the end of a connection later than that its name was given back.
        while try user.hasOwner(peer.owner) { usleep(1000) }
        expect(.nobody) { try user.isOwn(peer.owner) }
    }

    @Test func `portal: opens a URI; its error is refused, a missing portal is nobody`() throws {
        let user = try BusConnection(.user, address: bus.address)
        expect(.nobody) { try user.openWithPortal("tel:1", limit: Self.limit) }
        let peer = try Peer(bus.address, "org.freedesktop.portal.Desktop") { call in
            call.values[1] == .string("tel:1") ? .values([.path("/request/1")]) : .refusal("Failed", "No.")
        }
        try user.openWithPortal("tel:1", limit: Self.limit)
        let call = Peer.Call(
            name: "org.freedesktop.portal.OpenURI.OpenURI",
            path: "/org/freedesktop/portal/desktop",
            values: [.string(""), .string("tel:1"), .properties([:])]
        )
        #expect(peer.calls == [call])
        expect(.refused) { try user.openWithPortal("tel:2", limit: Self.limit) }
    }
}

/// An app's service, called by hand.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct DeliveryServiceTests {
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

    private func call(
        _ values: [BusValue],
        _ path: String = "/org/example/App",
        _ interface: String = "org.opencorenfc.UserActivity1",
        _ method: String = "ContinueUserActivity"
    ) throws -> [BusValue] {
        try bus.connection().ask(BusCall(BusCall.Object(app, path, interface), method, values), within: .seconds(60))
    }

    @Test func `service: takes a link and answers whether the app handled it`() throws {
        let service = try Running(bus.address)
        #expect(try call(try values("https://example.org/yes")) == [.boolean(true)])
        #expect(try call(try values("https://example.org/no")) == [.boolean(false)])
        #expect(service.received == ["https://example.org/yes", "https://example.org/no"])
        // A signal of another program that looks like the loss of the name.
        let liar = try Peer(bus.address, "org.example.Liar")
        liar.emit(BusCall.Object("", "/org/freedesktop/DBus", "org.freedesktop.DBus"), "NameLost", [.string(app)])
        #expect(try call(try values("https://example.org/yes")) == [.boolean(true)])
        #expect(!service.hasEnded)
        #expect(service.stop() == .success(.stopped))
        // Each second, and for each message. Without a pause they would be thousands.
        #expect(service.lookCount < 100)
    }

    @Test func `service: other objects, interfaces, methods and values are refused`() throws {
        let service = try Running(bus.address)
        let good = try values("https://example.org/yes")
        let (path, interface, method) = ("/org/example/App", "org.opencorenfc.UserActivity1", "ContinueUserActivity")
        expect(.noMethod) { try call(good, "/org/example", interface, method) }
        expect(.noMethod) { try call(good, path, "org.opencorenfc.UserActivity2", method) }
        expect(.noMethod) { try call(good, path, interface, "Continue") }
        let bad: [[BusValue]] = [
            [], Array(good.dropLast()), good + [.byte(0)], [good[0], good[1], .string("x"), good[3]],
            try values("https://example.org/yes", type: "Other"),
            try values("https://example.org/yes", message: "https://example.org/no"),
            [good[0], good[1], .bytes([]), good[3]], [good[0], good[1], good[2], .strings([])],
        ]
        for values in bad { expect(.refused, "\(values)") { try call(values) } }
        #expect(service.received.isEmpty)
        _ = service.stop()
    }

    @Test func `service: opens web links of other programs; other links and links that it does not take are refused`()
        throws
    {
        let service = try Running(bus.address)
        func open(_ links: BusValue) throws -> [BusValue] {
            try call([links, .properties([:])], "/org/example/App", "org.freedesktop.Application", "Open")
        }
        let (yes, no) = ("https://example.org/yes", "https://example.org/no")
        #expect(try open(.strings([yes, yes])).isEmpty && open(.strings([])).isEmpty)
        expect(.refused) { try open(.strings([no, yes])) }
        #expect(service.received == [yes, yes, no])
        for links in [BusValue.strings([yes, "file:///etc/passwd"]), .strings(["tel:1"]), .string(yes)] {
            expect(.refused, "\(links)") { try open(links) }
        }
        #expect(service.received == [yes, yes, no])
        _ = service.stop()
    }

    @Test func `app in the background: a visible one takes its bus name, and the old one takes late links for 2 s`()
        throws
    {
        let hidden = try Running(bus.address, .background)
        let connection = try bus.connection()
        let owner = try connection.owner(of: app)
        let start = ContinuousClock.now
        let visible = try Running(bus.address, .visible)
        // A sender that has looked up the name just before.
        let late = BusCall.Object(owner, "/org/example/App", "org.opencorenfc.UserActivity1")
        let arguments = try values("https://example.org/yes")
        #expect(
            try connection.ask(BusCall(late, "ContinueUserActivity", arguments), within: .seconds(60)) == [
                .boolean(true)
            ]
        )
        #expect(try call(try values("https://example.org/no")) == [.boolean(false)])
        #expect(hidden.wait() == .success(.replaced))
        #expect(ContinuousClock.now - start >= .seconds(2))
        #expect(hidden.received == ["https://example.org/yes"] && visible.received == ["https://example.org/no"])
        #expect(visible.stop() == .success(.stopped))
    }

    @Test func `service: keeps its name from another of equal or lower presence`() throws {
        let pairs: [(DeliveryService.Presence, DeliveryService.Presence)] = [
            (.visible, .visible), (.visible, .background), (.background, .background),
        ]
        for (number, (first, second)) in pairs.enumerated() {
            let name = "org.example.App\(number)"
            let service = try DeliveryService(desktopID: name, presence: first, address: bus.address) { _ in true }
            expect(.nameTaken) {
                try DeliveryService(desktopID: name, presence: second, address: bus.address) { _ in true }
            }
            withExtendedLifetime(service) {}
        }
        for name in ["App", "org..App", "org.2.App", ""] {
            expect(.nobody, name) { try DeliveryService(desktopID: name, address: bus.address) { _ in true } }
        }
    }

    @Test func `service: ends with noBus when the bus ends`() throws {
        let service = try Running(bus.address)
        bus.end()
        expect(.noBus) { try service.wait()?.get() }
    }
}
