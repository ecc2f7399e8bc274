// SPDX-License-Identifier: Apache-2.0
import BusTesting
import CSDBus
import TestThreads
import Testing

@testable import UserBus

/// What the program that shows notifications passes to a desktop on another bus, and what it hears from there.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A notification that goes to a desktop` {
    private static let name = "org.freedesktop.Notifications"
    private static let object = BusCall.Object(name, "/org/freedesktop/Notifications", name)
    private static let shown = NotificationStand.Event.shown(
        .init(number: 41, title: "a", body: "body", actions: [])
    )

    private let bus: TestBus
    private let desktopBus: TestBus
    /// The desktop's program, which gives each notification the number 41.
    private let desktop: Peer
    /// The stand's connection to the desktop.
    private let connection: BusConnection
    private let stand: NotificationStand
    private let app: BusConnection

    init() throws {
        (bus, desktopBus) = (try TestBus(), try TestBus())
        desktop = try Peer(desktopBus.address, Self.name) { call in
            switch call.name.split(separator: ".").last {
            case "GetCapabilities": .values([.strings(["body"])])
            case "Notify": .values([.uint32(41)])
            default: .values([])
            }
        }
        connection = try BusConnection(.user, address: desktopBus.address)
        stand = try NotificationStand(on: try BusConnection(.user, address: bus.address), desktop: connection)
        app = try BusConnection(.user, address: bus.address)
    }

    /// Lets the app ask for a notification with hints, and handles it.
    private func notify(actions: [String] = [], _ hints: (inout BusMessageWriter) -> Void) throws -> (
        answer: ReceivedMessage, events: [NotificationStand.Event]
    ) {
        let owner = try app.ask(BusCall(.daemon, "GetNameOwner", [.string(Self.name)])).first?.text
        let object = BusCall.Object(try #require(owner), Self.object.path, Self.object.interface)
        // Its answer comes later, because the stand is on the same thread.
        do throws(BusError) {
            _ = try app.call(object, "Notify", shownAs: "It", within: .zero) { writer in
                writer.string("app")
                writer.number(0)
                for text in ["icon", "a", "body"] { writer.string(text) }
                writer.array(of: "s") { writer in for action in actions { writer.string(action) } }
                writer.array(of: "{sv}", hints)
                writer.value(.int32(-1))
            }
        } catch {
            #expect(error.code == .noAnswer)
        }
        var events: [NotificationStand.Event] = []
        while true {
            events += try stand.process()
            while let message = try app.receive() {
                if message.answersTo != nil { return (message, events) }
            }
        }
    }

    @Test func `has the hints that can be sent on, and no others`() throws {
        let (answer, events) = try notify { writer in
            writer.entry("urgency", "y") { $0.value(.byte(1)) }
            writer.entry("sender-pid", "x") { writer in
                var number = Int64(7)
                writer.note(unsafe ocn_bus_message_append_basic(writer.message, CChar(UInt8(ascii: "x")), &number))
            }
            writer.entry("image-data", "(iiibiiay)") { writer in
                writer.structure("iiibiiay") { writer in
                    for number: Int32 in [1, 1, 4] { writer.value(.int32(number)) }
                    writer.boolean(true)
                    for number: Int32 in [8, 4] { writer.value(.int32(number)) }
                    writer.bytes([0, 0, 0, 255])
                }
            }
        }
        #expect(!answer.isError && answer.values() == [.uint32(41)])
        #expect(events == [Self.shown])
        let call = try #require(desktop.calls.first { $0.name.hasSuffix(".Notify") })
        #expect(call.values.count == 8 && call.values[6] == .properties(["urgency": .byte(1)]))
    }

    @Test func `is there for the app when it can't be closed on the desktop`() throws {
        let (_, events) = try notify { _ in }
        #expect(events == [Self.shown])
        try app.listen(to: "sender='\(Self.name)',member='NotificationClosed'")
        desktopBus.end()
        #expect(throws: BusError.self) { try stand.dismiss(41) }
        // The bus delivers the signal before its answer.
        _ = try app.ask(BusCall(.daemon, "GetId"))
        while let message = try app.receive() { #expect(!message.isSignal || message.sender == ReplyLedger.daemon) }
    }

    @Test func `is there for the app, clicked or not, when the desktop's program has ended`() throws {
        let (_, events) = try notify(actions: ["default", "Open"]) { _ in }
        #expect(events == [.shown(.init(number: 41, title: "a", body: "body", actions: ["default", "Open"]))])
        try app.listen(to: "sender='\(Self.name)'")
        desktop.stop()
        for act in [stand.click, stand.dismiss] {
            let error = #expect(throws: BusError.self) { try act(41) }
            #expect(error?.code == .nobody)
        }
        #expect(try stand.process() == [.activated(41)])
        let cookie = try app.send(BusCall(Self.object, "CloseNotification", [.uint32(41)]))
        var answer: ReceivedMessage?
        while answer == nil {
            #expect(try stand.process().isEmpty)
            answer = try app.answers(to: [cookie], within: .milliseconds(2))[cookie]
        }
        #expect(answer?.error(of: "It").code == .refused)
        var names: [String] = []
        while let message = try app.receive() {
            if message.isSignal, message.sender != ReplyLedger.daemon { names.append(message.name) }
        }
        #expect(names == ["org.freedesktop.Notifications.ActionInvoked"])
    }

    @Test func `is closed by the program that shows it, and by no other that has its name later`() throws {
        let (_, events) = try notify { _ in }
        #expect(events == [Self.shown])
        desktop.stop()
        let other = try Peer(desktopBus.address, Self.name)
        other.emit(Self.object, "NotificationClosed", [.uint32(41), .uint32(2)])
        // The bus delivers the signal before its answer.
        _ = try connection.ask(BusCall(.daemon, "GetId"))
        #expect(try stand.process().isEmpty)
    }
}
