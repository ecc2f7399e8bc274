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

    @Test func `the service: opened once, opened again after it was closed or lost`() throws {
        let service = Cards.card()
        let connection = Self.connection(service)
        for _ in 0..<2 { #expect(try connection.readers().map(\.reader) == [Cards.name]) }
        let first = service.look(\.contexts)
        #expect(first.count == 1)
        for _ in 0..<2 { connection.close() }
        #expect(service.look { $0.contexts.isEmpty })
        _ = try connection.readers()
        #expect(service.look(\.contexts).count == 1 && service.look(\.contexts).isDisjoint(with: first))
        #expect(connection.losses == 0)
        service.change { $0.isRunning = false }
        // The connection is lost at the first call; at the second there is none.
        for _ in 0..<2 {
            #expect(throws: SmartCardError(.noService, "")) { try connection.readers() }
            #expect(service.look { $0.contexts.isEmpty } && connection.losses == 1)
        }
        service.change { $0.isRunning = true }
        #expect(try connection.readers().count == 1)
    }

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

    @Test func `a card: opened again each time, an earlier one can't be used, its ATR is that after a reset`() throws {
        let service = Cards.service(Cards.cardAnswer, table: ["00010203": "9000"])
        let connection = Cards.connection(service)
        #expect(throws: LinkError(.tagRemoved, "")) { try connection.transmit([0, 1, 2, 3]) }
        try connection.open(isInUse: false)
        #expect(connection.isOpen && connection.isUsable && connection.generation == 1 && connection.isCardThere())
        #expect(try connection.transmit([0, 1, 2, 3], generation: 1) == [0x90, 0x00])
        #expect(connection.statistics.exchanges == 1 && connection.statistics.bytesOnAir == 6)
        try connection.open(isInUse: false)
        #expect(service.look(\.dispositions) == [.reset] && connection.generation == 2)
        #expect(throws: LinkError(.tagRemoved, "")) { try connection.transmit([0, 1, 2, 3], generation: 1) }
        #expect(throws: LinkError(.tagRemoved, "")) { try connection.check(1) }
        #expect(service.commands == ["00010203"] && connection.answerToReset == Cards.cardAnswer)
        service.change { $0.readers[0].card?.answerToReset = Cards.type2Answer }
        try connection.reset()
        #expect(connection.answerToReset == Cards.type2Answer)
        for _ in 0..<2 { connection.close(.unpower) }
        #expect(service.look(\.dispositions) == [.reset, .unpower] && !connection.isOpen)
        // It is closed with the connection to the service, and not once more after that.
        try connection.open(isInUse: false)
        connection.service.close()
        connection.close(.unpower)
        #expect(!connection.isOpen && service.look { $0.dispositions.count == 2 && $0.contexts.isEmpty })
    }

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
