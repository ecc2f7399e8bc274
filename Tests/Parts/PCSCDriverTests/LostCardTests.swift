// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import Testing

/// Checks what is done with a card that has left, and with a reader that was unplugged while it had one.
struct LostCardTests {
    private static let all = Set(Technology.allCases)
    private static let identifier = "04112233445566 9000"

    private static func found(_ reader: PCSCReader) async throws -> (tag: DiscoveredTag, link: any APDULink) {
        let tag = try #require(try await reader.discover(all, systemCodes: []).first)
        guard case .commands(let link, _) = tag.port else { throw LinkError(.unsupported, "no APDUs") }
        return (tag, link)
    }

    @Test("A tag that the reader has let go of is not selected")
    func select() async throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: ["ffca000000": Self.identifier])
        let reader = PCSCReader(.first, layer: service)
        let (tag, link) = try await Self.found(reader)
        try await reader.select(tag)
        service.change { $0.isRunning = false }
        await #expect(throws: LinkError(.readerUnavailable, "")) { _ = try await link.transmit([0, 0, 0, 0]) }
        await #expect(throws: LinkError(.tagRemoved, "")) { try await reader.select(tag) }
    }

    @Test("A link is to no tag any more when the reader has opened its tag again")
    func earlier() async throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: ["ffca000000": Self.identifier])
        let reader = PCSCReader(.first, layer: service)
        let (_, link) = try await Self.found(reader)
        #expect(await link.isPresent())
        let (_, again) = try await Self.found(reader)
        #expect(await again.isPresent())
        #expect(await !link.isPresent())
        // Nothing is asked for a task that is cancelled.
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await again.isPresent()
        }
        #expect(await !cancelled.value)
        #expect(await again.isPresent())
    }

    @Test(
        "A reader's driver that can't say whether a card is there does not make it leave",
        arguments: [
            (.notTransacted, true), (.unsupportedFeature, true), (.removedCard, false), (.readerUnavailable, false),
            (.communicationError, false),
        ] as [(SmartCardError.Code, Bool)]
    )
    func unknownPresence(code: SmartCardError.Code, isNear: Bool) async throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: ["ffca000000": Self.identifier])
        let (_, link) = try await Self.found(PCSCReader(.first, layer: service))
        service.change { $0.attributeFailure = code }
        #expect(await link.isPresent() == isNear)
    }

    @Test(
        "A card that has left is reset before the next look, and an unplugged reader is left as it is",
        arguments: [
            (.removedCard, .reset), (.noSmartcard, .reset), (.notTransacted, .reset), (.readerUnavailable, .leave),
        ] as [(SmartCardError.Code, SmartCardDisposition)]
    )
    func disposition(code: SmartCardError.Code, wanted: SmartCardDisposition) async throws {
        let failure = Locked<SmartCardError.Code?>(nil)
        let service = SampleCards.service(SampleCards.cardAnswer) { command throws(SmartCardError) in
            if let code = failure.withLock({ $0 }) { throw SmartCardError(code, "SCardTransmit") }
            return [UInt8](hex: command.hex == "ffca000000" ? Self.identifier : "9000")
        }
        let reader = PCSCReader(.first, layer: service)
        let (_, link) = try await Self.found(reader)
        failure.withLock { $0 = code }
        await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 0, 0, 0]) }
        failure.withLock { $0 = nil }
        _ = try await Self.found(reader)
        #expect(service.look(\.dispositions) == [wanted])
    }

    @Test("A reader that was unplugged and is back gets no command for the session that it had before")
    func unplugged() async throws {
        let begun = ["ffca000000", "ffc2000002810000", "ffc20002048f02020300"]
        let service = SampleCards.service(
            SampleCards.vicinityAnswer,
            table: [begun[0]: "e004015000112233 9000", begun[1]: "c003009000 9000", begun[2]: "c003009000 9000"]
        )
        let reader = PCSCReader(.first, layer: service)
        let tag = try #require(try await reader.discover([.nfcV], systemCodes: []).first)
        guard case .frames(let link) = tag.port else { throw LinkError(.unsupported, "no frames") }
        let present = service.look { $0.readers[0] }
        service.change { $0.readers = [] }
        await #expect(throws: LinkError(.readerUnavailable, "")) {
            _ = try await link.transceive(Frame([0x02, 0x20, 0]), timeout: .milliseconds(20))
        }
        service.change { $0.readers = [present] }
        let before = service.commands.count
        #expect(try await reader.discover([.nfcV], systemCodes: []).count == 1)
        #expect(Array(service.commands[before...]) == begun)
    }

    @Test("A card that can't be woken leaves its reader closed")
    func notWoken() async throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: [:])
        service.change { state in
            state.readers[0].card = nil
            state.readers[0].isMute = true
        }
        let reader = PCSCReader(.first, layer: service)
        await #expect(throws: LinkError(.transmission, "")) { _ = try await reader.discover(Self.all, systemCodes: []) }
        #expect(service.look(\.open).isEmpty && service.look(\.dispositions) == [.leave])
    }

    @Test("A reader's counts go on from one tag to the next, and stay when it is let go of")
    func statistics() async throws {
        let service = SampleCards.service(SampleCards.cardAnswer, table: ["ffca000000": Self.identifier])
        let reader = PCSCReader(.first, layer: service)
        _ = try await Self.found(reader)
        let first = reader.statistics
        #expect(first.exchanges == service.commands.count && first.exchanges > 0)
        _ = try await Self.found(reader)
        #expect(reader.statistics.exchanges == service.commands.count)
        #expect(reader.statistics.bytesOnAir == 2 * first.bytesOnAir)
        await reader.release()
        #expect(reader.statistics.exchanges == service.commands.count)
    }
}
