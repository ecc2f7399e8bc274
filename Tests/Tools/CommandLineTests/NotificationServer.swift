// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestThreads
import Testing
import UserBus

/// A program with the bus name of the notification service, and perhaps with that of a screen saver. It answers, and records
/// the calls.
final class NotificationServer: Sendable {
    static let name = "org.freedesktop.Notifications"
    static let object = BusCall.Object(name, "/org/freedesktop/Notifications", name)
    static let saver = BusCall.Object("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver")

    private let calls = Mutex<[String]>([])
    private let notifications = Mutex<[[BusValue]]>([])
    private let owner = Mutex<String?>(nil)
    private let signals = Mutex<[(object: BusCall.Object, name: String, values: [BusValue])]>([])
    private let isHolding: Mutex<Bool>
    private let refusals: Mutex<Int>
    private let isLocked: Mutex<Bool?>
    private let isStopped = Mutex(false)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - replaces: whether it takes the name from another one.
    ///   - holds: whether it answers `Notify` only when it is let go on.
    ///   - refusals: how many notifications it refuses at first.
    ///   - isLocked: whether its screen saver covers the screen; nil if it has none.
    init(
        _ address: String,
        replaces: Bool = false,
        holds: Bool = false,
        refusals: Int = 0,
        isLocked: Bool? = nil
    ) throws {
        isHolding = Mutex(holds)
        self.refusals = Mutex(refusals)
        self.isLocked = Mutex(isLocked)
        Thread.detachNewThread { [self] in
            defer { ended.signal() }
            try? run(address, replaces)
        }
        waitWhile(own == nil)
        try #require(own != nil)
    }

    private func run(_ address: String, _ replaces: Bool) throws {
        let bus = try BusConnection(.user, address: address)
        try bus.take(Self.name, yields: true, replaces: replaces)
        if isLocked.withLock({ $0 != nil }) { try bus.take(Self.saver.destination) }
        let names = try bus.ask(BusCall(.daemon, "GetNameOwner", [.string(Self.name)]))
        owner.withLock { $0 = names.first?.text }
        var held: [ReceivedMessage] = []
        while !isStopped.withLock({ $0 }) {
            while let message = try bus.receive() {
                guard message.isCall else { continue }
                // What it was to say before it was asked goes before the answer.
                let waiting = signals.withLock { signals in
                    defer { signals = [] }
                    return signals
                }
                for signal in waiting { try bus.emit(signal.object, signal.name, signal.values) }
                let member = message.name.split(separator: ".").last.map(String.init) ?? ""
                if member == "Notify" {
                    let values = message.arguments("susssasa{sv}i") ?? []
                    notifications.withLock { $0.append(values) }
                }
                let number = message.arguments("u")?.first?.integer
                calls.withLock { $0.append(number.map { "\(member) \($0)" } ?? member) }
                switch member {
                case "GetCapabilities": try message.answer([.strings(["body", "actions"])])
                case "Notify" where isRefusing(): try message.refuse("Failed", "There is no room.")
                case "Notify": held.append(message)
                case "GetActive": try message.answer([.boolean(isLocked.withLock { $0 == true })])
                default: try message.answer([])
                }
            }
            if !isHolding.withLock({ $0 }) {
                for message in held { try message.answer([.uint32(7)]) }
                held = []
            }
            var poller = pollfd(fd: bus.descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, 20)
        }
    }

    private func isRefusing() -> Bool {
        refusals.withLock { refusals in
            refusals -= 1
            return refusals >= 0
        }
    }

    /// Has the screen saver uncover the screen, which it reports before its next answer.
    func unlock() {
        isLocked.withLock { $0 = false }
        signals.withLock { $0.append((Self.saver, "ActiveChanged", [.boolean(false)])) }
    }

    /// Its own name on the bus.
    var own: String? { owner.withLock { $0 } }

    /// What it was asked, with the number of a notification.
    var asked: [String] { calls.withLock { $0 } }

    /// The arguments of each `Notify`.
    var notified: [[BusValue]] { notifications.withLock { $0 } }

    /// Makes it emit a signal before its next answer.
    func emit(_ name: String, _ values: [BusValue]) { signals.withLock { $0.append((Self.object, name, values)) } }

    /// Lets it answer `Notify`.
    func goOn() { isHolding.withLock { $0 = false } }

    /// Waits until it was asked something so often.
    func isAsked(_ call: String, times: Int = 1) -> Bool {
        for _ in 0..<3000 {
            if asked.count(where: { $0 == call }) >= times { return true }
            usleep(10_000)
        }
        return false
    }

    func stop() {
        isStopped.withLock { $0 = true }
        ended.wait()
    }
}
