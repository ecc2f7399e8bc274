// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProgramTesting
import Synchronization
import TestThreads
import Testing
import UserBus

/// A program on a bus that has names, and answers calls as a test says. It ends with this object.
final class BusProgram: Sendable {
    typealias Signal = (object: BusCall.Object, name: String, values: [BusValue])

    private let state: State

    private final class State: Sendable {
        let signals = Mutex<[Signal]>([])
        let isReady = Mutex(false)
        let isStopped = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
    }

    init(
        _ address: String,
        _ names: String...,
        answer: @escaping @Sendable (ReceivedMessage, BusConnection) throws -> Void
    ) throws {
        let state = State()
        self.state = state
        Thread.detachNewThread {
            defer { state.ended.signal() }
            try? Self.run(address, names, state, answer)
        }
        waitWhile(!state.isReady.withLock { $0 })
        try #require(state.isReady.withLock { $0 })
    }

    deinit {
        state.isStopped.withLock { $0 = true }
        state.ended.wait()
    }

    private static func run(
        _ address: String,
        _ names: [String],
        _ state: State,
        _ answer: (ReceivedMessage, BusConnection) throws -> Void
    ) throws {
        let bus = try BusConnection(.user, address: address)
        for name in names { try bus.take(name) }
        state.isReady.withLock { $0 = true }
        while !state.isStopped.withLock({ $0 }) {
            for signal in state.signals.withLock({ signals in
                defer { signals = [] }
                return signals
            }) { try bus.emit(signal.object, signal.name, signal.values) }
            while let message = try bus.receive() { if message.isCall { try answer(message, bus) } }
            var poller = pollfd(fd: bus.descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, 10)
        }
    }

    /// Has it emit a signal soon.
    func emit(_ object: BusCall.Object, _ name: String, _ values: [BusValue] = []) {
        state.signals.withLock { $0.append((object, name, values)) }
    }
}

/// The program that shows notifications, with a screen saver. It gives each notification the number 7.
final class Desktop: Sendable {
    static let object = BusCall.Object(
        "org.freedesktop.Notifications",
        "/org/freedesktop/Notifications",
        "org.freedesktop.Notifications"
    )
    static let saver = BusCall.Object("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver")

    private final class State: Sendable {
        let calls = Mutex<[String]>([])
        let notifications = Mutex<[[BusValue]]>([])
        let refusals: Mutex<Int>
        let isLocked: Mutex<Bool>

        init(refusals: Int, isLocked: Bool) {
            self.refusals = Mutex(refusals)
            self.isLocked = Mutex(isLocked)
        }

        func isRefusing() -> Bool {
            refusals.withLock { refusals in
                refusals -= 1
                return refusals >= 0
            }
        }
    }

    private let state: State
    private let program: BusProgram

    /// - Parameters:
    ///   - refusals: how many notifications it refuses at first.
    ///   - isLocked: whether its screen saver covers the screen.
    init(on bus: SessionBus, refusals: Int = 0, isLocked: Bool = false) throws {
        let state = State(refusals: refusals, isLocked: isLocked)
        self.state = state
        let names = (Self.object.destination, Self.saver.destination)
        program = try BusProgram(bus.address, names.0, names.1) { message, _ in
            let member = message.name.split(separator: ".").last.map(String.init) ?? ""
            if let values = message.arguments("susssasa{sv}i") { state.notifications.withLock { $0.append(values) } }
            let number = message.arguments("u")?.first?.integer
            state.calls.withLock { $0.append(number.map { "\(member) \($0)" } ?? member) }
            switch member {
            case "GetCapabilities": try message.answer([.strings(["body", "actions"])])
            case "Notify" where state.isRefusing(): try message.refuse("Failed", "There is no room.")
            case "Notify": try message.answer([.uint32(7)])
            case "GetActive": try message.answer([.boolean(state.isLocked.withLock { $0 })])
            default: try message.answer([])
            }
        }
    }

    /// The methods that it was asked for, with the number of a notification.
    var asked: [String] { state.calls.withLock { $0 } }

    /// The arguments of each `Notify`.
    var notified: [[BusValue]] { state.notifications.withLock { $0 } }

    /// The text of each notification.
    var texts: [String] { notified.compactMap { $0[4].text } }

    /// The user clicks the notification.
    func click(token: String? = nil) {
        // A permission for another notification comes, too.
        for (number, token) in [(7, token), (8, "other")] {
            if let token { program.emit(Self.object, "ActivationToken", [.uint32(UInt32(number)), .string(token)]) }
        }
        program.emit(Self.object, "ActionInvoked", [.uint32(7), .string("default")])
    }

    /// The user dismisses the notification.
    func dismiss() { program.emit(Self.object, "NotificationClosed", [.uint32(7), .uint32(2)]) }

    /// The user unlocks the screen.
    func unlock() {
        state.isLocked.withLock { $0 = false }
        program.emit(Self.saver, "ActiveChanged", [.boolean(false)])
    }
}

/// A logind with one session of the user.
final class Login: Sendable {
    struct State: Sendable {
        var isLocked = false
        var isIdle = false
        var isGoingToSleep = false
    }

    private final class Shared: Sendable { let state = Mutex(State()) }

    private let shared = Shared()
    private let program: BusProgram

    init(on bus: SessionBus, _ state: State) throws {
        let shared = shared
        shared.state.withLock { $0 = state }
        program = try BusProgram(bus.address, BusConnection.loginManager.destination) { message, bus in
            let now = shared.state.withLock { $0 }
            switch message.name.split(separator: ".").last {
            case "ListSessions": try Login.list(message)
            case "GetAll":
                let flags = ["Active": true, "LockedHint": now.isLocked, "IdleHint": now.isIdle]
                let properties = flags.mapValues { BusValue.boolean($0) }.merging(["Class": .string("user")]) { $1 }
                try message.answer([.properties(properties)])
            case "Get": try message.answer([.boolean(now.isGoingToSleep)])
            default: try message.answer(nil)
            }
        }
    }

    private static func list(_ message: ReceivedMessage) throws {
        let session: [BusValue] = [
            .string("2"), .uint32(getuid()), .string("name"), .string("seat0"), .path("/session/2"),
        ]
        try message.answer([.array(of: "(susso)", [.structure(session)])])
    }

    /// Becomes another state, and says that something has changed, or not.
    func become(_ state: State, silently isSilent: Bool = false) {
        shared.state.withLock { $0 = state }
        if !isSilent { program.emit(BusConnection.loginManager, "PrepareForSleep", [.boolean(true)]) }
    }
}
