// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Several tags near a reader, of one technology and of all; and the cards among them.
@Suite(.timeLimit(.minutes(1))) struct SeveralTagsTests {
    private static let ndef: [UInt8] = [0xD2, 0x76, 0, 0, 0x85, 1, 1]

    /// A tag by its letter: Type 1, 2, 3, 4 (A), 5, or a Type 4 tag over NFC-B.
    private static func tag(_ letter: Character, _ number: UInt8) throws -> any VirtualTag {
        switch letter {
        case "1": VirtualType1Tag(Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 7]))
        case "2": ntag(number)
        case "3": VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, number]))
        case "5": VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: [0xE0, 4, 1, 0x10, 1, 2, 3, number]))
        case "B": try #require(TagProduct(named: "generic Type 4B")).blank(uid: [number, 9, 9, 9]).makeTag()
        default: try #require(TagProduct(named: "generic Type 4")).blank(uid: [4, 9, 9, 9, 9, 9, number]).makeTag()
        }
    }

    private static func crowd(_ letters: String) throws -> [any VirtualTag] {
        try letters.enumerated().map { try tag($1, UInt8($0 + 1)) }
    }

    private static func plan(opens: Bool) -> PollingPlan {
        PollingPlan(
            technologies: Set(Technology.allCases),
            systemCodes: [0x12FC],
            opensCards: opens,
            applications: opens ? [[0xA0, 0, 0], ndef] : []
        )
    }

    /// A field with some tags, which notes the frames over it.
    private struct Air {
        let frames = Locked<[[UInt8]]>([])
        let field: VirtualField

        init(_ tags: [any VirtualTag]) {
            field = VirtualField(onExchange: { [frames] record in frames.withLock { $0.append(record.request.bytes) } })
            for tag in tags { field.bring(tag) }
        }

        /// The first frames of some work.
        func frames(_ count: Int, of work: () async -> Void) async -> [[UInt8]] {
            frames.withLock { $0 = [] }
            await work()
            return Array(frames.withLock { $0 }.prefix(count))
        }
    }

    @Test(
        arguments: ["2", "222", "33", "55", "1", "4", "44", "42", "B", "BB", "2354B", "3B", "52"],
        [(false, false), (true, false), (false, true)]
    )
    func `several tags: each is found once, and can be read and written, in any order`(
        letters: String,
        reader: (opens: Bool, activates: Bool)
    ) async throws {
        // The reader that activates tags itself has no slots for FeliCa, and does not know Type 1 and NFC-B.
        if reader.activates, !["2", "222", "55", "4", "52"].contains(letters) { return }
        let crowd = try Self.crowd(letters)
        let air = Air(crowd)
        let scene = Scene(reader.activates ? .discovering(ActivatingReader(air.field)) : .field(air.field))
        let (session, tags) = try await scene.finding(crowd.count, plan: Self.plan(opens: reader.opens))
        // RID returns four bytes of a Type 1 tag's UID.
        let identifiers = crowd.map { $0 is VirtualType1Tag ? Array($0.identifier.prefix(4)) : $0.identifier }
        #expect(Set(tags.map(\.target.identifier)) == Set(identifiers))
        for tag in tags {
            let isOpen = reader.opens && tag.target.isISODEP
            #expect(tag.selectedApplication == (isOpen ? Self.ndef : nil) && !tag.supportsPACE)
            guard isOpen else { continue }
            #expect((tag.answerToSelect != nil) == (tag.target.technology == .nfcA))
            // The application is still selected when the card was woken: its capability container can be selected at once.
            #expect(await session.connects(to: tag) == nil)
            #expect(await session.answer([0, 0xA4, 0, 0x0C, 2, 0xE1, 3], of: tag) == .success([0x90, 0]))
        }
        for (number, tag) in (tags + tags.reversed() + tags).enumerated() {
            let message: [UInt8] = [0xD1, 0x01, 0x01, 0x54, UInt8(number)]
            #expect(await session.connects(to: tag) == nil)
            let read = await session.run(on: tag) { tag throws(TagError) in
                _ = try await tag.detectNDEF()
                try await tag.writeNDEF(message)
                return try await tag.readNDEF()
            }
            #expect(read == .success(message), "\(tag.target.identifier)")
        }
        session.invalidate()
        #expect(await scene.event() == Scene.canceled)
        if !reader.activates {
            await #expect(throws: LinkError.self) {
                _ = try await air.field.link(for: .nfcA)?.transceive(Frame([0x30, 0]), timeout: .milliseconds(1))
            }
        }
    }

    @Test(arguments: ["2", "4"])
    func `connecting to another tag: the connected tag is halted first, and an ISO-DEP card deselected`(first: String)
        async throws
    {
        let air = Air(try Self.crowd(first + "2"))
        let opens = first == "4"
        let (session, tags) = try await Scene(.field(air.field)).finding(2, plan: Self.plan(opens: opens))
        let isFirst: (ConnectableTag) -> Bool = { opens ? $0.target.isISODEP : $0 === tags[1] }
        let one = try #require(tags.first(where: isFirst))
        let other = try #require(tags.first { !isFirst($0) })
        // The tag that is found last needs no exchange.
        let exchanges = await air.frames(9) { #expect(await session.connects(to: one) == nil) }
        #expect(exchanges.isEmpty == !opens)
        let halted: [[UInt8]] = [[0x50, 0x00], [0x52]]
        let away = await air.frames(opens ? 3 : 2) { #expect(await session.connects(to: other) == nil) }
        #expect(away == (opens ? [[0xC2]] : []) + halted)
        let back = await air.frames(2) { #expect(await session.connects(to: one) == nil) }
        #expect(back == halted)
        #expect(session.connectedTag === one)
        #expect(await session.read(other) == .failure(.notConnected))
    }

    @Test(arguments: [true, false]) func `card with PACE: none of the plan's applications is selected`(isTypeB: Bool)
        async throws
    {
        var document = ScriptedCard([])
        document.answer([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x01, 0x1C], with: [0x90, 0x00])
        let access: [UInt8] = [
            0x31, 0x14, 0x30, 0x12, 0x06, 0x0A, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04, 0x02, 0x02, 0x02, 0x01,
            0x02, 0x02, 0x01, 0x0D, 0x90, 0x00,
        ]
        document.answer([0x00, 0xB0, 0x00, 0x00, 0x00], with: access)
        document.answer([0x00, 0xA4, 0x04, 0x00, 0x02, 0xA0, 0x01, 0x00], with: [0x90, 0x00])
        for findsPACE in [true, false] {
            let frontEnd: Type4FrontEnd = isTypeB ? .nfcB(pupi: [1, 2, 3, 4]) : .randomEMRTD
            let scene = Scene(.field(field(VirtualType4Tag(card: document, frontEnd: frontEnd))))
            var plan = PollingPlan(technologies: [.nfcA, .nfcB], opensCards: true, applications: [[0xA0, 0x01]])
            plan.findsPACE = findsPACE
            let (_, tags) = try await scene.finding(plan: plan)
            #expect(tags[0].supportsPACE == findsPACE)
            #expect(tags[0].selectedApplication == (findsPACE ? nil : [0xA0, 0x01]))
        }
    }

    @Test func `FeliCa polling: each system of the plan in its order, with four slots`() async throws {
        let air = Air([])
        let plan = PollingPlan(technologies: [.nfcF], systemCodes: [0x12FC, 0x8008])
        let session = try Scene(.field(air.field)).session(plan: plan)
        session.begin()
        await session.settles()
        let requests = air.frames.withLock { $0 }
        #expect(requests.map { Array($0.dropFirst(2).prefix(2)) } == [[0x12, 0xFC], [0x80, 0x08]])
        #expect(requests.allSatisfy { $0.last == 3 })
    }

    // MARK: A reader that selects cards by itself

    /// A reader that finds cards with these numbers, and notes what it selects and what they are sent.
    private final class SelectingReader: DiscoveringDriver {
        private final class Card: APDULink {
            let number: UInt8
            let reader: SelectingReader
            let (maximumCommandLength, maximumResponseLength) = (261, 258)
            var countsAir: Bool { number == 2 }
            var statistics: LinkStatistics { LinkStatistics(exchanges: Int(number)) }

            init(_ number: UInt8, _ reader: SelectingReader) { (self.number, self.reader) = (number, reader) }

            func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
                reader.lines.withLock { $0.append("\(number): \(apdu.hexText())") }
                if let event = reader.meanwhile.withLock({ $0.take() }) {
                    await event()
                    reader.lines.withLock { $0.append("\(number): answers") }
                }
                return [0x90, 0x00]
            }

            func isPresent() async -> Bool { true }
        }

        let name = "selecting"
        let technologies: Set<Technology> = [.nfcA]
        let statistics = LinkStatistics.zero
        private let numbers: [UInt8]
        private let lost: UInt8?
        private let lines = Locked<[String]>([])
        /// What happens before a card answers its next command.
        let meanwhile = Locked<(@Sendable () async -> Void)?>(nil)

        /// - Parameter lost: the number of the card that has left when it is selected.
        init(_ numbers: [UInt8], lost: UInt8? = nil) { (self.numbers, self.lost) = (numbers, lost) }

        /// What was noted since the last call.
        func log() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }

        func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

        func discover(_: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
            numbers.map { number in
                DiscoveredTag(
                    identity: .nfcA(atqa: 0x0344, sak: 0x20, uid: [4, 1, 2, 3, 4, 5, number]),
                    port: .commands(Card(number, self), answerToSelect: [0x03, 0x00, 0x31])
                )
            }
        }

        func select(_ tag: DiscoveredTag) async throws(LinkError) {
            guard case .nfcA(_, _, let uid) = tag.identity else { return }
            lines.withLock { $0.append("select \(uid[6])") }
            if uid[6] == lost { throw LinkError(.timeout, "The card does not answer.") }
        }

        func release() async {}
    }

    private static let opening = PollingPlan(
        technologies: [.nfcA],
        opensCards: true,
        applications: [[0xA0, 0x01], [0xA0, 0x02]]
    )
    private static let read: [UInt8] = [0x00, 0xB0, 0x00, 0x00]
    private static let selected = "00a4040002a00100"

    @Test func `reader that selects cards itself: card and application are selected when opened and when connected`()
        async throws
    {
        let reader = SelectingReader([1, 2])
        let (session, cards) = try await Scene(.discovering(reader)).finding(2, plan: Self.opening)
        // The first application that the card has is enough.
        #expect(cards.map(\.selectedApplication) == [[0xA0, 0x01], [0xA0, 0x01]])
        #expect(cards[0].answerToSelect?.bytes == [0x03, 0x00, 0x31])
        #expect(reader.log() == ["select 1", "1: \(Self.selected)", "select 2", "2: \(Self.selected)"])
        for (index, number) in [(0, 1), (1, 2), (0, 1)] {
            #expect(await session.connects(to: cards[index]) == nil)
            #expect(await session.answer(Self.read, of: cards[index]) == .success([0x90, 0x00]))
            #expect(reader.log() == ["select \(number)", "\(number): \(Self.selected)", "\(number): 00b00000"])
        }
        // A link that counts what is on the air has counts.
        for (card, counts) in zip(cards, [nil, LinkStatistics(exchanges: 2)]) {
            #expect(try await session.work(with: card) { tag throws(TagError) in tag.statistics } == counts)
        }
    }

    @Test(arguments: [UInt8(1), 2])
    func `card lost when opened: connecting to the other card selects the other again, unless that was opened last`(
        lost: UInt8
    )
        async throws
    {
        let reader = SelectingReader([1, 2], lost: lost)
        let (session, cards) = try await Scene(.discovering(reader)).finding(plan: Self.opening)
        let found = ["select 1", "1: \(Self.selected)", "select 2", "2: \(Self.selected)"]
        #expect(reader.log() == found.filter { !$0.hasPrefix("\(lost):") })
        #expect(await session.connects(to: cards[0]) == nil)
        #expect(reader.log() == (lost == 1 ? [] : ["select 1", "1: \(Self.selected)"]))
    }

    @Test func `connecting to a card that has left: commands to the connected card fail until that is connected again`()
        async throws
    {
        let reader = SelectingReader([1, 2], lost: 2)
        let (session, cards) = try await Scene(.discovering(reader)).finding(2)
        #expect(await session.connects(to: cards[0]) == nil)
        #expect(await session.connects(to: cards[1]) == .tag(.tagLost))
        #expect(!cards[1].isAvailable && session.connectedTag === cards[0] && cards[0].isNear)
        _ = reader.log()
        #expect(await session.answer(Self.read, of: cards[0]) == .failure(.notConnected))
        #expect(await session.answer(Self.read, of: cards[0], connecting: true) == .success([0x90, 0x00]))
        #expect(cards[0].isNear && reader.log() == ["select 1", "1: 00b00000"])
    }

    @Test func `command given while another one runs: sent after the answer of the first`() async throws {
        let reader = SelectingReader([1])
        let (session, card) = try await Scene(.discovering(reader)).connected(plan: Self.opening)
        _ = reader.log()
        let (answers, continuation) = AsyncStream.makeStream(of: Result<[UInt8], CommandError>.self)
        reader.meanwhile.withLock {
            $0 = {
                let packet = TagPacket([0x00, 0xB0, 0x00, 0x01], answer: .within(.milliseconds(5)))
                session.perform(on: card) { tag throws(TagError) in
                    try await tag.send(packet)
                } completion: {
                    continuation.yield($0)
                }
                for _ in 0..<100 { await Task.yield() }
            }
        }
        #expect(await session.answer(Self.read, of: card) == .success([0x90, 0x00]))
        var second = answers.makeAsyncIterator()
        #expect(await second.next() == .success([0x90, 0x00]))
        #expect(reader.log() == ["1: 00b00000", "1: answers", "1: 00b00001"])
    }
}
