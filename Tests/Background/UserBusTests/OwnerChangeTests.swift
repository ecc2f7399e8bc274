// SPDX-License-Identifier: Apache-2.0
import BusTesting
import TestThreads
import Testing

@testable import UserBus

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `Another owner of a name` {
    private static let name = "org.example.App"
    private let bus: TestBus

    init() throws { bus = try TestBus() }

    @Test func `is what the bus reports, and nobody else, as often as the message is read`() throws {
        let listener = try BusConnection(.user, address: bus.address)
        try listener.listen(to: "member='NameOwnerChanged'")
        // Another program says the same, of a name that it has not.
        let liar = try Peer(bus.address, "org.example.Liar")
        let lie: [BusValue] = [.string("org.example.Other"), .string(""), .string(liar.owner)]
        liar.emit(BusCall.Object("", "/org/freedesktop/DBus", "org.freedesktop.DBus"), "NameOwnerChanged", lie)
        let app = try Peer(bus.address, Self.name)
        var changes: [OwnerChange] = []
        func read(until isDone: (OwnerChange) -> Bool) throws {
            while !(changes.last.map(isDone) ?? false) {
                guard let message = try listener.receive() else {
                    listener.wait(.milliseconds(5))
                    continue
                }
                guard let change = OwnerChange(message) else { continue }
                #expect(OwnerChange(message) == change)
                #expect(message.values().map(\.text) == [change.name, change.old, change.new])
                changes.append(change)
            }
        }
        try read { $0.name == Self.name }
        #expect(changes.last?.old == "" && changes.last?.new == app.owner)
        #expect(changes.contains { $0.name == "org.example.Liar" && $0.new == liar.owner })
        #expect(!changes.contains { $0.name == "org.example.Other" })
        app.stop()
        try read { $0.name == Self.name && $0.new.isEmpty }
        #expect(changes.last?.old == app.owner)
        withExtendedLifetime(liar) {}
    }
}
