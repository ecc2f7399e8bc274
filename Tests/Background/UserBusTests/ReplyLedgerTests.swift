// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UserBus

/// A ledger that expectations can look at while it changes.
private final class Calls {
    private var ledger = ReplyLedger()

    func note(_ cookie: UInt64, to connection: String) { ledger.note(cookie, to: connection) }

    func take(_ cookie: UInt64, from sender: String, isError: Bool) -> Bool {
        ledger.take(cookie, from: sender, isError: isError)
    }

    func awaits(_ connection: String) -> Bool { ledger.awaits(connection) }
}

/// Whose answer to a call counts: of the one who was asked, and errors of the bus.
@Suite struct `The ledger of calls` {
    private static let daemon = ReplyLedger.daemon

    @Test func `An answer counts from who was asked alone, and once`() {
        let ledger = Calls()
        ledger.note(7, to: ":1.4")
        #expect(!ledger.take(7, from: ":1.5", isError: false))
        #expect(!ledger.take(7, from: ":1.5", isError: true))
        // Another connection whose name begins the same, and no sender at all.
        #expect(!ledger.take(7, from: ":1.42", isError: false))
        #expect(!ledger.take(7, from: "", isError: false))
        #expect(ledger.take(7, from: ":1.4", isError: false))
        #expect(!ledger.take(7, from: ":1.4", isError: false))
    }

    @Test func `The bus answers for others by errors alone, and for itself by anything`() {
        let ledger = Calls()
        ledger.note(7, to: ":1.4")
        #expect(!ledger.take(7, from: Self.daemon, isError: false))
        #expect(ledger.take(7, from: Self.daemon, isError: true))
        ledger.note(8, to: Self.daemon)
        #expect(!ledger.take(8, from: ":1.4", isError: true))
        #expect(ledger.take(8, from: Self.daemon, isError: false))
    }

    @Test func `Who was asked owes an answer until it counts`() {
        let ledger = Calls()
        for cookie: UInt64 in 7...8 { ledger.note(cookie, to: Self.daemon) }
        for left in [true, false] {
            #expect(ledger.awaits(Self.daemon) && !ledger.awaits(":1.4"))
            #expect(ledger.take(left ? 7 : 8, from: Self.daemon, isError: false))
            #expect(ledger.awaits(Self.daemon) == left)
        }
    }

    @Test func `An answer to a call that was never made does not count`() {
        let ledger = Calls()
        ledger.note(7, to: ":1.4")
        #expect(!ledger.take(8, from: ":1.4", isError: false))
        #expect(!ledger.take(6, from: Self.daemon, isError: true))
    }

    @Test func `Calls that are never answered are forgotten, the oldest first`() {
        let ledger = Calls()
        for cookie in 0...UInt64(ReplyLedger.capacity) { ledger.note(cookie, to: ":1.4") }
        #expect(!ledger.take(0, from: ":1.4", isError: false))
        #expect(ledger.take(1, from: ":1.4", isError: false))
        #expect(ledger.take(UInt64(ReplyLedger.capacity), from: ":1.4", isError: false))
    }

    @Test func `1024 calls without an answer are known, and those that were answered do not count`() {
        let ledger = Calls()
        for cookie: UInt64 in 0..<1024 { ledger.note(cookie, to: ":1.4") }
        for cookie: UInt64 in [1, 3] { #expect(ledger.take(cookie, from: ":1.4", isError: false)) }
        // Two take the places of those that were answered, and the third that of the oldest.
        for cookie: UInt64 in 1024...1026 { ledger.note(cookie, to: ":1.4") }
        #expect(!ledger.take(0, from: ":1.4", isError: false))
        for cookie: UInt64 in [2, 4] { #expect(ledger.take(cookie, from: ":1.4", isError: false)) }
    }
}
