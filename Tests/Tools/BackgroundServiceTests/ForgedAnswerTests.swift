// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing
import UserBus

/// A program on the user's bus that has no name there, and answers calls that were made to others.
@Suite(.ownThreads, .serialized, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
struct `Answers of somebody who was not asked` {
    private static let buses = Bus.isBrokerInstalled ? [false, true] : [false]
    /// An attack is a matter of chance: with the sender unchecked, some rounds go wrong. The rule itself is that of the ledger.
    private static let rounds = 40

    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func bus(isBroker: Bool) throws -> Bus {
        isBroker ? try Bus(brokerIn: folder.path("")) : try Bus(folder.path(""))
    }

    @Test(arguments: buses) func `do not make it the owner of a name`(isBroker: Bool) throws {
        let bus = try bus(isBroker: isBroker)
        let forger = try BusPeer(folder.path("bus"), geteuid(), "forge", "-")
        #expect(forger.firstLine == "ready")
        for _ in 0..<Self.rounds {
            #expect(try !UserBus(address: bus.address).isRunning("org.example.App"))
        }
    }

    @Test(arguments: buses) func `do not take the place of the answer`(isBroker: Bool) throws {
        let bus = try bus(isBroker: isBroker)
        let forger = try BusPeer(folder.path("bus"), geteuid(), "forge", "-")
        #expect(forger.firstLine == "ready")
        for _ in 0..<Self.rounds {
            let connection = try BusConnection(.user, address: bus.address)
            let known = try connection.ask(BusCall(.daemon, "NameHasOwner", [.string("org.example.App")]))
            #expect(known == [.boolean(false)])
            // One whose answer is waited for by its number, as the service waits for the number of a notification.
            let cookie = try connection.send(BusCall(.daemon, "NameHasOwner", [.string("org.freedesktop.DBus")]))
            var answers: [ReceivedMessage] = []
            let end = ContinuousClock.now + .milliseconds(20)
            while ContinuousClock.now < end || answers.isEmpty {
                if let message = try connection.receive(), message.answersTo == cookie { answers.append(message) }
            }
            #expect(answers.map(\.sender) == ["org.freedesktop.DBus"])
            #expect(answers.map { $0.values() } == [[.boolean(true)]])
        }
    }

    @Test func `do not give an app its name`() throws {
        let bus = try bus(isBroker: false)
        let first = try DeliveryService(desktopID: "org.example.App", address: bus.address) { _ in true }
        let forger = try BusPeer(folder.path("bus"), geteuid(), "forge", "-")
        #expect(forger.firstLine == "ready")
        for _ in 0..<Self.rounds {
            #expect(throws: BusError.self) {
                try DeliveryService(desktopID: "org.example.App", address: bus.address) { _ in true }
            }
        }
        withExtendedLifetime(first) {}
    }
}
