// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks what an app learns when a tag does not answer its packet: whether the tag is still near.
@Suite(.timeLimit(.minutes(1))) struct `A packet without an answer` {
    /// A session that is connected to a tag, on a reader that may activate tags itself.
    private static func scene(_ tag: any VirtualTag, activatesTags: Bool = false) async throws -> (
        Scene, VirtualField, ReaderSession, ConnectableTag
    ) {
        let field = VirtualField()
        field.bring(tag)
        let scene = Scene(activatesTags ? .discovering(ActivatingReader(field)) : .field(field))
        let session = try scene.session("a", plan: .everyTag)
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let found = try #require(scene.tags.first)
        #expect(await session.connects(to: found) == nil)
        return (scene, field, session, found)
    }

    private static func error(_ result: Result<[UInt8], CommandError>) -> TagError? {
        guard case .failure(.tag(let error)) = result else { return nil }
        return error
    }

    private static let vicinity: [UInt8] = [0xE0, 4, 1, 0x10, 1, 2, 3, 4]

    /// Tags that can be asked whether they are near, each with a command that it answers.
    private static let tags: [(make: @Sendable () -> any VirtualTag, command: [UInt8])] = [
        ({ VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6]) }, [0x30, 0x03]),
        (
            { VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])) },
            [0x06, 2, 0xFE, 1, 2, 3, 4, 5, 6, 0x01, 0x0B, 0x00, 0x01, 0x80, 0x00]
        ),
        (
            { VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: vicinity)) },
            [0x22, 0x20] + vicinity.reversed() + [0]
        ),
    ]

    @Test(arguments: tags.indices) func `is told apart from a tag that has left`(index: Int) async throws {
        let (make, command) = Self.tags[index]
        let (scene, field, session, tag) = try await Self.scene(make())
        #expect(try await !session.answer(command, of: tag).get().isEmpty)
        field.arm(.effect(.mute, atExchange: 0))
        #expect(Self.error(await session.answer(command, of: tag))?.code == .badAnswer)
        field.arm(.effect(.bitError, atExchange: 0))
        #expect(Self.error(await session.answer(command, of: tag))?.code == .badAnswer)
        #expect(tag.isAvailable && session.connectedTag === tag)
        #expect(try await !session.answer(command, of: tag).get().isEmpty)
        field.removeAll()
        #expect(Self.error(await session.answer(command, of: tag))?.code == .tagLost)
        #expect(!tag.isAvailable)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `is told apart from a Type 1 tag that has left, which can't be selected again`() async throws {
        let (scene, field, session, tag) = try await Self.scene(VirtualType1Tag(.topaz96))
        // READ, which Type 2 tags have.
        #expect(Self.error(await session.answer([0x30, 0x03], of: tag))?.code == .badAnswer)
        #expect(tag.isAvailable && session.connectedTag === tag)
        field.removeAll()
        #expect(Self.error(await session.answer([0x30, 0x03], of: tag))?.code == .tagLost)
        #expect(!tag.isAvailable)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `is no error where none is expected`() async throws {
        let (scene, field, session, tag) = try await Self.scene(VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6]))
        field.arm(.effect(.mute, atExchange: 0))
        let packet = TagPacket([0x30, 0x03], answer: .none)
        #expect(await handedOver { session.send(packet, to: tag, completion: $0) } == .success([]))
        // HLTA, to which no tag says anything. It is waited for as long as for an answer within a millisecond.
        field.startRecording()
        let halt = TagPacket([0x50, 0x00], answer: .none)
        #expect(await handedOver { session.send(halt, to: tag, completion: $0) } == .success([]))
        let other = TagPacket([0x50, 0x00], answer: .within(.milliseconds(1)))
        #expect(Self.error(await handedOver { session.send(other, to: tag, completion: $0) })?.code == .badAnswer)
        let times = field.stopRecording().filter { $0.request.bytes == [0x50, 0x00] }.prefix(2).map(\.elapsed)
        #expect(times.count == 2 && times.first == times.last)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `is no error where none is expected, and nothing is asked, also when noise or a collision comes`()
        async throws
    {
        let type2 = VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        let type5 = [UInt8(4), 5].map { last in
            VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: Self.vicinity.dropLast() + [last]))
        }
        // READ; and GET SYSTEM INFORMATION for all tags, whose answers have their UIDs.
        for (own, other, command, exchange) in [
            (type2, nil, [0x30, 0x03], "30 03 -> transmission"),
            (type5[0], type5[1], [0x02, 0x2B], "02 2b -> collision"),
        ] as [(any VirtualTag, (any VirtualTag)?, [UInt8], String)] {
            let (scene, field, session, tag) = try await Self.scene(own)
            if let other { field.bring(other) } else { field.arm(.effect(.bitError, atExchange: 0)) }
            field.startRecording()
            let packet = TagPacket(command, answer: .none)
            #expect(await handedOver { session.send(packet, to: tag, completion: $0) } == .success([]))
            #expect(field.stopRecording().map(\.description) == [exchange])
            #expect(tag.isAvailable && session.connectedTag === tag)
            session.invalidate()
            #expect(await scene.event() == "a ended: userCanceled")
        }
    }

    @Test func `means that a card has left, since nothing else can be asked of it`() async throws {
        let card = DeafCard(try #require(TagProduct(named: "NTAG 424 DNA")).blank().makeTag())
        let (scene, _, session, tag) = try await Self.scene(card)
        #expect(try await session.answer([0x00, 0xA4, 0x04, 0x00], of: tag).get().count >= 2)
        card.isDeaf.withLock { $0 = true }
        #expect(Self.error(await session.answer([0x00, 0xA4, 0x04, 0x00], of: tag))?.code == .tagLost)
        #expect(!tag.isAvailable)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test(arguments: [false, true])
    func `means that a card has left that was without power, even if it can be activated again`(
        activatesTags: Bool
    ) async throws {
        let card = try #require(TagProduct(named: "NTAG 424 DNA")).blank().makeTag()
        let (scene, _, session, tag) = try await Self.scene(card, activatesTags: activatesTags)
        #expect(try await session.answer([0x00, 0xA4, 0x04, 0x00], of: tag).get().count >= 2)
        // What the app has selected is forgotten.
        card.losePower()
        #expect(Self.error(await session.answer([0x00, 0xA4, 0x04, 0x00], of: tag))?.code == .tagLost)
        #expect(!tag.isAvailable)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }
}

/// A card that may be deaf to all blocks, and still answers its activation.
private final class DeafCard: VirtualTag {
    private let base: any VirtualTag
    let isDeaf = Locked(false)
    var technology: Technology { base.technology }
    var identifier: [UInt8] { base.identifier }

    init(_ base: any VirtualTag) { self.base = base }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        // WUPA, anticollision and selection; HLTA and RATS.
        let isActivation = [0x26, 0x52, 0x93, 0x95, 0x97, 0x50, 0xE0].contains(request.bytes.first ?? 0)
        if !isActivation, isDeaf.withLock({ $0 }) { return nil }
        return base.answer(request, disturbance: disturbance)
    }

    func losePower() { base.losePower() }
}
