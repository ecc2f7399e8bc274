// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import TestThreads
import Testing

/// Tags, readers and the service that come and go.
@Suite(.timeLimit(.minutes(2))) struct PresenceTests {
    private typealias Cards = SampleCards

    // MARK: Arrivals

    @Test func `arrival number: the same while the tag stays, a new one after tag, reader or service was away`()
        async throws
    {
        let service = Cards.card()
        let reader = PCSCReader(.first, layer: service)
        #expect(reader.arrival(of: []) == nil)
        func arrival() async -> UInt64? {
            _ = await Cards.poll(reader)
            return reader.arrival(of: [])
        }
        #expect(await arrival() == 0)
        #expect(await arrival() == 0)
        #expect(try await reader.discover([.nfcV], systemCodes: []).isEmpty)
        #expect(reader.arrival(of: []) == 0)
        await reader.release()
        #expect(reader.arrival(of: []) == nil)
        #expect(await arrival() == 0)
        service.change { $0.readers[0].events += 2 }
        #expect(await arrival() == 2)
        // A tag that comes while the reader is opened has its own number.
        service.change { $0.eventsAtConnect = 2 }
        #expect(await arrival() == 4)
        service.change { $0.isRunning = false }
        #expect(await arrival() == nil)
        service.change { $0.isRunning = true }
        let later = try #require(await arrival())
        #expect(later == 4 + 1 << 16)
        let link = try await Cards.commands(reader)
        let present = service.look { $0.readers[0] }
        let before = reader.arrival(of: [])
        service.change { $0.readers = [] }
        await #expect(throws: LinkError(.readerUnavailable, "")) { _ = try await link.transmit([0, 0, 0, 0]) }
        #expect(await Cards.poll(reader) == (0, nil))
        service.change { $0.readers = [present] }
        #expect(await arrival() != before)
        // The link of the first time is of no use for the tag that is there now.
        await #expect(throws: LinkError(.tagRemoved, "")) { _ = try await link.transmit([0, 0, 0, 0]) }
    }

    @Test func `isStillNear and isPresent: by the service's event count and SCARD_ATTR_ICC_PRESENCE, without commands`()
        async throws
    {
        let service = Cards.card()
        let reader = PCSCReader(.first, layer: service)
        for (value, isNear) in [(nil, true), ([2], true), ([4], true), ([0], false)] as [([UInt8]?, Bool)] {
            service.change { $0.attributes[0x0009_0300] = value }
            let link = try await Cards.commands(reader)
            let commands = service.commands
            let arrival = try #require(reader.arrival(of: Cards.uid))
            #expect(await reader.isStillNear(Cards.uid, since: arrival) == isNear, "\(value ?? [])")
            #expect(await link.isPresent() == isNear)
            #expect(await !reader.isStillNear(Cards.uid, since: arrival + 2))
            #expect(service.commands == commands)
        }
        service.change { $0.attributes = [:] }
        for (code, isNear) in [
            (.notTransacted, true), (.unsupportedFeature, true), (.removedCard, false), (.readerUnavailable, false),
            (.communicationError, false),
        ] as [(SmartCardError.Code, Bool)] {
            service.change { $0.attributeFailure = nil }
            let link = try await Cards.commands(reader)
            service.change { $0.attributeFailure = code }
            #expect(await link.isPresent() == isNear, "\(code)")
        }
        service.change { $0.attributeFailure = nil }
        // It left, and is back.
        let link = try await Cards.commands(reader)
        #expect(await link.isPresent())
        service.change { $0.readers[0].events += 2 }
        #expect(await !link.isPresent())
    }

    @Test func `lost tag: reset before the next poll unless the reader was unplugged`() async throws {
        for (code, disposition) in [
            (.removedCard, .reset), (.noSmartcard, .reset), (.notTransacted, .reset), (.readerUnavailable, .leave),
        ] as [(SmartCardError.Code, SmartCardDisposition)] {
            let isFailing = Locked(false)
            let service = Cards.card { _ throws(SmartCardError) in
                if isFailing.withLock({ $0 }) { throw SmartCardError(code, "SCardTransmit") }
                return [0x90, 0x00]
            }
            let reader = PCSCReader(.first, layer: service)
            let link = try await Cards.commands(reader)
            let arrival = reader.arrival(of: [])
            isFailing.withLock { $0 = true }
            await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 0, 0, 0]) }
            isFailing.withLock { $0 = false }
            _ = try await Cards.commands(reader)
            #expect(service.look(\.dispositions) == [disposition], "\(code)")
            #expect((reader.arrival(of: []) == arrival) == (code == .notTransacted), "\(code)")
        }
    }

    // MARK: Tags that the service does not report

    @Test func `tag replaced before pcscd counts the departure: found in up to ten polls, with a new arrival number`()
        async throws
    {
        let service = Cards.card()
        let reader = PCSCReader(.first, layer: service)
        let card = try #require(service.look { $0.readers[0].card })
        #expect(await Cards.poll(reader) == (1, nil))
        var arrivals = [reader.arrival(of: [])]
        for _ in 0..<3 {
            service.change { $0.readers[0].card = nil }
            for _ in 0..<9 {
                #expect(await Cards.poll(reader) == (nil, .transmission))
                #expect(reader.arrival(of: []) == nil)
            }
            service.change { state in
                state.readers[0].card = card
                state.readers[0].isHidden = true
            }
            #expect(await Cards.poll(reader) == (1, nil))
            arrivals.append(reader.arrival(of: []))
        }
        #expect(arrivals == [0, 1 << 16, 2 << 16, 3 << 16])
        service.change { $0.readers[0].card = nil }
        for _ in 0..<10 { #expect(await Cards.poll(reader) == (nil, .transmission)) }
        #expect(await Cards.poll(reader) == (0, nil))
        // When the service has counted, an empty reader is empty at once.
        service.change { $0.readers[0].card = card }
        #expect(await Cards.poll(reader) == (1, nil))
        service.change { state in
            state.readers[0].card = nil
            state.readers[0].events += 1
        }
        #expect(await Cards.poll(reader) == (0, nil))
    }

    @Test func `mute tag: ten polls try to power it, later polls only after its next arrival`() async throws {
        for polls in [9, 10] {
            let service = Cards.card()
            let reader = PCSCReader(.first, layer: service)
            let card = service.look { $0.readers[0].card }
            service.change { state in
                state.readers[0].card = nil
                state.readers[0].isMute = true
            }
            for _ in 0..<polls { #expect(await Cards.poll(reader) == (nil, .transmission)) }
            #expect(service.look { $0.open.isEmpty && $0.dispositions.allSatisfy { $0 == .leave } })
            service.change { $0.readers[0].card = card }
            #expect(await Cards.poll(reader) == (polls < 10 ? 1 : 0, nil))
            service.change { $0.readers[0].events += 2 }
            #expect(await Cards.poll(reader) == (1, nil))
        }
    }

    // MARK: Readers and the service

    @Test func `service or reader that is away for a moment: the tag is found afterwards`() async throws {
        let service = Cards.card()
        let reader = PCSCReader(.first, layer: service)
        #expect(await Cards.poll(reader) == (1, nil))
        try await reader.prepare()
        let present = service.look { $0.readers[0] }
        service.change { $0.readers = [] }
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await reader.prepare() }
        #expect(await Cards.poll(reader) == (0, nil))
        service.change { $0.readers = [present] }
        #expect(await Cards.poll(reader) == (1, nil))
        service.change { $0.isRunning = false }
        #expect(await Cards.poll(reader) == (0, nil))
        service.change { $0.isRunning = true }
        #expect(await Cards.poll(reader) == (1, nil))
        // A look at the readers fails.
        for (failures, count, code) in [
            ([.unknownReader], 1, nil), ([.unknownReader, .unknownReader], nil, .readerUnavailable),
            ([.unsupportedFeature], nil, .unsupported), ([.noService], 1, nil), ([.noService, .noService], 0, nil),
        ] as [([SmartCardError.Code], Int?, LinkError.Code?)] {
            service.change { $0.lookFailures = failures }
            #expect(await Cards.poll(reader) == (count, code), "\(failures)")
        }
        await reader.release()
        service.change { $0.readers = [] }
        #expect(await Cards.poll(reader) == (nil, .readerUnavailable))
        #expect(service.look { $0.contexts.count } <= 1)
    }

    @Test func `several readers: the used reader is kept until it is unplugged, and an unavailable one is skipped`()
        async throws
    {
        let card = try #require(Cards.card().look { $0.readers[0].card })
        let service = ScriptedService([ScriptedService.Reader(name: "Some reader 00 00", card: card)])
        let reader = PCSCReader(.first, layer: service)
        #expect(await Cards.poll(reader) == (1, nil))
        service.change { $0.readers.insert(ScriptedService.Reader(name: "An NFC reader 00 00"), at: 0) }
        #expect(await Cards.poll(reader) == (1, nil))
        #expect(reader.name == "Some reader 00 00")
        service.change { state in
            state.readers.removeLast()
            state.readers[0].card = card
        }
        #expect(await Cards.poll(reader) == (1, nil))
        #expect(reader.name == "An NFC reader 00 00")
        service.change { $0.readers.insert(ScriptedService.Reader(name: "ACS ACR122U 00 00", isGone: true), at: 0) }
        #expect(await Cards.poll(PCSCReader(.first, layer: service)) == (1, nil))
    }

    @Test func `a card in use by another program: waited for two seconds, then inUse`() async throws {
        for (violations, isFound) in [(2, true), (1000, false)] {
            let service = Cards.card()
            service.change { $0.sharingViolations = violations }
            #expect(await Cards.poll(PCSCReader(.first, layer: service)) == (isFound ? (1, nil) : (nil, .inUse)))
            // Every tenth of a second.
            #expect(service.look(\.sharingViolations) == max(0, violations - 20))
        }
        let service = Cards.card()
        let reader = PCSCReader(.firstContactless, layer: service, limits: .same(Cards.longTime))
        #expect(try await !reader.isCardInUse())
        service.change { $0.readers[0].isInUse = true }
        #expect(try await reader.isCardInUse())
        // It looks for the reader, and then whether its card is free.
        service.change { $0.looksInUse = 5 }
        #expect(await Cards.poll(reader) == (1, nil))
        #expect(service.look(\.looksInUse) == 0)
        service.change { $0.readers = [] }
        #expect(try await !reader.isCardInUse())
    }

    // MARK: Observers

    /// A reader's observer, and how often it was called.
    private static func observe(_ reader: PCSCReader) -> (calls: Locked<Int>, observation: PresenceObservation?) {
        let calls = Locked(0)
        return (calls, reader.observePresence { calls.withLock { $0 += 1 } })
    }

    @Test
    func
        `observer: called for changes of cards, readers and the service, but not of a card's use by other programs`()
        async throws
    {
        let card = ScriptedService.Card(answerToReset: Cards.cardAnswer) { _ in [] }
        let service = ScriptedService([ScriptedService.Reader(name: "NFC reader")])
        let (calls, observation) = Self.observe(PCSCReader(.first, layer: service))
        // The first look ends at once, and the second one waits for a change.
        try await waitWhile(service.look(\.looks) < 2)
        let changes: [@Sendable (inout ScriptedService.State) -> Void] = [
            { state in (state.readers[0].card, state.readers[0].events) = (card, 1) },
            // A card that was swapped: its flags are the same, only the count is not.
            { $0.readers[0].events += 2 }, { $0.readers[0].isMute = true },
            {
                $0.readers[0].card = nil; $0.readers[0].isMute = false
            },
        ]
        for (index, change) in changes.enumerated() {
            service.change(change)
            try await waitWhile(calls.withLock { $0 } <= index || service.look(\.looks) < 3 + index)
        }
        #expect(calls.withLock { $0 } == changes.count && service.look(\.looks) == 2 + changes.count)
        service.change { $0.readers[0].isInUse = true }
        try await waitWhile(service.look(\.looks) < 3 + changes.count)
        #expect(calls.withLock { $0 } == changes.count)
        service.change { $0.readers.append(ScriptedService.Reader(name: "Another NFC reader")) }
        try await waitWhile(calls.withLock { $0 } == changes.count)
        for isRunning in [false, true] {
            let before = calls.withLock { $0 }
            service.change { $0.isRunning = isRunning }
            try await waitWhile(calls.withLock { $0 } == before || service.look { $0.contexts.isEmpty } == isRunning)
        }
        withExtendedLifetime(observation) {}
    }

    @Test func `service that stays away: polls fail as readerUnavailable, and the observer is called when it is back`()
        async throws
    {
        let service = Cards.card()
        let limits = CallTimeouts(call: Cards.longTime, status: Cards.longTime, absence: 50)
        let reader = PCSCReader(.first, layer: service, limits: limits)
        let (calls, observation) = Self.observe(reader)
        #expect(await Cards.poll(reader) == (1, nil))
        for round in 0..<2 {
            service.change { $0.isRunning = false }
            // Once when it is gone, and once when it has not come back.
            try await waitWhile(calls.withLock { $0 } < 3 * round + 2)
            #expect(await Cards.poll(reader) == (nil, .readerUnavailable))
            // Now only its socket wakes the observer's thread, or a long time.
            try await waitWhile(service.look(\.serviceWaits).last != 10_000)
            service.change { $0.isRunning = true }
            #expect(await Cards.poll(reader) == (1, nil))
            try await waitWhile(calls.withLock { $0 } < 3 * round + 3)
        }
        withExtendedLifetime(observation) {}
    }

}
