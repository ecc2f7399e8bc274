// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// A PN532 that is a card for another reader (PN532 user manual UM0701-02, 7.3.14 to 7.3.21).
@Suite(.timeLimit(.minutes(1))) struct PN53xCardModeTests {
    /// The field of the other reader, and what the chip has called.
    final class OtherField: CardSlot {
        let cards = Locked<[HostedCard]>([])
        let calls = Locked<[String]>([])
        /// How often the host was told to ask again.
        let changes = Locked(0)
        var card: HostedCard? { cards.withLock { $0.last } }

        func bring(_ card: HostedCard) {
            cards.withLock { $0.append(card) }
            calls.withLock { $0.append("bring") }
        }

        func remove() {
            // The wait of a reader has to end before.
            let isOver = card?.isListening == false
            calls.withLock { $0.append(isOver ? "remove" : "remove a listening card") }
        }
    }

    private let other = OtherField()

    private func chip() async -> HostScript<PN53xChip> {
        var host = HostScript<PN53xChip> { field in
            PN53xChip(field: field, place: other) { [other] in other.changes.withLock { $0 += 1 } }
        }
        await host.run("12 34 -> empty")
        return host
    }

    /// TgInitAsTarget for a card of ISO/IEC 14443-4 with the UID 08 11 22 33.
    static func initiate(mode: String = "05", general: String = "", historical: String = "") -> String {
        let (zeros, generalCount) = (String(repeating: "00", count: 28), UInt8(general.count / 2))
        return "8C \(mode) 0403 112233 20 \(zeros) \([generalCount].hex)\(general) "
            + [UInt8(historical.count / 2)].hex + historical
    }

    /// A chip whose card a reader has activated.
    private func activated() async throws -> (HostScript<PN53xChip>, HostedCard) {
        var chip = await chip()
        await chip.run(Self.initiate() + " -> waiting")
        let card = try #require(other.card)
        card.activated()
        return (chip, card)
    }

    /// Lets a reader send a command, on a thread of its own.
    private static func ask(_ card: HostedCard, _ command: [UInt8]) -> Task<[UInt8]?, Never> {
        // Longer than any machine needs for the answer.
        card.allow(seconds: 600)
        return Task {
            await withCompletion { done in DispatchQueue.global().async { done(card.respond(to: command)) } }
        }
    }

    /// TgGetData until the reader's command is there.
    private static func data(_ host: inout HostScript<PN53xChip>) async -> String {
        while true {
            let answer = await host.device.answer(to: "86")
            if answer != "waiting" { return answer }
            await Task.yield()
        }
    }

    @Test func `TgInitAsTarget: waits for a reader with the host's identity, then reports the reader's RATS`()
        async throws
    {
        var chip = await chip()
        let command = Self.initiate(general: "010203", historical: "CAFE")
        await chip.run("\(command) -> waiting\n8A -> 00 00\n86 -> 27\n\(command) -> waiting")
        let card = try #require(other.card)
        #expect(card.identity.atqa == 0x0304 && card.identity.sak == 0x20)
        #expect(card.identity.uid == [0x08, 0x11, 0x22, 0x33])
        #expect(card.identity.answerToSelect == [7, 0x75, 0x33, 0x92, 0x03, 0xCA, 0xFE])
        #expect(other.changes.withLock { $0 } == 0)
        for _ in 0..<2 { card.activated() }
        #expect(other.changes.withLock { $0 } == 1)
        await chip.run("\(command) -> 08 E0 80\n8A -> 01 00")
        #expect(other.calls.withLock { $0 } == ["bring"])
        // Another identity is another card, and in raw mode there is none.
        await chip.run("\(Self.initiate()) -> waiting\n\(Self.initiate(mode: "02")) -> waiting\n86 -> 27")
        #expect(other.calls.withLock { $0 } == ["bring", "remove", "bring", "remove"])
    }

    @Test func `TgInitAsTarget: more than 47 general or 48 historical bytes, or a wrong length, are a syntax error`()
        async
    {
        func bytes(_ count: Int) -> String { String(repeating: "01", count: count) }
        var chip = await chip()
        let whole = Self.initiate(general: bytes(47), historical: bytes(48))
        await chip.run(
            """
            \(whole) -> waiting
            \(Self.initiate(general: bytes(48))) -> syntax error
            \(Self.initiate(historical: bytes(49))) -> syntax error
            \(whole) 00 -> syntax error
            \(whole.dropLast(2)) -> syntax error
            8C -> syntax error
            """
        )
        #expect(other.card?.identity.answerToSelect.count == 53)
        // A syntax error leaves the card as it is.
        #expect(other.calls.withLock { $0 } == ["bring"])
    }

    @Test func `TgGetData and TgSetData: a reader's command and the host's answer, long ones in parts`() async throws {
        var (chip, card) = try await activated()
        await chip.run("8E 9000 -> 27\n86 -> waiting")
        let first = Self.ask(card, [0x00, 0xA4])
        #expect(await Self.data(&chip) == "0000A4")
        await chip.run("86 -> waiting\n8E 9000 -> 00")
        #expect(await first.value == [0x90, 0x00])
        let long = SampleTag.longAnswer(600)
        let second = Self.ask(card, long)
        #expect(await Self.data(&chip) == "40" + long[..<262].hex)
        await chip.run(
            """
            86 -> 40 \(Array(long[262..<524]).hex)
            86 -> 00 \(Array(long[524...]).hex)
            94 0102 -> 00                           # TgSetMetaData
            94 03 -> 00
            8E 9000 -> 00
            """
        )
        #expect(await second.value == [1, 2, 3, 0x90, 0x00])
        await chip.run("8E 9000 -> 27")
        // For each command, and once for the activation.
        #expect(other.changes.withLock { $0 } == 3)
    }

    @Test func `a reader that deselects the card or takes its field away: status 29 or 0A`() async throws {
        for (isDeselected, status) in [(true, "29"), (false, "0A")] {
            func leave(_ card: HostedCard) { if isDeselected { card.deselected() } else { card.lostField() } }
            var chip = await chip()
            await chip.run(Self.initiate() + " -> waiting")
            let card = try #require(other.card)
            // Nothing is lost before the activation.
            leave(card)
            #expect(card.isListening)
            card.activated()
            let before = other.changes.withLock { $0 }
            for _ in 0..<2 { leave(card) }
            #expect(other.changes.withLock { $0 } == before + 1)
            await chip.run("8A -> 02 00\n86 -> \(status)\n8E 01 -> \(status)")
            #expect(card.respond(to: [1]) == nil)
            await chip.run(Self.initiate() + " -> waiting")
            #expect(other.card !== card)
        }
    }

    @Test func `reader's waiting time runs out: the reader gets no answer, and the host's late answer gives status 0A`()
        async throws
    {
        var (chip, card) = try await activated()
        card.allow(seconds: 0)
        #expect(card.respond(to: [1, 2]) == nil)
        #expect(!card.isListening)
        await chip.run("86 -> 00 0102\n8E 9000 -> 0A")
    }

    @Test(arguments: [
        "40 01", "42 01", "44 00", "46", "4A 01 00", "4E", "50", "52 00", "54 01", "56", "60 01 01 00", "16 01",
        "32 01 01",
    ]) func `command to a tag: ends card mode, and the reader that waits gets no answer`(command: String) async throws {
        var (chip, card) = try await activated()
        let asked = Self.ask(card, [1])
        #expect(await Self.data(&chip) == "0001")
        await chip.run(command)
        #expect(!card.isListening)
        #expect(await asked.value == nil)
        #expect(other.calls.withLock { $0 } == ["bring", "remove"])
        await chip.run("86 -> 27")
    }

    @Test func `a command about the chip itself keeps card mode, a reset or an abandoned wait ends it`() async throws {
        var (chip, _) = try await activated()
        await chip.run("00 01\n02\n04\n06 6302\n12 34\n8A -> 01 00")
        // A host that stops waiting leaves a card that a reader has.
        chip.device.stopWaiting()
        #expect(other.calls.withLock { $0 } == ["bring"])
        await chip.run("reset\n8A -> 00 00\n12 34\n\(Self.initiate()) -> waiting")
        #expect(other.calls.withLock { $0 } == ["bring", "remove", "bring"])
        chip.device.stopWaiting()
        #expect(other.calls.withLock { $0 } == ["bring", "remove", "bring", "remove"])
    }

}
