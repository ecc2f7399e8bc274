// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks several tags at once, of one technology and of all.
@Suite(.timeLimit(.minutes(1))) struct `Several tags near a reader` {
    private static func ntag(_ number: UInt8) -> any VirtualTag {
        VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, number]))
    }

    private static func card(_ number: UInt8, isTypeB: Bool = false) throws -> any VirtualTag {
        let product = try #require(TagProduct(named: isTypeB ? "generic Type 4B" : "generic Type 4"))
        return product.blank(uid: (isTypeB ? [number, 9, 9, 9] : [4, 9, 9, 9, 9, 9, number])).makeTag()
    }

    private static func felica(_ number: UInt8) -> any VirtualTag {
        VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, number]))
    }

    private static func vicinity(_ number: UInt8) -> any VirtualTag {
        VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: [0xE0, 4, 1, 0x10, 1, 2, 3, number]))
    }

    private static func topaz() -> any VirtualTag {
        VirtualType1Tag(Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 7]))
    }

    static func crowds() throws -> [[any VirtualTag]] {
        [
            [ntag(1)], [ntag(1), ntag(2), ntag(3)], [felica(1), felica(2)], [vicinity(1), vicinity(2)], [topaz()],
            [try card(1)], [try card(1), try card(2)], [try card(1), ntag(1)],
            [try card(1, isTypeB: true)], [try card(1, isTypeB: true), try card(2, isTypeB: true)],
            [ntag(1), felica(1), vicinity(1), try card(1), try card(1, isTypeB: true)],
            [felica(1), try card(1, isTypeB: true)], [vicinity(1), ntag(1)],
        ]
    }

    /// Finds a crowd, and returns its tags with the field and the session.
    private func find(
        _ crowd: [any VirtualTag],
        opens: Bool,
        _ body: (ReaderSession, Scene, [ConnectableTag], VirtualField) async throws -> Void
    ) async throws {
        let field = VirtualField()
        for tag in crowd { field.bring(tag) }
        let scene = Scene(.field(field))
        let plan = PollingPlan(
            technologies: Set(Technology.allCases),
            systemCodes: [0x12FC],
            opensCards: opens,
            applications: opens ? [[0xA0, 0, 0], [0xD2, 0x76, 0, 0, 0x85, 1, 1]] : []
        )
        let session = try scene.session("a", plan: plan)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found \(crowd.count)"])
        try await body(session, scene, scene.tags, field)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        // The field is off when the session has ended.
        await #expect(throws: LinkError.self) {
            _ = try await field.link(for: .nfcA)?.transceive(Frame([0x30, 0]), timeout: .milliseconds(1))
        }
    }

    @Test(arguments: 0..<13, [true, false])
    func `Each is found once, and each can be worked with, in any order`(index: Int, opens: Bool) async throws {
        let crowd = try Self.crowds()[index]
        try await find(crowd, opens: opens) { session, _, tags, _ in
            // RID returns four bytes of a Type 1 tag's UID.
            let identifiers = crowd.map { $0 is VirtualType1Tag ? Array($0.identifier.prefix(4)) : $0.identifier }
            #expect(Set(tags.map(\.target.identifier)) == Set(identifiers))
            for (number, tag) in (tags + tags.reversed() + tags).enumerated() {
                let message: [UInt8] = [0xD1, 0x01, 0x01, 0x54, UInt8(number)]
                #expect(await session.connects(to: tag) == nil)
                let read: Result<[UInt8], CommandError> = await handedOver { done in
                    session.perform(
                        on: tag,
                        { tag throws(TagError) in
                            _ = try await tag.detectNDEF()
                            try await tag.writeNDEF(message)
                            return try await tag.readNDEF()
                        },
                        completion: done
                    )
                }
                #expect(read == .success(message), "\(tag.target.identifier)")
            }
        }
    }

    @Test(arguments: 0..<13)
    func `A card that is opened says its ATS and has the first application that it knows selected`(
        index: Int
    ) async throws {
        let crowd = try Self.crowds()[index]
        try await find(crowd, opens: true) { session, _, tags, _ in
            for tag in tags {
                let isCard = tag.target.isISODEP
                #expect(tag.selectedApplication == (isCard ? [0xD2, 0x76, 0, 0, 0x85, 1, 1] : nil))
                #expect((tag.answerToSelect != nil) == (isCard && tag.target.technology == .nfcA))
                #expect(!tag.supportsPACE)
                guard isCard else { continue }
                // It is still selected when the card was woken: its capability container can be selected at once.
                #expect(await session.connects(to: tag) == nil)
                let answer = try await session.answer([0, 0xA4, 0, 0x0C, 2, 0xE1, 3], of: tag).get()
                #expect(answer == [0x90, 0])
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `A card is opened while it is found only where the plan wants that`(isTypeB: Bool, opens: Bool) async throws {
        let frames = Locked<[[UInt8]]>([])
        let field = VirtualField(onExchange: { record in frames.withLock { $0.append(record.request.bytes) } })
        field.bring(try Self.card(1, isTypeB: isTypeB))
        let scene = Scene(.field(field))
        let plan = PollingPlan(technologies: [.nfcA, .nfcB], opensCards: opens)
        let session = try scene.session("a", plan: plan)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        // ATTRIB and RATS.
        let opening: UInt8 = isTypeB ? 0x1D : 0xE0
        #expect(frames.withLock { $0 }.contains { $0.first == opening } == opens)
        // A card that is open needs nothing more to be connected. One of Type B that is not is woken for it.
        let before = field.statistics.exchanges
        #expect(await session.connects(to: try #require(scene.tags.first)) == nil)
        #expect((field.statistics.exchanges == before) == (opens || !isTypeB))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test(arguments: [true, false]) func `A card that takes PACE has none of the applications selected`(isTypeB: Bool)
        async throws
    {
        var document = ScriptedCard([])
        document.answer([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x01, 0x1C], with: [0x90, 0x00])
        document.answer(
            [0x00, 0xB0, 0x00, 0x00, 0x00],
            with: [
                0x31, 0x14, 0x30, 0x12, 0x06, 0x0A, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04, 0x02, 0x02, 0x02,
                0x01, 0x02, 0x02, 0x01, 0x0D, 0x90, 0x00,
            ]
        )
        document.answer([0x00, 0xA4, 0x04, 0x00, 0x02, 0xA0, 0x01, 0x00], with: [0x90, 0x00])
        for findsPACE in [true, false] {
            let field = VirtualField()
            let frontEnd: Type4FrontEnd = isTypeB ? .nfcB(pupi: [1, 2, 3, 4]) : .randomEMRTD
            field.bring(VirtualType4Tag(card: document, frontEnd: frontEnd))
            let scene = Scene(.field(field))
            let plan = PollingPlan(
                technologies: [.nfcA, .nfcB],
                opensCards: true,
                applications: [[0xA0, 0x01]],
                findsPACE: findsPACE
            )
            let session = try scene.session("a", plan: plan)
            session.begin()
            #expect(await scene.events(2) == ["a active", "a found 1"])
            #expect(scene.tags[0].supportsPACE == findsPACE)
            #expect(scene.tags[0].selectedApplication == (findsPACE ? nil : [0xA0, 0x01]))
            session.invalidate()
            #expect(await scene.event() == "a ended: userCanceled")
        }
    }

    @Test(arguments: [true, false])
    func `The tag that is found last needs no exchange to be connected, and another one does`(
        opens: Bool
    ) async throws {
        // Where cards are opened, tags that are none are left as they were found.
        try await find([Self.ntag(1), Self.ntag(2)], opens: opens) { session, _, tags, field in
            var before = field.statistics.exchanges
            #expect(await session.connects(to: tags[1]) == nil)
            #expect(field.statistics.exchanges == before)
            before = field.statistics.exchanges
            #expect(await session.connects(to: tags[0]) == nil)
            #expect(field.statistics.exchanges > before)
            #expect(session.connectedTag === tags[0])
            #expect(await session.read(tags[1]) == .failure(.notConnected))
        }
    }

    @Test func `FeliCa tags are asked for each system of the plan, in its order, and have four slots to answer in`()
        async throws
    {
        let frames = Locked<[[UInt8]]>([])
        let field = VirtualField(onExchange: { record in
            if record.technology == .nfcF { frames.withLock { $0.append(record.request.bytes) } }
        })
        let scene = Scene(.field(field))
        let session = try scene.session("a", plan: PollingPlan(technologies: [.nfcF], systemCodes: [0x12FC, 0x8008]))
        session.begin()
        await session.settles()
        let requests = frames.withLock { $0 }
        #expect(requests.map { Array($0.dropFirst(2).prefix(2)) } == [[0x12, 0xFC], [0x80, 0x08]])
        #expect(requests.allSatisfy { $0.last == 3 })
        session.invalidate()
        #expect(await scene.events(2) == ["a active", "a ended: userCanceled"])
    }

    @Test func `A tag is halted before another one is woken`() async throws {
        let frames = Locked<[[UInt8]]>([])
        let field = VirtualField(onExchange: { record in frames.withLock { $0.append(record.request.bytes) } })
        for number in 1...2 { field.bring(Self.ntag(UInt8(number))) }
        let scene = Scene(.field(field))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        #expect(await session.connects(to: scene.tags[1]) == nil)
        frames.withLock { $0 = [] }
        #expect(await session.connects(to: scene.tags[0]) == nil)
        // HLTA, and then WUPA.
        #expect(frames.withLock { $0.prefix(2) } == [[0x50, 0x00], [0x52]])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A card that is open is deselected before another tag is woken, and a tag that is no card is not`()
        async throws
    {
        let frames = Locked<[[UInt8]]>([])
        let field = VirtualField(onExchange: { record in frames.withLock { $0.append(record.request.bytes) } })
        for tag in [try Self.card(1), Self.ntag(1)] { field.bring(tag) }
        let scene = Scene(.field(field))
        let session = try scene.session("a", plan: PollingPlan(technologies: [.nfcA], opensCards: true))
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        let card = try #require(scene.tags.first { $0.target.isISODEP })
        let other = try #require(scene.tags.first { !$0.target.isISODEP })
        #expect(await session.connects(to: card) == nil)
        _ = await session.answer([0, 0xA4, 0, 0x0C, 2, 0xE1, 3], of: card)
        frames.withLock { $0 = [] }
        #expect(await session.connects(to: other) == nil)
        // S(DESELECT), HLTA, and then WUPA.
        #expect(frames.withLock { $0.prefix(3) } == [[0xC2], [0x50, 0x00], [0x52]])
        frames.withLock { $0 = [] }
        #expect(await session.connects(to: card) == nil)
        #expect(frames.withLock { $0.prefix(2) } == [[0x50, 0x00], [0x52]])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A reader that goes while several cards are opened ends the session`() async throws {
        let scene = Scene(.field(VanishingReader([try Self.card(1), try Self.card(2)])))
        let session = try scene.session("a", plan: PollingPlan(technologies: [.nfcA], opensCards: true))
        session.begin()
        let end = SessionEnd.terminatedUnexpectedly(reason: "It was pulled out.")
        #expect(await scene.events(2) == ["a active", "a ended: \(end)"])
    }

    @Test func `A tag that leaves is gone for its app, and the others stay`() async throws {
        let crowd = [Self.ntag(1), Self.ntag(2)]
        try await find(crowd, opens: false) { session, _, tags, field in
            let gone = try #require(tags.first { $0.target.identifier.last == 1 })
            let other = try #require(tags.first { $0.target.identifier.last == 2 })
            #expect(await session.connects(to: gone) == nil && gone.isConnected)
            field.remove(crowd[0])
            #expect(!gone.isConnected && session.connectedTag == nil)
            guard case .tag(let error) = await session.connects(to: gone) else { throw Wrong() }
            #expect(error.code == .tagLost && !gone.isAvailable)
            #expect(await session.connects(to: gone) == .tagUnavailable)
            #expect(await session.connects(to: other) == nil && other.isConnected)
        }
    }

    struct Wrong: Error {}

    @Test func `A FeliCa packet has 254 bytes at most, and one that is longer is not sent`() async throws {
        try await find([Self.felica(1)], opens: false) { session, _, tags, field in
            let tag = tags[0]
            #expect(await session.connects(to: tag) == nil)
            // Request Response with extra bytes, which no tag accepts, so there is no answer.
            let before = field.statistics.exchanges
            guard case .failure(.tag(let silent)) = await session.answer([UInt8](repeating: 4, count: 254), of: tag)
            else {
                throw Wrong()
            }
            #expect(silent.code == .badAnswer && tag.isAvailable)
            let sent = field.statistics.exchanges
            #expect(sent > before)
            guard case .failure(.tag(let error)) = await session.answer([UInt8](repeating: 4, count: 255), of: tag)
            else {
                throw Wrong()
            }
            #expect(error.code == .unsupported && error.link?.code == .frameTooLong)
            #expect(field.statistics.exchanges == sent)
        }
    }

    @Test func `A packet that wants no answer has none, and one that has four bits is one byte`() async throws {
        try await find([Self.ntag(1)], opens: false) { session, _, tags, _ in
            #expect(await session.connects(to: tags[0]) == nil)
            #expect(await session.answer([0xA2, 8, 1, 2, 3, 4], of: tags[0]) == .success([0x0A]))
            // It says nothing to HLTA: that is all that is wanted, and an error where an answer is.
            let halt = TagPacket([0x50, 0], answer: .none)
            let result: Result<[UInt8], CommandError> = await handedOver {
                session.send(halt, to: tags[0], completion: $0)
            }
            #expect(result == .success([]) && tags[0].isAvailable)
            guard case .failure(.tag(let error)) = await session.answer([0x30, 0], of: tags[0]) else { throw Wrong() }
            #expect(error.code == .badAnswer && tags[0].isAvailable)
            #expect(try await session.answer([0x30, 3], of: tags[0]).get().first == 0xE1)
        }
    }
}

/// A virtual field that is gone from the first time on that a halted tag is to be woken.
private final class VanishingReader: FieldDriver {
    private final class Link: FrameLink {
        private let base: any FrameLink
        private let isGone: Locked<Bool>
        var technology: Technology { base.technology }
        var maximumFrameLength: Int { base.maximumFrameLength }
        var statistics: LinkStatistics { base.statistics }

        init(_ base: any FrameLink, _ isGone: Locked<Bool>) {
            self.base = base
            self.isGone = isGone
        }

        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
            // WUPA.
            let fails = isGone.withLock { isGone in
                if frame.bytes == [0x52] { isGone = true }
                return isGone
            }
            if fails { throw LinkError(.readerUnavailable, "It was pulled out.") }
            return try await base.transceive(frame, timeout: timeout)
        }
    }

    private let field = VirtualField()
    private let isGone = Locked(false)
    var name: String { field.name }
    var technologies: Set<Technology> { field.technologies }

    init(_ tags: [any VirtualTag]) { for tag in tags { field.bring(tag) } }

    func link(for technology: Technology) -> (any FrameLink)? {
        field.link(for: technology).map { Link($0, isGone) }
    }

    func setCarrier(_ isOn: Bool) async throws(LinkError) { field.switchCarrier(isOn) }
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
}
