// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver

/// Checks how calls to libpcsclite from several threads are put in order.
@Suite("The calls to libpcsclite")
struct SystemSmartCardsTests {
    @Test("close one context or card at a time", .ownThreads)
    func oneAtATime() async {
        let cards = SystemSmartCards { _ in .counting }
        let card = SmartCardHandle(handle: 1, activeProtocol: 2, answerToReset: [])
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    if number % 2 == 0 { cards.releaseContext(number) } else { cards.disconnect(card, .leave) }
                }
            }
        }
        #expect(Closings.counts.withLock { $0 } == Closings.Counts(now: 0, most: 1, all: 8))
    }
}

/// The calls of the counting library that close a context or a card.
private enum Closings {
    struct Counts: Equatable {
        /// The calls in progress.
        var now = 0
        /// The most that were in progress at one time.
        var most = 0
        /// All calls.
        var all = 0
    }

    static let counts = Locked(Counts())

    static func count() -> Int {
        counts.withLock { counts in
            counts.now += 1
            counts.all += 1
            counts.most = max(counts.most, counts.now)
        }
        usleep(2000)
        counts.withLock { $0.now -= 1 }
        return 0
    }
}

extension PCSCLite {
    /// A library whose calls take a moment, and count how many there are at a time.
    fileprivate static var counting: PCSCLite {
        unsafe PCSCLite(
            establish: { _, _, _, _ in 0 },
            release: { _ in Closings.count() },
            cancel: { _ in 0 },
            list: { _, _, _, _ in 0 },
            statusChange: { _, _, _, _ in 0 },
            connect: { _, _, _, _, _, _ in 0 },
            reconnect: { _, _, _, _, _ in 0 },
            disconnect: { _, _ in Closings.count() },
            status: { _, _, _, _, _, _, _ in 0 },
            transmit: { _, _, _, _, _, _, _ in 0 },
            control: { _, _, _, _, _, _, _ in 0 },
            attribute: { _, _, _, _ in 0 }
        )
    }
}
