// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Glibc
import TestThreads
import Testing

@testable import UserBus

/// The notifications of a bus without a desktop, and those that are passed to a desktop on another bus.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The program that shows notifications` {
    private static let name = "org.freedesktop.Notifications"
    private static let object = BusCall.Object(name, "/org/freedesktop/Notifications", name)

    /// A stand with an app that uses it.
    private struct Scene {
        let bus: TestBus
        let stand: NotificationStand
        let app: BusConnection

        init(desktop: BusConnection? = nil) throws {
            bus = try TestBus()
            stand = try NotificationStand(on: try BusConnection(.user, address: bus.address), desktop: desktop)
            app = try BusConnection(.user, address: bus.address)
            try app.listen(to: "sender='\(name)'")
        }

        /// Calls a method, and handles what comes until it is answered.
        func ask(_ method: String, _ values: [BusValue] = []) throws -> (
            answer: ReceivedMessage, events: [NotificationStand.Event]
        ) {
            let cookie = try app.send(BusCall(object, method, values))
            var events: [NotificationStand.Event] = []
            while true {
                events += try stand.process()
                if let answer = try app.answers(to: [cookie], within: .milliseconds(2))[cookie] {
                    return (answer, events)
                }
            }
        }

        func notify(_ title: String, replacing: UInt32 = 0, actions: [String] = ["default", "Open"]) throws -> (
            number: Int64?, events: [NotificationStand.Event]
        ) {
            let (answer, events) = try ask(
                "Notify",
                [
                    .string("app"), .uint32(replacing), .string("icon"), .string(title), .string("body"),
                    .strings(actions), .properties(["urgency": .byte(1)]), .int32(-1),
                ]
            )
            return (answer.values().first?.integer, events)
        }

        /// The signals that the app has got so far.
        func signals() throws -> [[BusValue]] {
            // The bus has had every signal before it answers.
            _ = try app.ask(BusCall(.daemon, "GetId"))
            var signals: [[BusValue]] = []
            while let message = try app.receive() {
                guard message.isSignal, message.name.hasPrefix(name + ".") else { continue }
                #expect(message.path == object.path)
                signals.append([.string(String(message.name.dropFirst(name.count + 1)))] + message.values())
            }
            return signals
        }
    }

    private static func shown(_ number: UInt32, _ title: String, _ actions: [String] = ["default", "Open"])
        -> NotificationStand.Event
    {
        .shown(.init(number: number, title: title, body: "body", actions: actions))
    }

    @Test func `says what it can do and who it is`() throws {
        let scene = try Scene()
        #expect(
            try scene.ask("GetCapabilities").answer.values() == [
                .list([.string("body"), .string("actions"), .string("persistence")])
            ]
        )
        #expect(
            try scene.ask("GetServerInformation").answer.values() == [
                .string("nfc"), .string("OpenCoreNFC"), .string("1"), .string("1.2"),
            ]
        )
        #expect(scene.stand.descriptors.count == 1)
    }

    @Test func `gives notifications numbers, and keeps the number of one that is replaced`() throws {
        let scene = try Scene()
        let results = [
            try scene.notify("a"), try scene.notify("b"), try scene.notify("c", replacing: 1), try scene.notify("d"),
        ]
        #expect(results.map(\.number) == [1, 2, 1, 3])
        #expect(
            results.flatMap(\.events) == [
                Self.shown(1, "a"), Self.shown(2, "b"), Self.shown(1, "c"), Self.shown(3, "d"),
            ]
        )
        #expect(try scene.signals().isEmpty)
    }

    @Test func `keeps a number that it never gave when an app replaces it, and gives others that are free`() throws {
        let scene = try Scene()
        let results = [
            try scene.notify("a", replacing: 2), try scene.notify("b", replacing: .max), try scene.notify("c"),
            try scene.notify("d"),
        ]
        #expect(results.map(\.number) == [2, Int64(UInt32.max), 1, 3])
        #expect(
            results.flatMap(\.events) == [
                Self.shown(2, "a"), Self.shown(.max, "b"), Self.shown(1, "c"), Self.shown(3, "d"),
            ]
        )
    }

    @Test func `reports the user's click with the default action, and then that it is closed`() throws {
        let scene = try Scene()
        for actions in [
            ["default", "Open"], ["other", "Other", "default", "Open"], ["first", "First", "x", "X"],
            ["first", "default"], [],
        ] {
            _ = try scene.notify("a", actions: actions)
        }
        for number in [UInt32](1...5) { try scene.stand.click(number) }
        #expect(
            try scene.stand.process()
                == (1...4).flatMap {
                    [NotificationStand.Event.activated($0), .closed($0, isDismissed: true)]
                }
        )
        #expect(
            try scene.signals()
                == [(1, "default"), (2, "default"), (3, "first"), (4, "first")].flatMap { number, action in
                    [
                        [BusValue.string("ActionInvoked"), .uint32(number), .string(action)],
                        [.string("NotificationClosed"), .uint32(number), .uint32(2)],
                    ]
                }
        )
        // Once.
        try scene.stand.click(1)
        try scene.stand.dismiss(1)
        #expect(try scene.stand.process().isEmpty && scene.signals().isEmpty)
    }

    @Test func `tells a dismissal from the app's own closing`() throws {
        let scene = try Scene()
        for title in ["a", "b", "c"] { _ = try scene.notify(title) }
        try scene.stand.dismiss(1)
        #expect(
            try scene.ask("CloseNotification", [.uint32(2)]).events == [
                .closed(1, isDismissed: true), .closed(2, isDismissed: false),
            ]
        )
        #expect(try scene.ask("CloseNotification", [.uint32(2)]).events.isEmpty)
        #expect(try scene.ask("CloseNotification", [.uint32(9)]).answer.isError == false)
        #expect(
            try scene.signals() == [
                [.string("NotificationClosed"), .uint32(1), .uint32(2)],
                [.string("NotificationClosed"), .uint32(2), .uint32(3)],
            ]
        )
        scene.stand.closeAll()
        try scene.stand.click(3)
        #expect(try scene.stand.process().isEmpty && scene.signals().isEmpty)
        // What was closed may still be named by its app: no other notification gets its number.
        #expect(try scene.notify("d").number == 4)
        #expect(try scene.ask("CloseNotification", [.uint32(3)]).events.isEmpty)
    }

    @Test(
        arguments: [
            ("Notify", [.string("x")]), ("Notify", []), ("CloseNotification", [.string("1")]),
            ("GetCapabilities", [.byte(1)]),
            ("GetServerInformation", [.byte(1)]),
        ] as [(String, [BusValue])]
    )
    func `refuses calls with other values`(method: String, values: [BusValue]) throws {
        let scene = try Scene()
        let (answer, events) = try scene.ask(method, values)
        let error = answer.error(of: "It")
        #expect(error.code == .refused && events.isEmpty)
        #expect(error.reason == "It says: \(Self.name).\(method) has other values than it should.")
    }

    @Test func `has no other methods`() throws {
        let scene = try Scene()
        let (answer, events) = try scene.ask("Show", [])
        #expect(answer.error(of: "It").code == .noMethod && events.isEmpty)
    }

    /// The desktop's program, on another bus, which numbers notifications from 41, also those that are replaced.
    private static func desktop(_ address: String) throws -> Peer {
        try Peer(address, name) { call in
            switch call.name.split(separator: ".").last {
            case "GetCapabilities": .values([.strings(["body", "body-markup"]), .string("second")])
            case "Notify": .values([.uint32(UInt32(clamping: max(40, call.values[1].integer ?? 0) + 1)), .uint32(7)])
            default: .values([])
            }
        }
    }

    @Test func `passes notifications to a desktop, and the user's deeds back`() throws {
        let bus = try TestBus()
        let desktop = try Self.desktop(bus.address)
        let scene = try Scene(desktop: try BusConnection(.user, address: bus.address))
        #expect(scene.stand.descriptors.count == 2)
        #expect(try scene.ask("GetCapabilities").answer.values() == [.list([.string("body"), .string("body-markup")])])
        let result = try scene.notify("a", actions: ["default", "Open", "x", "X"])
        #expect(result.number == 41 && result.events == [Self.shown(41, "a", ["default", "Open", "x", "X"])])
        #expect(try scene.notify("b", replacing: 41).number == 42)
        #expect(try scene.notify("c", replacing: 42).number == 43)
        let notify = desktop.calls.filter { $0.name.hasSuffix(".Notify") }
        #expect(notify.map(\.values[3]) == [.string("a"), .string("b"), .string("c")])
        #expect(
            notify.first?.values == [
                .string("app"), .uint32(0), .string("icon"), .string("a"), .string("body"),
                .list(["default", "Open", "x", "X"].map(BusValue.string)), .properties(["urgency": .byte(1)]),
                .int32(-1),
            ]
        )
        // What has another number, or no number, is not passed on.
        desktop.emit(Self.object, "ActionInvoked", [.uint32(7), .string("default")])
        desktop.emit(Self.object, "ActionInvoked", [.string("41"), .string("default")])
        desktop.emit(Self.object, "Other", [.uint32(41)])
        desktop.emit(Self.object, "ActivationToken", [.uint32(41), .string("token")])
        desktop.emit(Self.object, "ActionInvoked", [.uint32(41), .string("x")])
        desktop.emit(Self.object, "NotificationClosed", [.uint32(41), .uint32(2), .uint32(9)])
        desktop.emit(Self.object, "NotificationClosed", [.uint32(42), .uint32(1)])
        desktop.emit(Self.object, "NotificationClosed", [.uint32(43)])
        var events: [NotificationStand.Event] = []
        while events.count < 4 { events += try scene.stand.process() }
        #expect(
            events == [
                .activated(41), .closed(41, isDismissed: true), .closed(42, isDismissed: false),
                .closed(43, isDismissed: false),
            ]
        )
        #expect(
            try scene.signals() == [
                [.string("ActivationToken"), .uint32(41), .string("token")],
                [.string("ActionInvoked"), .uint32(41), .string("x")],
                [.string("NotificationClosed"), .uint32(41), .uint32(2)],
                [.string("NotificationClosed"), .uint32(42), .uint32(1)],
                [.string("NotificationClosed"), .uint32(43), .uint32(3)],
            ]
        )
    }

    @Test func `closes on the desktop what it closes`() throws {
        let bus = try TestBus()
        let desktop = try Self.desktop(bus.address)
        let scene = try Scene(desktop: try BusConnection(.user, address: bus.address))
        func closed() -> [BusValue] {
            desktop.calls.filter { $0.name.hasSuffix("CloseNotification") }.flatMap(\.values)
        }
        for act in [scene.stand.click, scene.stand.dismiss] {
            #expect(try scene.notify("a").number == 41)
            try act(41)
        }
        _ = try scene.notify("a")
        _ = try scene.ask("CloseNotification", [.uint32(41)])
        _ = try scene.notify("a")
        scene.stand.closeAll()
        while closed().count < 4 { usleep(1000) }
        #expect(closed() == Array(repeating: .uint32(41), count: 4))
    }

    @Test func `does not begin without the desktop's program, or beside another one`() throws {
        let bus = try TestBus()
        let connection = try BusConnection(.user, address: bus.address)
        #expect(#expect(throws: BusError.self) { try Scene(desktop: connection) }?.code == .nobody)
        let other = try Peer(bus.address, Self.name)
        #expect(#expect(throws: BusError.self) { try NotificationStand(on: connection) }?.code == .nameTaken)
        withExtendedLifetime(other) {}
    }

    @Test(arguments: [.values([]), .values([.string("41")]), .refusal("Failed", "Full.")] as [Peer.Answer])
    func `passes on that the desktop fails`(answer: Peer.Answer) throws {
        let bus = try TestBus()
        let desktop = try Peer(bus.address, Self.name) {
            $0.name.hasSuffix("Notify") ? answer : .values([.strings([])])
        }
        let scene = try Scene(desktop: try BusConnection(.user, address: bus.address))
        let (message, events) = try scene.ask(
            "Notify",
            [
                .string("app"), .uint32(0), .string(""), .string("a"), .string(""), .strings([]), .properties([:]),
                .int32(0),
            ]
        )
        let reason = message.error(of: "It").reason
        #expect(message.isError && events.isEmpty)
        if case .refusal = answer {
            #expect(reason == "It says: \(Self.name) says: Full.")
        } else {
            #expect(reason == "It says: The desktop answers with other values than it should.")
        }
        withExtendedLifetime(desktop) {}
    }
}
