// SPDX-License-Identifier: Apache-2.0
import BusTesting
import CSDBus
import Glibc
import TestThreads
import Testing

@testable import UserBus  // the calls of a connection are internal

private let name = "org.freedesktop.Notifications"
private let object = BusCall.Object(name, "/org/freedesktop/Notifications", name)

/// A relay with an app that uses it, and maybe a desktop on another bus.
private struct Scene {
    let bus: TestBus
    let relay: NotificationRelay
    let app: BusConnection

    init(desktop: BusConnection? = nil) throws {
        bus = try TestBus()
        relay = try NotificationRelay(on: try bus.connection(), desktop: desktop)
        app = try bus.connection()
        try app.listen(to: "sender='\(name)'")
    }

    /// Calls a method, and handles what arrives until it is answered.
    func ask(_ method: String, _ values: [BusValue] = []) throws -> (
        answer: ReceivedMessage, events: [NotificationRelay.Event]
    ) {
        try handle(try app.send(BusCall(object, method, values)))
    }

    func handle(_ cookie: UInt64) throws -> (answer: ReceivedMessage, events: [NotificationRelay.Event]) {
        var events: [NotificationRelay.Event] = []
        while true {
            events += try relay.process()
            if let answer = try app.answers(to: [cookie], within: .milliseconds(2))[cookie] { return (answer, events) }
        }
    }

    func notify(_ title: String, replacing: UInt32 = 0, actions: [String] = ["default", "Open"]) throws -> (
        number: Int64?, events: [NotificationRelay.Event]
    ) {
        let values: [BusValue] = [
            .string("app"), .uint32(replacing), .string("icon"), .string(title), .string("body"), .strings(actions),
            .properties(["urgency": .byte(1)]), .int32(-1),
        ]
        let (answer, events) = try ask("Notify", values)
        return (answer.values().first?.integer, events)
    }

    /// The signals that the app has got so far, each with its name before its values.
    func signals() throws -> [[BusValue]] {
        try app.settle()
        return try app.received().filter { $0.isSignal && $0.name.hasPrefix(name + ".") }.map { message in
            #expect(message.path == object.path)
            return [.string(String(message.name.dropFirst(name.count + 1)))] + message.values()
        }
    }
}

private func shown(_ number: UInt32, _ title: String, _ actions: [String] = ["default", "Open"])
    -> NotificationRelay.Event
{
    .shown(.init(number: number, title: title, body: "body", actions: actions))
}

private func closed(_ number: UInt32, _ reason: UInt32) -> [BusValue] {
    [.string("NotificationClosed"), .uint32(number), .uint32(reason)]
}

/// The notifications of a bus without a desktop (Desktop Notifications Specification 1.2).
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct NotificationRelayTests {
    @Test func `relay: reports its capabilities and its name`() throws {
        let scene = try Scene()
        let capabilities = ["body", "actions", "persistence"].map(BusValue.string)
        #expect(try scene.ask("GetCapabilities").answer.values() == [.list(capabilities)])
        let server = ["nfc", "OpenCoreNFC", "1", "1.2"].map(BusValue.string)
        #expect(try scene.ask("GetServerInformation").answer.values() == server)
        #expect(scene.relay.descriptors.count == 1)
    }

    @Test(
        arguments: [
            [("a", 0, 1), ("b", 0, 2), ("c", 1, 1), ("d", 0, 3)],
            [("a", 2, 2), ("b", .max, .max), ("c", 0, 1), ("d", 0, 3)],
        ] as [[(String, UInt32, UInt32)]]
    )
    func `relayed notification: keeps its number when replaced, else gets a free one`(rows: [(String, UInt32, UInt32)])
        throws
    {
        let scene = try Scene()
        for (title, replacing, number) in rows {
            let result = try scene.notify(title, replacing: replacing)
            #expect(result.number == Int64(number) && result.events == [shown(number, title)])
        }
        #expect(try scene.signals().isEmpty)
    }

    @Test func `click: invokes the default action or else the first, and then closes, once`() throws {
        let scene = try Scene()
        let rows: [([String], String?)] = [
            (["default", "Open"], "default"), (["other", "Other", "default", "Open"], "default"),
            (["first", "First", "x", "X"], "first"), (["first", "default"], "first"), ([], nil),
        ]
        for (index, (actions, action)) in rows.enumerated() {
            let number = UInt32(index + 1)
            _ = try scene.notify("a", actions: actions)
            try scene.relay.click(number)
            let events: [NotificationRelay.Event] = [.activated(number), .closed(number, isDismissed: true)]
            #expect(try scene.relay.process() == (action == nil ? [] : events), "\(actions)")
            let invoked = action.map { [BusValue.string("ActionInvoked"), .uint32(number), .string($0)] }
            #expect(try scene.signals() == (invoked.map { [$0, closed(number, 2)] } ?? []), "\(actions)")
        }
        try scene.relay.click(1)
        try scene.relay.dismiss(1)
        #expect(try scene.relay.process().isEmpty && scene.signals().isEmpty)
    }

    @Test func `closing: by the user is reason 2, by the app reason 3, and numbers are not reused`() throws {
        let scene = try Scene()
        for title in ["a", "b", "c"] { _ = try scene.notify(title) }
        try scene.relay.dismiss(1)
        let events = try scene.ask("CloseNotification", [.uint32(2)]).events
        #expect(events == [.closed(1, isDismissed: true), .closed(2, isDismissed: false)])
        #expect(try scene.ask("CloseNotification", [.uint32(2)]).events.isEmpty)
        #expect(try !scene.ask("CloseNotification", [.uint32(9)]).answer.isError)
        #expect(try scene.signals() == [closed(1, 2), closed(2, 3)])
        scene.relay.closeAll()
        try scene.relay.click(3)
        #expect(try scene.relay.process().isEmpty && scene.signals().isEmpty)
        #expect(try scene.notify("d").number == 4)
        #expect(try scene.ask("CloseNotification", [.uint32(3)]).events.isEmpty)
    }

    @Test func `relay called with wrong values or methods: refused`() throws {
        let scene = try Scene()
        let rows: [(String, [BusValue], BusError.Code)] = [
            ("Notify", [.string("x")], .refused), ("Notify", [], .refused),
            ("CloseNotification", [.string("1")], .refused), ("GetCapabilities", [.byte(1)], .refused),
            ("GetServerInformation", [.byte(1)], .refused), ("Show", [], .noMethod),
        ]
        for (method, values, code) in rows {
            let (answer, events) = try scene.ask(method, values)
            #expect(answer.error(of: "It").code == code && events.isEmpty, "\(method)")
        }
    }
}

/// What the relay passes to a desktop on another bus, and what it hears from there.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct DesktopNotificationTests {
    private let bus: TestBus
    /// The desktop's program, which numbers notifications from 41, also those that are replaced.
    private let desktop: Peer
    /// The relay's connection to the desktop.
    private let connection: BusConnection
    private let scene: Scene

    init() throws {
        bus = try TestBus()
        desktop = try Peer(bus.address, name) { call in
            switch call.name.split(separator: ".").last {
            case "GetCapabilities": .values([.strings(["body", "body-markup"]), .string("second")])
            case "Notify": .values([.uint32(UInt32(clamping: max(40, call.values[1].integer ?? 0) + 1)), .uint32(7)])
            default: .values([])
            }
        }
        connection = try bus.connection()
        scene = try Scene(desktop: connection)
    }

    @Test func `relay to a desktop: notifications go there, and its signals to the app`() throws {
        #expect(scene.relay.descriptors.count == 2)
        let capabilities = ["body", "body-markup"].map(BusValue.string)
        #expect(try scene.ask("GetCapabilities").answer.values() == [.list(capabilities)])
        let actions = ["default", "Open", "x", "X"]
        let result = try scene.notify("a", actions: actions)
        #expect(result.number == 41 && result.events == [shown(41, "a", actions)])
        #expect(try scene.notify("b", replacing: 41).number == 42)
        #expect(try scene.notify("c", replacing: 42).number == 43)
        let notify = desktop.calls.filter { $0.name.hasSuffix(".Notify") }
        #expect(notify.map(\.values[3]) == [.string("a"), .string("b"), .string("c")])
        let values: [BusValue] = [
            .string("app"), .uint32(0), .string("icon"), .string("a"), .string("body"),
            .list(actions.map(BusValue.string)), .properties(["urgency": .byte(1)]), .int32(-1),
        ]
        #expect(notify.first?.values == values)
        let token: [BusValue] = [.string("ActivationToken"), .uint32(41), .string("token")]
        let action: [BusValue] = [.string("ActionInvoked"), .uint32(41), .string("x")]
        let emitted: [[BusValue]] = [
            // Another number, no number, another signal.
            [.string("ActionInvoked"), .uint32(7), .string("default")],
            [.string("ActionInvoked"), .string("41"), .string("default")], [.string("Other"), .uint32(41)],
            token, action, closed(41, 2) + [.uint32(9)], closed(42, 1), [.string("NotificationClosed"), .uint32(43)],
        ]
        for signal in emitted { desktop.emit(object, signal[0].text ?? "", Array(signal.dropFirst())) }
        var events: [NotificationRelay.Event] = []
        while events.count < 4 { events += try scene.relay.process() }
        let expected: [NotificationRelay.Event] = [
            .activated(41), .closed(41, isDismissed: true), .closed(42, isDismissed: false),
            .closed(43, isDismissed: false),
        ]
        #expect(events == expected)
        #expect(try scene.signals() == [token, action, closed(41, 2), closed(42, 1), closed(43, 3)])
    }

    @Test func `relayed notification that is clicked, dismissed or closed: closed on the desktop`() throws {
        for act in [scene.relay.click, scene.relay.dismiss] {
            #expect(try scene.notify("a").number == 41)
            try act(41)
        }
        _ = try scene.notify("a")
        _ = try scene.ask("CloseNotification", [.uint32(41)])
        _ = try scene.notify("a")
        scene.relay.closeAll()
        func closed() -> [BusValue] {
            desktop.calls.filter { $0.name.hasSuffix("CloseNotification") }.flatMap(\.values)
        }
        while closed().count < 4 { usleep(1000) }
        #expect(closed() == Array(repeating: .uint32(41), count: 4))
    }

    @Test func `relayed notification: hints of unsupported types are left out`() throws {
        let owner = try scene.app.owner(of: name)
        var message: OpaquePointer?
        _ = unsafe ocn_bus_message_new_method_call(
            scene.app.bus,
            &message,
            owner,
            object.path,
            object.interface,
            "Notify"
        )
        defer { _ = unsafe ocn_bus_message_unref(message) }
        func container(_ type: Unicode.Scalar, _ contents: String, _ body: () throws -> Void) rethrows {
            _ = unsafe ocn_bus_message_open_container(message, CChar(type.value), contents)
            try body()
            _ = unsafe ocn_bus_message_close_container(message)
        }
        func write(_ values: BusValue...) throws { unsafe try BusMessageWriter.write(values, to: message) }
        try write(.string("app"), .uint32(0), .string("icon"), .string("a"), .string("body"), .strings([]))
        try container("a", "{sv}") {
            try container("e", "sv") { try write(.string("urgency"), .variant(.byte(1))) }
            try container("e", "sv") {
                try write(.string("image-data"), .variant(.structure([.int32(1), .bytes([0, 0, 0, 255])])))
            }
            try container("e", "sv") {
                try write(.string("sender-pid"))
                container("v", "x") {
                    var number = Int64(7)
                    _ = unsafe ocn_bus_message_append_basic(message, CChar(UInt8(ascii: "x")), &number)
                }
            }
        }
        try write(.int32(-1))
        _ = unsafe ocn_bus_send(scene.app.bus, message, nil)
        var events: [NotificationRelay.Event] = []
        while events.isEmpty { events = try scene.relay.process() }
        #expect(events == [shown(41, "a", [])])
        let call = try #require(desktop.calls.first { $0.name.hasSuffix(".Notify") })
        #expect(call.values.count == 8 && call.values[6] == .properties(["urgency": .byte(1)]))
    }

    @Test func `desktop program ended: a click still reaches the app, closing fails, the next desktop can't close`()
        throws
    {
        _ = try scene.notify("a")
        desktop.stop()
        for act in [scene.relay.click, scene.relay.dismiss] { expect(.nobody) { try act(41) } }
        #expect(try scene.relay.process() == [.activated(41)])
        let (answer, events) = try scene.ask("CloseNotification", [.uint32(41)])
        #expect(answer.error(of: "It").code == .refused && events.isEmpty)
        let other = try Peer(bus.address, name)
        other.emit(object, "NotificationClosed", [.uint32(41), .uint32(2)])
        try connection.settle()
        #expect(try scene.relay.process().isEmpty)
        #expect(try scene.signals() == [[.string("ActionInvoked"), .uint32(41), .string("default")]])
    }

    @Test func `desktop bus ended: dismissing fails and the app's notification stays`() throws {
        _ = try scene.notify("a")
        bus.end()
        #expect(throws: BusError.self) { try scene.relay.dismiss(41) }
        #expect(try scene.signals().isEmpty)
    }

    @Test func `start of a relay: nobody without a desktop program, nameTaken beside another one`() throws {
        let bus = try TestBus()
        let connection = try bus.connection()
        expect(.nobody) { try Scene(desktop: connection) }
        let other = try Peer(bus.address, name)
        expect(.nameTaken) { try NotificationRelay(on: connection) }
        withExtendedLifetime(other) {}
    }

    @Test(arguments: [.values([]), .values([.string("41")]), .refusal("Failed", "Full.")] as [Peer.Answer])
    func `relay to a desktop that fails: the app gets the failure`(answer: Peer.Answer) throws {
        let bus = try TestBus()
        let desktop = try Peer(bus.address, name) { $0.name.hasSuffix("Notify") ? answer : .values([.strings([])]) }
        let scene = try Scene(desktop: try bus.connection())
        let result = try scene.notify("a")
        #expect(result.number == nil && result.events.isEmpty)
        withExtendedLifetime(desktop) {}
    }
}
