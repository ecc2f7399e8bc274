// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// Checks a PN532 that is a card for another reader (PN532 user manual, 7.3.14 to 7.3.21).
@Suite(.timeLimit(.minutes(1))) struct `A PN532 that is a card` {
    /// Where the card is brought near a reader.
    private final class Place: CardPlace {
        let cards = Locked<[HostedCard]>([])
        let calls = Locked<[String]>([])
        /// How often the host was told that it can ask again.
        let changes = Locked(0)
        var card: HostedCard? { cards.withLock { $0.last } }

        func bring(_ card: HostedCard) {
            cards.withLock { $0.append(card) }
            calls.withLock { $0.append("bring") }
        }

        func remove() {
            // Whoever waits for the card hears first that it answers no more.
            let isOver = card?.isListening == false
            calls.withLock { $0.append(isOver ? "remove" : "remove what listens") }
        }
    }

    private let place = Place()

    private func chip(parameters: UInt8 = 0x34) async -> PN53xChip {
        var chip = PN53xChip(field: VirtualField(), place: place) { [place] in place.changes.withLock { $0 += 1 } }
        _ = await chip.receive([0x12, parameters])
        return chip
    }

    /// TgInitAsTarget.
    private static func initiate(
        mode: UInt8 = 0x05,
        sak: UInt8 = 0x20,
        general: [UInt8] = [],
        historical: [UInt8] = []
    ) -> [UInt8] {
        let feliCa = [UInt8](repeating: 0, count: 18)
        let identifier = [UInt8](repeating: 0, count: 10)
        return [0x8C, mode, 0x04, 0x03, 0x11, 0x22, 0x33, sak] + feliCa + identifier + [UInt8(general.count)] + general
            + [UInt8(historical.count)] + historical
    }

    /// Lets a reader send a command, on a thread of its own.
    private static func ask(_ card: HostedCard, _ command: [UInt8]) -> Task<[UInt8]?, Never> {
        // A reader does not go on because its time is over, however long a machine with much to do takes for the answer.
        card.allow(seconds: 600)
        return Task {
            await handedOver { done in DispatchQueue.global().async { done(card.respond(to: command)) } }
        }
    }

    /// Asks the chip until it does not wait any more.
    private static func outcome(_ chip: inout PN53xChip, _ command: [UInt8]) async -> PN53xChip.Outcome {
        while true {
            let outcome = await chip.receive(command)
            if outcome != .waiting { return outcome }
            await Task.yield()
        }
    }

    @Test func `It waits for a reader, and has what the host gave it`() async throws {
        var chip = await chip()
        let command = Self.initiate(general: [1, 2, 3], historical: [0xCA, 0xFE])
        #expect(await chip.receive(command) == .waiting)
        let card = try #require(place.card)
        #expect(card.identity.atqa == 0x0304 && card.identity.sak == 0x20)
        #expect(card.identity.uid == [0x08, 0x11, 0x22, 0x33])
        #expect(card.identity.answerToSelect == [7, 0x75, 0x33, 0x92, 0x03, 0xCA, 0xFE])
        #expect(await chip.receive([0x8A]) == .answer([0, 0]))
        #expect(await chip.receive([0x86]) == .answer([0x27]))
        // Asking again brings no other card.
        #expect(await chip.receive(command) == .waiting)
        #expect(place.changes.withLock { $0 } == 0)
        card.activated()
        card.activated()
        #expect(place.changes.withLock { $0 } == 1)
        #expect(await chip.receive(command) == .answer([0x08, 0xE0, 0x80]))
        #expect(await chip.receive([0x8A]) == .answer([1, 0]))
        #expect(place.calls.withLock { $0 } == ["bring"])
        // Another identity is another card.
        #expect(await chip.receive(Self.initiate()) == .waiting)
        #expect(place.calls.withLock { $0 } == ["bring", "remove", "bring"])
    }

    @Test func `Without ISO-DEP in its parameters, its SAK or its mode it is no card`() async {
        for (parameters, mode, sak) in [(0x14, 0x05, 0x20), (0x34, 0x05, 0x00), (0x34, 0x02, 0x20), (0x34, 0x07, 0x20)]
            as [(UInt8, UInt8, UInt8)]
        {
            var chip = await chip(parameters: parameters)
            #expect(await chip.receive(Self.initiate(mode: mode, sak: sak)) == .waiting)
            #expect(await chip.receive([0x86]) == .answer([0x27]))
        }
        #expect(place.calls.withLock { $0 } == [])
        // It does not go on as the card that it was.
        var chip = await chip()
        _ = await chip.receive(Self.initiate())
        #expect(await chip.receive(Self.initiate(mode: 0x02)) == .waiting)
        #expect(place.calls.withLock { $0 } == ["bring", "remove"])
    }

    @Test func `It has no field of its own while it is one`() async {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        var chip = PN53xChip(field: field, place: place)
        _ = await chip.receive([0x12, 0x34])
        _ = await chip.receive([0x4A, 1, 0])
        #expect(await chip.receive(Self.initiate()) == .waiting)
        #expect(await chip.receive([0x42, 0x30, 0]) == .answer([0x27]))
        #expect(await chip.receive([0x40, 1, 0x30, 0]) == .answer([0x27]))
    }

    @Test func `General and historical bytes are 47 and 48 at most, and as many as it says`() async {
        var chip = await chip()
        let whole = Self.initiate(
            general: [UInt8](repeating: 1, count: 47),
            historical: [UInt8](repeating: 2, count: 48)
        )
        #expect(await chip.receive(whole) == .waiting)
        #expect(place.card?.identity.answerToSelect.count == 53)
        for command in [
            Self.initiate(general: [UInt8](repeating: 1, count: 48)),
            Self.initiate(historical: [UInt8](repeating: 2, count: 49)), whole + [0], whole.dropLast() + [],
            Array(Self.initiate().dropLast()), Array(Self.initiate(general: [1, 2, 3]).dropLast()), [0x8C],
        ] as [[UInt8]] {
            #expect(await chip.receive(command) == .syntaxError)
        }
        // An error of the syntax leaves the card as it is.
        #expect(place.calls.withLock { $0 } == ["bring"])
    }

    @Test func `A reader's commands go to the host, in parts when they are long, and its answers back`() async throws {
        var chip = await chip()
        _ = await chip.receive(Self.initiate())
        let card = try #require(place.card)
        card.activated()
        // Nobody has asked yet.
        #expect(await chip.receive([0x8E, 0x90, 0x00]) == .answer([0x27]))
        #expect(await chip.receive([0x86]) == .waiting)
        let first = Self.ask(card, [0, 0xA4])
        #expect(await Self.outcome(&chip, [0x86]) == .answer([0, 0, 0xA4]))
        #expect(await chip.receive([0x86]) == .waiting)
        #expect(await chip.receive([0x8E, 0x90, 0x00]) == .answer([0]))
        #expect(await first.value == [0x90, 0x00])
        let long = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        let second = Self.ask(card, long)
        #expect(await Self.outcome(&chip, [0x86]) == .answer([0x40] + long[..<262]))
        #expect(await chip.receive([0x86]) == .answer([0x40] + long[262..<524]))
        #expect(await chip.receive([0x86]) == .answer([0] + long[524...]))
        #expect(await chip.receive([0x94, 1, 2]) == .answer([0]))
        #expect(await chip.receive([0x94, 3]) == .answer([0]))
        #expect(await chip.receive([0x8E, 0x90, 0x00]) == .answer([0]))
        #expect(await second.value == [1, 2, 3, 0x90, 0x00])
        // Nobody asks.
        #expect(await chip.receive([0x8E, 0x90, 0x00]) == .answer([0x27]))
        // For each command, and once for the activation.
        #expect(place.changes.withLock { $0 } == 3)
    }

    @Test func `A host that answers before it has all of a command has the next one from its start`() async throws {
        var chip = await chip()
        _ = await chip.receive(Self.initiate())
        let card = try #require(place.card)
        card.activated()
        let long = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        let first = Self.ask(card, long)
        #expect(await Self.outcome(&chip, [0x86]) == .answer([0x40] + long[..<262]))
        #expect(await chip.receive([0x8E, 0x67, 0x00]) == .answer([0]))
        #expect(await first.value == [0x67, 0x00])
        let second = Self.ask(card, [1])
        #expect(await Self.outcome(&chip, [0x86]) == .answer([0, 1]))
        #expect(await chip.receive([0x8E, 0x90, 0x00]) == .answer([0]))
        #expect(await second.value == [0x90, 0x00])
    }

    @Test func `An answer has 65538 bytes at most`() async throws {
        var chip = await chip()
        _ = await chip.receive(Self.initiate())
        let card = try #require(place.card)
        card.activated()
        let asked = Self.ask(card, [1])
        _ = await Self.outcome(&chip, [0x86])
        let most = [UInt8](repeating: 7, count: 65538)
        #expect(await chip.receive([0x94] + most) == .answer([0]))
        #expect(await chip.receive([0x94, 1]) == .answer([0x07]))
        // The parts before it are forgotten.
        #expect(await chip.receive([0x94] + most.dropLast()) == .answer([0]))
        #expect(await chip.receive([0x8E, 8]) == .answer([0]))
        #expect(await asked.value == most.dropLast() + [8])
    }

    @Test func `A reader that deselects the card, or takes the field away, is told to the host`() async throws {
        for (isDeselected, status) in [(true, 0x29), (false, 0x0A)] as [(Bool, UInt8)] {
            func leave(_ card: HostedCard) { if isDeselected { card.deselected() } else { card.lostField() } }
            var chip = await chip()
            _ = await chip.receive(Self.initiate())
            let card = try #require(place.card)
            // Before it is activated, nothing is lost.
            leave(card)
            #expect(card.isListening)
            card.activated()
            let before = place.changes.withLock { $0 }
            leave(card)
            leave(card)
            #expect(place.changes.withLock { $0 } == before + 1)
            #expect(await chip.receive([0x8A]) == .answer([2, 0]))
            #expect(await chip.receive([0x86]) == .answer([status]))
            #expect(await chip.receive([0x8E, 1]) == .answer([status]))
            #expect(card.respond(to: [1]) == nil)
            // The host listens again.
            #expect(await chip.receive(Self.initiate()) == .waiting)
            #expect(place.card !== card)
        }
    }

    @Test func `A reader whose command is not answered in time has no answer, and the host comes too late`()
        async throws
    {
        var chip = await chip()
        _ = await chip.receive(Self.initiate())
        let card = try #require(place.card)
        card.allow(seconds: 0)
        card.activated()
        #expect(card.respond(to: [1, 2]) == nil)
        #expect(!card.isListening)
        // The command is still the host's, and then the reader is gone.
        #expect(await chip.receive([0x86]) == .answer([0, 1, 2]))
        #expect(await chip.receive([0x8E, 0x90, 0x00]) == .answer([0x0A]))
    }

    @Test(
        arguments: [
            [0x40, 1], [0x42, 1], [0x44, 0], [0x46], [0x4A, 1, 0], [0x4E], [0x50], [0x52, 0], [0x54, 1], [0x56],
            [0x60, 1, 1, 0], [0x16, 1], [0x32, 1, 1],
        ] as [[UInt8]]
    ) func `A command to a tag ends it, and with it the wait of a reader`(command: [UInt8]) async throws {
        var chip = await chip()
        _ = await chip.receive(Self.initiate())
        let card = try #require(place.card)
        card.activated()
        let asked = Self.ask(card, [1])
        #expect(await Self.outcome(&chip, [0x86]) == .answer([0, 1]))
        _ = await chip.receive(command)
        #expect(!card.isListening)
        #expect(await asked.value == nil)
        #expect(place.calls.withLock { $0 } == ["bring", "remove"])
        #expect(await chip.receive([0x86]) == .answer([0x27]))
    }

    @Test(arguments: [[0x00, 0x01], [0x02], [0x04], [0x06, 0x63, 0x02], [0x12, 0x34], [0x8A]] as [[UInt8]])
    func `A command about the chip alone does not end it`(command: [UInt8]) async throws {
        var chip = await chip()
        _ = await chip.receive(Self.initiate())
        try #require(place.card).activated()
        _ = await chip.receive(command)
        #expect(await chip.receive([0x8A]) == .answer([1, 0]))
        #expect(place.calls.withLock { $0 } == ["bring"])
    }

    @Test func `A host that stops waiting takes the card away, unless a reader has it`() async throws {
        var chip = await chip()
        _ = await chip.receive(Self.initiate())
        chip.stopWaiting()
        #expect(place.calls.withLock { $0 } == ["bring", "remove"])
        _ = await chip.receive(Self.initiate())
        try #require(place.card).activated()
        chip.stopWaiting()
        #expect(place.calls.withLock { $0 } == ["bring", "remove", "bring"])
        await chip.reset()
        #expect(place.calls.withLock { $0 } == ["bring", "remove", "bring", "remove"])
        #expect(await chip.receive([0x8A]) == .answer([0, 0]))
    }

    @Test func `A host on a line stops waiting with an acknowledgement, and takes the card away only then`() async {
        var device = PN532SerialDevice(field: VirtualField(), place: place)
        await device.receive(hostFrame([0x12, 0x34]) + hostFrame(Self.initiate())) { _ in }
        #expect(place.calls.withLock { $0 } == ["bring"])
        // It acknowledges an answer, and waits for nothing.
        await device.receive(hostFrame([0x02]) + PN532ChipFrame.acknowledge) { _ in }
        #expect(place.calls.withLock { $0 } == ["bring"])
        await device.receive(hostFrame(Self.initiate()) + PN532ChipFrame.acknowledge) { _ in }
        #expect(place.calls.withLock { $0 } == ["bring", "remove"])
    }
}
