// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCRuntime
import SessionTesting
import TagLink
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A virtual reader in front of an app that is a card` {
    private let reader = VirtualCardReader()
    private let card = RecordingCard()

    private func isWithoutCard(_ apdu: [UInt8] = [1]) async -> Bool {
        do {
            _ = try await reader.transmit(apdu)
            return false
        } catch { return error as? VirtualCardReader.Failure == .noCard }
    }

    @Test func `It meets a card that emulates while it is near, and no other`() async throws {
        #expect(await isWithoutCard())
        #expect(reader.attach(card))
        #expect(await isWithoutCard())
        #expect(card.log.isEmpty)
        reader.approach()
        #expect(card.log == ["detected"])
        // It is near, and the card does not answer readers yet.
        #expect(await isWithoutCard())
        reader.setEmulating(true)
        async let answer = reader.transmit([0, 0xA4])
        #expect(await card.happens(2) == ["detected", "00a4"])
        // It waits for one answer at a time.
        #expect(await isWithoutCard())
        card.answer(0, [0x90, 0])
        #expect(try await answer == [0x90, 0])
        reader.leave()
        #expect(await isWithoutCard())
        #expect(card.log == ["detected", "00a4", "deselected"])
    }

    @Test func `A card that comes to a reader that is already near gets a call, and is the only one`() {
        reader.approach()
        #expect(reader.attach(card))
        #expect(card.log == ["detected"])
        let other = RecordingCard()
        #expect(!reader.attach(other))
        // Another one's leaving is not its own.
        reader.detach(other)
        #expect(!reader.attach(other))
        reader.detach(card)
        #expect(reader.attach(other))
        #expect(card.log == ["detected"])
    }

    enum Ending: CaseIterable { case leaves, detaches, stops }

    @Test(arguments: Ending.allCases)
    func `A command gets no answer when the card is gone, and a late answer is ignored`(ending: Ending) async throws {
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
        _ = await card.happens(card.log.count + (card.log.last == "02" ? 0 : 1))
        // The answer to the first command is not that to the second, and one answer is enough.
        card.answer(0, [0x6F, 0])
        card.answer(1, [0x90, 0])
        card.answer(1, [0x6F, 0])
        #expect(try await answer == [0x90, 0])
    }

    @Test func `A reader that leaves has its command lost before the card hears that it was deselected`() async throws {
        let isLost = DispatchSemaphore(value: 0)
        reader.approach()
        #expect(reader.attach(HesitantCard(card, isLost)))
        reader.setEmulating(true)
        let pending = Task { [reader, card] in
            _ = try? await reader.transmit([1])
            card.note("lost")
            isLost.signal()
        }
        _ = await card.happens(2)
        await handedOver { done in
            // It waits, on a thread of its own, in the call that the card gets.
            DispatchQueue(label: "terminal").async { [reader] in
                reader.leave()
                done(())
            }
        }
        await pending.value
        #expect(card.log == ["detected", "01", "lost", "deselected"])
    }

    @Test func `A card hears once that a reader comes, and once that it goes`() {
        reader.leave()
        #expect(reader.attach(card))
        for _ in 0..<2 { reader.approach() }
        for _ in 0..<2 { reader.leave() }
        #expect(card.log == ["detected", "deselected"])
    }

    @Test func `A card that follows another one answers only when it emulates itself`() async throws {
        reader.approach()
        #expect(reader.attach(card))
        reader.setEmulating(true)
        reader.detach(card)
        let next = RecordingCard(answersAtOnce: true)
        #expect(reader.attach(next))
        #expect(await isWithoutCard())
        await #expect(throws: VirtualCardReader.Failure.noCard) { try await reader.untilCardIsThere(limit: .zero) }
        #expect(next.log == ["detected"])
    }

    @Test func `It waits for an app that becomes a card`() async throws {
        await #expect(throws: VirtualCardReader.Failure.noCard) { try await reader.untilCardIsThere(limit: .zero) }
        // Emulation without a card, or a card without emulation, does not count.
        reader.setEmulating(true)
        await #expect(throws: VirtualCardReader.Failure.noCard) { try await reader.untilCardIsThere(limit: .zero) }
        reader.setEmulating(false)
        #expect(reader.attach(card))
        await #expect(throws: VirtualCardReader.Failure.noCard) { try await reader.untilCardIsThere(limit: .zero) }
        reader.setEmulating(true)
        try await reader.untilCardIsThere(limit: .zero)
    }

    @Test func `It goes on waiting for an app that becomes a card within the time`() async throws {
        let waiting = Task { [reader] in try await reader.untilCardIsThere(limit: .seconds(30)) }
        // It looks for the card meanwhile, and finds none.
        for _ in 0..<100 { await Task.yield() }
        #expect(reader.attach(card))
        reader.setEmulating(true)
        try await waiting.value
    }
}

/// A card that, when it is deselected, waits until its last command is lost.
private final class HesitantCard: EmulatedCard {
    private let card: RecordingCard
    private let isLost: DispatchSemaphore

    init(_ card: RecordingCard, _ isLost: DispatchSemaphore) { (self.card, self.isLost) = (card, isLost) }

    func readerDetected() { card.readerDetected() }

    func readerDeselected() {
        _ = isLost.wait(timeout: .now() + 20)
        card.readerDeselected()
    }

    func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void) {
        card.received(apdu, respond: respond)
    }
}
