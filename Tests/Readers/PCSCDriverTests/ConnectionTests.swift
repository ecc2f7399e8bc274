// SPDX-License-Identifier: Apache-2.0
import TagLink
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
        ServiceConnection(layer: service, limits: CallTimeouts(call: call, status: look, absence: long, silence: long))
    }

    @Test func `silent service: a call is given up at the shortest of its time limits`() {
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

    @Test
    func
        `closing after a removed card or unplugged reader: LEAVE for UNPOWER, so that a new card keeps its power`()
        throws
    {
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

}
