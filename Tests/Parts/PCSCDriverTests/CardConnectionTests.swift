// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver

@Suite struct `The connection to a card` {
    @Test func `Has the ATR that the card sends after a reset`() throws {
        let service = SampleCards.service(SampleCards.type2Answer, table: [:])
        let connection = CardConnection(
            service: ServiceConnection(layer: service, limits: .usual),
            reader: SampleCards.name
        )
        try connection.open(isInUse: false)
        defer { connection.close(.leave) }
        #expect(connection.answerToReset == SampleCards.type2Answer)
        service.change { $0.readers[0].card?.answerToReset = SampleCards.cardAnswer }
        try connection.reset()
        #expect(connection.answerToReset == SampleCards.cardAnswer)
    }
}
