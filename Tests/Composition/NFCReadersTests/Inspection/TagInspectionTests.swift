// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCRuntime
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks what an inspection finds out about a tag, and what it says that it can't know.
@Suite(.timeLimit(.minutes(1))) struct `The inspection of a tag` {
    private func inspection(_ tag: any VirtualTag) async throws -> TagInspection {
        try await inspection(tag) { .field($0) }
    }

    private func inspection(
        _ tag: any VirtualTag,
        on reader: (VirtualField) -> NFCEnvironment.Reader
    ) async throws -> TagInspection {
        let field = VirtualField(onElapsed: { _ in })
        field.bring(tag)
        let session = try #require(ReaderSession(environment: NFCEnvironment(reader: reader(field))))
        defer { session.invalidate() }
        let found: [ConnectableTag] = await handedOver { done in
            session.observe { event in
                if case .detected(let tags) = event { done(tags) }
            }
            session.begin()
        }
        return try await session.work(with: try #require(found.first)) { tag throws(TagError) in
            try await tag.inspect()
        }
    }

    private static let uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]

    @Test(arguments: [Type2Product.ultralightEV1UL11, .ntag215, .ntag216, .ultralight, .ultralightC, .ntag203])
    func `of Type 2 has its memory, its answers and its counters`(product: Type2Product) async throws {
        var contents = Type2Contents(blank: product, uid: Self.uid)
        contents.signature = Array(1...32)
        contents.counters = [1, 0x1_0203, 0xFF_FFFF]
        contents.tearingFlags = [0xBD, 0, 0x55]
        contents.memory.replaceSubrange(20..<24, with: [1, 2, 3, 4])
        let inspection = try await inspection(VirtualType2Tag(contents))
        guard case .type2(let found)? = inspection.contents else {
            Issue.record("\(product) is known.")
            return
        }
        #expect(inspection.findings.product == product.name && inspection.tellsActivation)
        #expect(found.uid == Self.uid && found.version == contents.version)
        #expect(found.atqa == contents.atqa && found.sak == contents.sak)
        // The password and the keys are not read.
        #expect(found.memory.count == contents.memory.count)
        let readable = product.firstConfigurationPage.map { ($0 + 2) * 4 } ?? contents.memory.count
        #expect(found.memory.prefix(min(readable, 160)) == contents.memory.prefix(min(readable, 160)))
        let hasCounters = product == .ultralightEV1UL11
        if hasCounters {
            #expect(found.counters == contents.counters && found.tearingFlags == contents.tearingFlags)
        }
        if contents.version != nil { #expect(found.signature == contents.signature) }
        let isNTAG21 = product == .ntag215 || product == .ntag216
        #expect(inspection.unknown == (isNTAG21 ? [.failedAuthentications, .counters] : [.failedAuthentications]))
    }

    @Test func `of Type 2 has its own answers to the selection`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: Self.uid)
        (contents.atqa, contents.sak) = (0x0344, 0x02)
        let inspection = try await inspection(VirtualType2Tag(contents))
        guard case .type2(let found)? = inspection.contents else { throw LinkError(.unsupported, "It is known.") }
        #expect(found.atqa == 0x0344 && found.sak == 0x02)
    }

    @Test func `of a tag that keeps its memory back says so`() async throws {
        var contents = Type2Contents(blank: .ntag215, uid: Self.uid)
        let first = try #require(Type2Product.ntag215.firstConfigurationPage) * 4
        contents.memory[first + 3] = 8
        contents.memory[first + 4] = 0x90
        contents.counters = [0, 0, 5]
        let inspection = try await inspection(VirtualType2Tag(contents))
        #expect(inspection.unknown.contains(.memory))
        guard case .type2(let found)? = inspection.contents else { return }
        // The counter is free, and counted this reading.
        #expect(found.counters[2] >= 5 && !inspection.unknown.contains(.counters))
    }

    @Test func `of Type 2 says that the reader has concluded the answers to the selection`() async throws {
        let tag = VirtualType2Tag(Type2Contents(blank: .ntag215, uid: Self.uid))
        let inspection = try await inspection(tag) { .discovering(ConcludingReader($0)) }
        #expect(!inspection.tellsActivation)
        #expect(inspection.unknown == [.failedAuthentications, .answers, .counters])
    }

    @Test func `of Type 2 says that the signature is not to be had, where the product has one`() async throws {
        for (product, unknown) in [
            (.ultralightEV1UL11, [.failedAuthentications, .signature]), (.ultralight, [.failedAuthentications]),
        ] as [(Type2Product, Set<TagInspection.Unknown>)] {
            let tag = VirtualType2Tag(Type2Contents(blank: product, uid: Self.uid))
            // READ_SIG.
            let inspection = try await inspection(ReluctantTag(tag) { $0.first == 0x3C ? .silence : nil })
            #expect(inspection.unknown == unknown, "\(product)")
        }
    }

    @Test(arguments: [Type1Product.topaz96, .topaz512]) func `of Type 1 is a whole image`(product: Type1Product)
        async throws
    {
        let tag = VirtualType1Tag(product)
        let inspection = try await inspection(tag)
        #expect(inspection.contents == .type1(tag.contents))
        #expect(inspection.findings.identifier == tag.identifier)
        #expect(inspection.card == nil && inspection.vicinity == nil)
    }

    @Test func `of FeliCa Lite-S has its configuration and its counter`() async throws {
        var contents = FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])
        contents.pmm = [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x7F]
        contents.memoryConfiguration[0] = 0x7F
        contents.writeCounter = 0x01_0203
        let inspection = try await inspection(VirtualType3Tag(contents))
        guard case .type3(.liteS(let found))? = inspection.contents else {
            Issue.record("A Lite-S is known.")
            return
        }
        #expect(found.memoryConfiguration == contents.memoryConfiguration && found.writeCounter == 0x01_0203)
        #expect(found.idm == contents.idm && found.pmm == contents.pmm)
        #expect(inspection.unknown == [])
        // A card of another kind has none.
        let other = FeliCaStandardContents(idm: contents.idm, systems: [FeliCaSystem(ndefBlocks: 4)])
        #expect(try await self.inspection(VirtualType3Tag(other)).contents == nil)
    }

    @Test func `of FeliCa Lite-S says that its counter is not to be had`() async throws {
        let contents = FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])
        let tag = ReluctantTag(VirtualType3Tag(contents)) { bytes in
            // CHECK of block 90, which is refused.
            bytes.suffix(2) == [0x80, 0x90] ? .answer([12, 0x07] + contents.idm + [0xFF, 0xA8]) : nil
        }
        let inspection = try await inspection(tag)
        guard case .type3(.liteS(let found))? = inspection.contents else {
            Issue.record("A Lite-S is known.")
            return
        }
        #expect(inspection.unknown == [.counters] && found.memoryConfiguration == contents.memoryConfiguration)
    }

    @Test func `of a DESFire has its ATS, its version and the file of its message`() async throws {
        let desfire = DESFireContents.ndef(size: .kilobytes4)
        let inspection = try await inspection(VirtualType4Tag(desfire))
        let card = try #require(inspection.card)
        #expect(card.answerToSelect?.isEmpty == false)
        #expect(card.version.map { Array($0.prefix(14)) } == Array(desfire.version.prefix(14)))
        #expect(card.messageFile?.identifier == 0xE104)
        #expect(inspection.contents == nil && inspection.vicinity == nil)
    }

    @Test func `of a card without a version asks for none`() async throws {
        let inspection = try await inspection(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)])))
        #expect(inspection.card?.version == nil && inspection.card?.messageFile?.identifier == 0xE104)
    }

    @Test func `of Type 5 has its system, its locks and its capability container`() async throws {
        // Its UID says which product it is.
        var contents = VirtualType5Tag(.icodeSLIX2).contents
        contents.lockedBlocks = [3, 7]
        contents.signature = Array(1...32)
        let inspection = try await inspection(VirtualType5Tag(contents))
        let found = try #require(inspection.vicinity)
        #expect(found.lockedBlocks == [3, 7] && found.blockSize == 4)
        #expect(found.system?.blockCount == contents.product.blockCount)
        #expect(found.capabilityContainer?.first == 0xE1)
        #expect(found.signature == contents.signature && found.counter == 0)
        #expect(inspection.contents == nil && inspection.card == nil)
    }

    @Test func `of Type 5 has the size of a block from its memory, or from its system where it can't be read`()
        async throws
    {
        let contents = Type5Contents(blank: .generic(blockCount: 64))
        let untold = try await inspection(
            ReluctantTag(VirtualType5Tag(contents)) { bytes in
                // GET SYSTEM INFORMATION, plain and extended.
                bytes.count > 1 && [0x2B, 0x3B].contains(bytes[1]) ? .silence : nil
            }
        )
        var found = try #require(untold.vicinity)
        #expect(found.system == nil && found.lockedBlocks == nil && found.blockSize == 4)
        #expect(found.capabilityContainer == Array(contents.memory.prefix(4)))
        let unread = try await inspection(
            ReluctantTag(VirtualType5Tag(contents)) { bytes in
                // READ SINGLE BLOCK and READ MULTIPLE BLOCKS, which are refused.
                bytes.count > 1 && [0x20, 0x23].contains(bytes[1]) ? .answer([0x01, 0x10]) : nil
            }
        )
        found = try #require(unread.vicinity)
        #expect(found.system?.blockCount == 64 && found.lockedBlocks == [] && found.blockSize == 4)
        #expect(found.capabilityContainer == nil && unread.findings.survey.error?.code == .noCapabilityContainer)
    }
}

/// A tag that answers some commands in another way, or not at all.
private final class ReluctantTag: VirtualTag {
    enum Reply {
        case silence
        case answer([UInt8])
    }

    private let tag: any VirtualTag
    private let reply: @Sendable ([UInt8]) -> Reply?

    /// - Parameter reply: what becomes of a command; nil where the tag answers as ever.
    init(_ tag: any VirtualTag, reply: @escaping @Sendable ([UInt8]) -> Reply?) {
        self.tag = tag
        self.reply = reply
    }

    var technology: Technology { tag.technology }
    var identifier: [UInt8] { tag.identifier }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        switch reply(request.bytes) {
        case .silence: nil
        case .answer(let bytes): TagAnswer(Frame(bytes))
        case nil: tag.answer(request, disturbance: disturbance)
        }
    }

    func losePower() { tag.losePower() }
}
