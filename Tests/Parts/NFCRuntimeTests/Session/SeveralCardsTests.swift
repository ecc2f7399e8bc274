// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing

/// Checks sessions on a reader that finds several cards by itself, and works with the one that it has selected.
@Suite(.timeLimit(.minutes(1))) struct `Several cards on a reader that selects them` {
    private static let application: [UInt8] = [0xA0, 0x01]

    @Test func `Each is selected as it is opened, and again when the app connects to it`() async throws {
        let reader = SelectingReader([1, 2])
        let scene = Scene(.discovering(reader))
        let plan = PollingPlan(technologies: [.nfcA], opensCards: true, applications: [Self.application])
        let session = try scene.session("a", plan: plan)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        let cards = scene.tags
        #expect(cards.map(\.selectedApplication) == [Self.application, Self.application])
        #expect(reader.log == ["select 1", "1: 00a4040002a00100", "select 2", "2: 00a4040002a00100"])
        reader.clear()
        // The second one is the one that answers, until the first one is connected.
        for (index, number) in [(0, 1), (1, 2), (0, 1)] {
            #expect(await session.connects(to: cards[index]) == nil)
            #expect(await session.answer([0x00, 0xB0, 0x00, 0x00], of: cards[index]) == .success([0x90, 0x00]))
            #expect(reader.log == ["select \(number)", "\(number): 00a4040002a00100", "\(number): 00b00000"])
            reader.clear()
        }
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `Of the applications that a card has, the first one is selected, and the others are not asked for`()
        async throws
    {
        let reader = SelectingReader([1])
        let scene = Scene(.discovering(reader))
        let plan = PollingPlan(
            technologies: [.nfcA],
            opensCards: true,
            applications: [Self.application, [0xA0, 0x02]]
        )
        let session = try scene.session("a", plan: plan)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let card = try #require(scene.tags.first)
        #expect(card.selectedApplication == Self.application && !card.supportsPACE)
        #expect(reader.log == ["select 1", "1: 00a4040002a00100"])
        // What the reader reports of its ATS is known, and nothing else.
        #expect(card.answerToSelect?.bytes == [0x03, 0x00, 0x31] && card.answerToSelect?.historicalBytes == [0x31])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A card that is left alone when another one leaves is selected again before it is used`() async throws {
        let reader = SelectingReader([1, 2], lost: [2])
        let scene = Scene(.discovering(reader))
        let plan = PollingPlan(technologies: [.nfcA], opensCards: true, applications: [Self.application])
        let session = try scene.session("a", plan: plan)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(reader.log == ["select 1", "1: 00a4040002a00100", "select 2"])
        reader.clear()
        let card = try #require(scene.tags.first)
        #expect(await session.connects(to: card) == nil)
        #expect(await session.answer([0x00, 0xB0, 0x00, 0x00], of: card) == .success([0x90, 0x00]))
        #expect(reader.log == ["select 1", "1: 00a4040002a00100", "1: 00b00000"])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A card that was let go for one that has left is not connected any more, and can be again`()
        async throws
    {
        let reader = SelectingReader([1, 2], lost: [2])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        let cards = scene.tags
        #expect(await session.connects(to: cards[0]) == nil)
        #expect(cards[0].isConnected)
        guard case .tag(let error)? = await session.connects(to: cards[1]) else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !cards[1].isAvailable)
        #expect(session.connectedTag == nil && !cards[0].isConnected && cards[0].isAvailable)
        reader.clear()
        // A packet that may connect its tag does so, because no other one is connected.
        let answer = await session.answer([0x00, 0xB0, 0x00, 0x00], of: cards[0], connecting: true)
        #expect(answer == .success([0x90, 0x00]) && cards[0].isConnected)
        #expect(reader.log == ["select 1", "1: 00b00000"])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A packet that can't connect its card leaves no connection behind`() async throws {
        let reader = SelectingReader([1, 2], lost: [2])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        let card = scene.tags[1]
        let answer = await session.answer([0x00, 0xB0, 0x00, 0x00], of: card, connecting: true)
        guard case .failure(.tag(let error)) = answer else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !card.isAvailable && session.connectedTag == nil)
        // The limit of the session: no time of a connection has begun.
        #expect(scene.clock.scheduledEventCount == 1)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A card that is found alone is not selected again`() async throws {
        let reader = SelectingReader([1, 2], lost: [1])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a", plan: PollingPlan(technologies: [.nfcA], opensCards: true))
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(await session.connects(to: try #require(scene.tags.first)) == nil)
        #expect(reader.log == ["select 1", "select 2"])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A command that is given while another one runs is sent after its answer`() async throws {
        let reader = SelectingReader([1])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a", plan: PollingPlan(technologies: [.nfcA], opensCards: true))
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let card = try #require(scene.tags.first)
        #expect(await session.connects(to: card) == nil)
        reader.clear()
        let (answers, continuation) = AsyncStream.makeStream(of: Result<[UInt8], CommandError>.self)
        reader.meanwhile.withLock {
            $0 = {
                let packet = TagPacket([0x00, 0xB0, 0x00, 0x01], answer: .within(.milliseconds(5)))
                session.send(packet, to: card) { continuation.yield($0) }
                for _ in 0..<100 { await Task.yield() }
            }
        }
        #expect(await session.answer([0x00, 0xB0, 0x00, 0x00], of: card) == .success([0x90, 0x00]))
        var second = answers.makeAsyncIterator()
        #expect(await second.next() == .success([0x90, 0x00]))
        #expect(reader.log == ["1: 00b00000", "1: answers", "1: 00b00001"])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A card has counts when its link counts what is on the air`() async throws {
        let scene = Scene(.discovering(SelectingReader([1, 2], countingAir: [2])))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        for (card, counts) in zip(scene.tags, [nil, LinkStatistics(exchanges: 2)]) {
            let found = try await session.work(with: card) { tag throws(TagError) in tag.statistics }
            #expect(found == counts)
        }
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }
}

/// A reader that finds cards with these numbers, and notes what it selects and what they are sent.
private final class SelectingReader: DiscoveringDriver {
    typealias Event = @Sendable () async -> Void

    private final class Card: APDULink {
        let number: UInt8
        let lines: Locked<[String]>
        let meanwhile: Locked<Event?>
        let maximumCommandLength = 261
        let maximumResponseLength = 258
        let singleBlockCommandLength = 261
        let singleBlockResponseLength = 258
        let countsAir: Bool
        var statistics: LinkStatistics { LinkStatistics(exchanges: Int(number)) }

        init(_ number: UInt8, _ lines: Locked<[String]>, _ meanwhile: Locked<Event?>, countsAir: Bool) {
            (self.number, self.lines, self.meanwhile, self.countsAir) = (number, lines, meanwhile, countsAir)
        }

        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
            lines.withLock { $0.append("\(number): \(apdu.hexText())") }
            if let event = meanwhile.withLock({ $0.take() }) {
                await event()
                lines.withLock { $0.append("\(number): answers") }
            }
            return [0x90, 0x00]
        }

        func isPresent() async -> Bool { true }
        func wasActivated() {}
    }

    let name = "selecting"
    let technologies: Set<Technology> = [.nfcA]
    private let numbers: [UInt8]
    private let countingAir: Set<UInt8>
    private let lost: Set<UInt8>
    private let lines = Locked<[String]>([])
    /// What happens before a card answers its next command.
    let meanwhile = Locked<Event?>(nil)
    var statistics: LinkStatistics { .zero }
    var log: [String] { lines.withLock { $0 } }

    /// - Parameters:
    ///   - countingAir: the numbers of the cards whose links count what is on the air.
    ///   - lost: the numbers of the cards that have left when they are selected.
    init(_ numbers: [UInt8], countingAir: Set<UInt8> = [], lost: Set<UInt8> = []) {
        (self.numbers, self.countingAir, self.lost) = (numbers, countingAir, lost)
    }

    func clear() { lines.withLock { $0 = [] } }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        numbers.map { number in
            DiscoveredTag(
                identity: .nfcA(atqa: 0x0344, sak: 0x20, uid: [4, 1, 2, 3, 4, 5, number]),
                port: .commands(
                    Card(number, lines, meanwhile, countsAir: countingAir.contains(number)),
                    answerToSelect: [0x03, 0x00, 0x31]
                )
            )
        }
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {
        guard case .nfcA(_, _, let uid) = tag.identity else { return }
        lines.withLock { $0.append("select \(uid[6])") }
        if lost.contains(uid[6]) { throw LinkError(.timeout, "The card does not answer.") }
    }

    func release() async {}
}
