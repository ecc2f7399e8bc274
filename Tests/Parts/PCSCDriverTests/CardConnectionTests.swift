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

    @Test func `Is closed after a response that came when its call was cut already`() throws {
        let box = Locked<ServiceConnection?>(nil)
        let layer = SampleCards.service(SampleCards.cardAnswer) { _ in
            box.withLock { $0 }?.cancel()
            return [0x90, 0x00]
        }
        let service = ServiceConnection(layer: layer, limits: .usual)
        let connection = CardConnection(service: service, reader: SampleCards.name)
        try connection.open(isInUse: false)
        box.withLock { $0 = service }
        defer { box.withLock { $0 = nil } }
        #expect(try connection.transmit([0, 1, 2, 3]) == [0x90, 0x00])
        #expect(!connection.isOpen)
        #expect(throws: LinkError(.tagRemoved, "")) { try connection.transmit([0, 1, 2, 3]) }
        #expect(layer.commands == ["00010203"])
    }
}
