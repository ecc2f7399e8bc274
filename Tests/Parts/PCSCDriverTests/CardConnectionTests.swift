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

    private static func connection(_ service: ScriptedService) -> CardConnection {
        CardConnection(service: ServiceConnection(layer: service, limits: .usual), reader: SampleCards.name)
    }

    @Test func `Is opened anew each time, and an earlier card can't be used any more`() throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: ["00010203": "9000"])
        let connection = Self.connection(service)
        let none = #expect(throws: LinkError.self) { try connection.transmit([0, 1, 2, 3]) }
        #expect(none?.code == .tagRemoved && none?.reason == "The reader has let go of the tag.")
        #expect(!connection.isOpen && !connection.isUsable && !connection.isLost && connection.generation == 0)
        #expect(connection.answerToReset.isEmpty && !connection.isCardThere())
        try connection.open(isInUse: false)
        #expect(connection.isOpen && connection.isUsable && connection.generation == 1 && connection.isCardThere())
        #expect(try connection.transmit([0, 1, 2, 3], generation: 1) == [0x90, 0x00])
        #expect(connection.statistics.exchanges == 1 && connection.statistics.bytesOnAir == 6)
        try connection.open(isInUse: false)
        #expect(service.look(\.dispositions) == [.reset] && connection.generation == 2)
        let old = #expect(throws: LinkError.self) { try connection.transmit([0, 1, 2, 3], generation: 1) }
        #expect(old?.code == .tagRemoved)
        #expect(old?.reason == "The reader has looked for tags again since this one was found.")
        #expect(throws: LinkError(.tagRemoved, "")) { try connection.check(1) }
        try connection.check(2)
        #expect(service.commands == ["00010203"])
        connection.close(.unpower)
        connection.close(.unpower)
        #expect(service.look(\.dispositions) == [.reset, .unpower] && !connection.isOpen)
    }

    @Test func `Is closed with the connection to the service, and not once more after that`() throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: [:])
        let connection = Self.connection(service)
        try connection.open(isInUse: false)
        connection.service.close()
        connection.close(.unpower)
        #expect(!connection.isOpen && service.look { $0.dispositions.isEmpty && $0.contexts.isEmpty })
    }

    @Test func `Is cut where the service does not answer when it is closed, and that is remembered`() throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: [:])
        let limits = CallLimits(call: 600_000, look: 600_000, absence: 600_000, silence: 600_000)
        let connection = CardConnection(
            service: ServiceConnection(layer: service, limits: limits),
            reader: SampleCards.name
        )
        try connection.open(isInUse: false)
        #expect(!connection.service.wasSilent)
        service.change { $0.hanging = [.disconnect] }
        connection.close(.unpower)
        #expect(!connection.isOpen && connection.service.wasSilent && connection.service.losses == 0)
        #expect(service.look { $0.contexts.isEmpty && $0.abandoned.count == 1 })
    }

    @Test func `Is given up where the service does not answer, though nobody else has opened the card`() {
        let service = SampleCards.service(SampleCards.cardAnswer, table: [:])
        service.change { $0.hanging = [.connect] }
        let connection = CardConnection(
            service: ServiceConnection(layer: service, limits: .same(100)),
            reader: SampleCards.name
        )
        let error = #expect(throws: SmartCardError.self) { try connection.open(isInUse: false) }
        #expect(error?.code == .timeout && !connection.isOpen && connection.generation == 0)
    }

    @Test func `Leaves the reader as it is when the card in it can't be woken`() throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: [:])
        let connection = Self.connection(service)
        let card = try #require(service.look { $0.readers[0].card })
        service.change { $0.readers[0].card = nil }
        #expect(throws: SmartCardError(.noSmartcard, "")) { try connection.wake() }
        #expect(service.look { $0.open.isEmpty && $0.dispositions == [.leave] } && !connection.isOpen)
        service.change { $0.readers[0].card = card }
        try connection.wake()
        defer { connection.close(.leave) }
        #expect(connection.isOpen && connection.generation == 1)
        #expect(connection.answerToReset == SampleCards.cardAnswer && service.look(\.resets) == 2)
    }

    @Test(
        arguments: [
            (.removedCard, .reset, .reset), (.removedCard, .unpower, .leave), (.noSmartcard, .unpower, .leave),
            (.readerUnavailable, .reset, .leave), (.readerUnavailable, .unpower, .leave),
            (.notTransacted, .unpower, .unpower),
        ] as [(SmartCardError.Code, SmartCardDisposition, SmartCardDisposition)]
    )
    func `Is closed without a change of what has left while it was open`(
        failure: SmartCardError.Code,
        wanted: SmartCardDisposition,
        done: SmartCardDisposition
    ) throws {
        let service = SampleCards.service(SampleCards.cardAnswer) { _ throws(SmartCardError) in
            throw SmartCardError(failure, "SCardTransmit")
        }
        let connection = Self.connection(service)
        try connection.open(isInUse: false)
        #expect(throws: LinkError.self) { try connection.transmit([0, 1, 2, 3]) }
        #expect(connection.isOpen && connection.isUsable == (failure != .readerUnavailable))
        #expect(connection.isLost == (failure != .notTransacted))
        #expect(connection.statistics.exchanges == 0)
        connection.close(wanted)
        #expect(service.look(\.dispositions) == [done])
        // Another card has not left.
        try connection.open(isInUse: false)
        #expect(connection.isUsable && !connection.isLost)
        connection.close(wanted)
        #expect(service.look(\.dispositions) == [done, wanted])
    }

    @Test func `Is lost with an answer without a status word, and with the service`() throws {
        let silent = Self.connection(SampleCards.service(SampleCards.cardAnswer) { _ in [0x90] })
        try silent.open(isInUse: false)
        #expect(throws: LinkError(.tagRemoved, "")) { try silent.transmit([0, 1, 2, 3]) }
        #expect(silent.isLost && silent.isOpen && silent.statistics.exchanges == 1)
        silent.close(.leave)
        let layer = SampleCards.service(SampleCards.cardAnswer) { _ throws(SmartCardError) in
            throw SmartCardError(.noService, "SCardTransmit")
        }
        let connection = Self.connection(layer)
        try connection.open(isInUse: false)
        #expect(throws: LinkError(.readerUnavailable, "")) { try connection.transmit([0, 1, 2, 3]) }
        #expect(!connection.isOpen && connection.service.losses == 1)
        #expect(layer.look { $0.contexts.isEmpty })
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
