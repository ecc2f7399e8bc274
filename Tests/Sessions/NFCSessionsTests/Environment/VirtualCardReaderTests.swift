// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import SessionTesting
import TagLink
import Testing

/// A virtual reader in front of an app that is a card.
@Suite(.timeLimit(.minutes(1))) struct VirtualCardReaderTests {
    private let reader = VirtualCardReader()
    private let card = RecordingCard()

    /// Whether the reader sees no card that it can use.
    private func isWithoutCard() async -> Bool {
        do {
            _ = try await reader.transmit([1])
            return false
        } catch { return error as? VirtualCardReader.Failure == .noCard }
    }

    private func seesCard() async -> Bool { (try? await reader.waitForCard(limit: .zero)) != nil }

    @Test func `virtual card reader: a card answers only while it is attached, near and emulating`() async throws {
        #expect(await isWithoutCard())
        #expect(reader.attach(card))
        #expect(await !seesCard())
        #expect(await isWithoutCard())
        #expect(card.log.isEmpty)
        for _ in 0..<2 { reader.approach() }
        #expect(card.log == ["detected"])
        #expect(await isWithoutCard())
        reader.setEmulating(true)
        #expect(await seesCard())
        async let answer = reader.transmit([0, 0xA4])
        #expect(await card.happens(2) == ["detected", "00a4"])
        #expect(await isWithoutCard())
        card.answer(0, [0x90, 0])
        #expect(try await answer == [0x90, 0])
        for _ in 0..<2 { reader.leave() }
        #expect(await isWithoutCard())
        #expect(card.log == ["detected", "00a4", "deselected"])
    }

    @Test func `second card: refused until the first is detached; attached without emulating`()
        async throws
    {
        reader.approach()
        #expect(reader.attach(card))
        reader.setEmulating(true)
        let other = RecordingCard(answersAtOnce: true)
        #expect(!reader.attach(other))
        reader.detach(other)
        #expect(!reader.attach(other))
        reader.detach(card)
        #expect(reader.attach(other))
        #expect(await isWithoutCard())
        #expect(await !seesCard())
        #expect(card.log == ["detected"] && other.log == ["detected"])
    }

    enum Ending: CaseIterable { case leaves, detaches, stops }

    @Test(arguments: Ending.allCases)
    func `command under way when the card leaves, detaches or stops: cardLost, and a late answer is ignored`(
        ending: Ending
    ) async throws {
        reader.approach()
        #expect(reader.attach(card))
        reader.setEmulating(true)
        let pending = Task { [reader] in try await reader.transmit([1]) }
        #expect(await card.happens(2) == ["detected", "01"])
        switch ending {
        case .leaves: reader.leave()
        case .detaches: reader.detach(card)
        case .stops: reader.setEmulating(false)
        }
        await #expect(throws: VirtualCardReader.Failure.cardLost) { try await pending.value }
        #expect(await isWithoutCard())
        card.answer(0, [0x90, 0])
        reader.approach()
        if ending == .detaches { #expect(reader.attach(card)) }
        reader.setEmulating(true)
        async let answer = reader.transmit([2])
        await until { card.log.last == "02" }
        // The answer to the first command is not that to the second.
        card.answer(0, [0x6F, 0])
        card.answer(1, [0x90, 0])
        #expect(try await answer == [0x90, 0])
    }

    @Test func `wait for a card: returns when an app emulates one, or fails at the limit`() async throws {
        await #expect(throws: VirtualCardReader.Failure.noCard) { try await reader.waitForCard(limit: .zero) }
        let waiting = Task { [reader] in try await reader.waitForCard(limit: .seconds(30)) }
        for _ in 0..<100 { await Task.yield() }
        #expect(reader.attach(card))
        reader.setEmulating(true)
        try await waiting.value
    }
}
