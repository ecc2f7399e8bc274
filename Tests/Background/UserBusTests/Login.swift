// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Synchronization

@testable import UserBus  // the calls of a connection are internal

/// A logind on a bus.
struct Login: Sendable {
    var sessions: [(id: String, user: UInt32, seat: String)] = [
        ("2", 1000, "seat0"), ("c1", 1000, ""), ("3", 7, "seat0"),
    ]
    var properties: [String: BusValue] = [
        "Class": .string("user"), "Active": .boolean(true), "LockedHint": .boolean(false), "IdleHint": .boolean(true),
    ]
    /// Whether the system is about to sleep.
    var isGoingToSleep = false
    /// What it answers in place of the properties of a session.
    var answer: Peer.Answer?
    /// Whether a session that was asked for is then gone.
    var forgets = false
    /// Whether the system is about to sleep when it is asked.
    var isFallingAsleep: @Sendable () -> Bool = { false }

    func peer(_ bus: TestBus) throws -> Peer {
        let login = self
        let gone = Gone()
        return try Peer(bus.address, "org.freedesktop.login1") { call in
            switch call.name {
            case "org.freedesktop.login1.Manager.ListSessions":
                let sessions = login.sessions.filter { !gone.contains("/session/" + $0.id) }
                let list = sessions.map { session in
                    BusValue.structure([
                        .string(session.id), .uint32(session.user), .string("name"), .string(session.seat),
                        .path("/session/" + session.id),
                    ])
                }
                return .values([.array(of: "(susso)", list), .string("second")])
            case "org.freedesktop.DBus.Properties.Get"
            where call.values == [.string("org.freedesktop.login1.Manager"), .string("PreparingForSleep")]:
                return .values([.boolean(login.isGoingToSleep || login.isFallingAsleep())])
            case "org.freedesktop.DBus.Properties.GetAll"
            where call.values == [.string("org.freedesktop.login1.Session")]:
                if login.forgets { gone.insert(call.path) }
                return login.answer ?? .values([.properties(login.properties), .string("second")])
            default: return .unknown
            }
        }
    }
}

/// The objects that are gone.
private final class Gone: Sendable {
    private let paths = Mutex<Set<String>>([])

    func contains(_ path: String) -> Bool { paths.withLock { $0.contains(path) } }

    func insert(_ path: String) { paths.withLock { _ = $0.insert(path) } }
}
