// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver  // connections and their limits are internal

/// The connections to the service and to a card: opened, limited, cut and closed.
@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
    private typealias Cards = SampleCards
    private static let long = SampleCards.longTime

    private static func connection(
        _ service: ScriptedService,
        call: Int = long,
        look: Int = long
    ) -> ServiceConnection {
        ServiceConnection(layer: service, limits: CallLimits(call: call, look: look, absence: long, silence: long))
    }

    // MARK: The service

    @Test func `a silent service: given up at the shortest limit of caller, look and call`() {
        for (within, look, call) in [
            (30, Self.long, Self.long), (nil, 30, Self.long), (Self.long, 30, Self.long), (nil, Self.long, 30),
            (Self.long, Self.long, 30),
        ] as [(Int?, Int, Int)] {
            let service = Cards.card()
            service.change { $0.hanging = [.establish] }
            #expect(throws: SmartCardError(.timeout, "")) {
                try Self.connection(service, call: call, look: look).readers(within: within)
            }
        }
    }

    // MARK: A card

    @Test func `a card that left or whose reader was unplugged: closed without a change of what is there`() throws {
        for (failure, wanted, done) in [
            (.removedCard, .reset, .reset), (.removedCard, .unpower, .leave), (.noSmartcard, .unpower, .leave),
            (.readerUnavailable, .reset, .leave), (.readerUnavailable, .unpower, .leave),
            (.notTransacted, .unpower, .unpower),
        ] as [(SmartCardError.Code, SmartCardDisposition, SmartCardDisposition)] {
            let service = Cards.service(Cards.cardAnswer) { _ throws(SmartCardError) in
                throw SmartCardError(failure, "")
            }
            let connection = Cards.connection(service)
            try connection.open(isInUse: false)
            #expect(throws: LinkError.self) { try connection.transmit([0, 1, 2, 3]) }
            #expect(connection.isOpen && connection.isUsable == (failure != .readerUnavailable), "\(failure)")
            #expect(connection.isLost == (failure != .notTransacted) && connection.statistics.exchanges == 0)
            connection.close(wanted)
            #expect(service.look(\.dispositions) == [done], "\(failure)")
            // Another card has not left.
            try connection.open(isInUse: false)
            #expect(connection.isUsable && !connection.isLost)
            connection.close(wanted)
            #expect(service.look(\.dispositions) == [done, wanted])
        }
        for answer in [[], [0x90]] as [[UInt8]] {
            let connection = Cards.connection(Cards.service(Cards.cardAnswer) { _ in answer })
            try connection.open(isInUse: false)
            #expect(throws: LinkError(.tagRemoved, "")) { try connection.transmit([0, 1, 2, 3]) }
            #expect(connection.isLost && connection.isOpen && connection.statistics.exchanges == 1)
            connection.close(.leave)
        }
    }

    // MARK: Limits and waits

    @Test func `a call limit: cuts a call once at its own time, none that came back, none while interrupted`()
        async throws
    {
        let (cuts, continuation) = AsyncStream.makeStream(of: Void.self)
        weak var freed: CallLimit?
        do {
            let limit = CallLimit(milliseconds: 3_600_000) { continuation.yield() }
            freed = limit
            var next = cuts.makeAsyncIterator()
            for _ in 0..<5 {
                try limit.begin()
                // The thread that watches sleeps until the first limit, an hour, once it has looked.
                usleep(2000)
                #expect(limit.end() == nil)
                try limit.begin(within: 1)
                _ = await next.next(isolation: nil)
                #expect(limit.end() == .timeout)
            }
            limit.cancel()
            try limit.begin()
            #expect(limit.end() == nil)
            try limit.begin()
            for _ in 0..<2 { limit.cancel() }
            #expect(limit.end() == .timeout)
            limit.interrupt()
            #expect(throws: SmartCardError.self) { try limit.begin() }
            limit.resume()
            try limit.begin()
            limit.interrupt()
            #expect(limit.end() == .cancelled)
            continuation.finish()
            var count = 0
            while await next.next(isolation: nil) != nil { count += 1 }
            #expect(count == 2)
            limit.finish()
        }
        // It keeps no thread, and nothing of itself.
        try await waitWhile(freed != nil)
    }

}
