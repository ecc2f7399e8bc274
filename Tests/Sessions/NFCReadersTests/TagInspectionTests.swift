// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// What an inspection finds out about a tag, and what it says that it can't know.
@Suite(.timeLimit(.minutes(1))) struct TagInspectionTests {
    private func inspection(
        _ tag: any VirtualTag,
        on reader: (VirtualField) -> NFCEnvironment.Reader = { .field($0) }
    ) async throws -> TagInspection {
        let field = VirtualField(onElapsed: { _ in })
        field.bring(tag)
        return try await ReaderSession.with(NFCEnvironment(reader: reader(field))) { session, tags in
            try await session.work(with: tags[0]) { tag throws(TagError) in try await tag.inspect() }
        }
    }

    private static let tagUID: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
    private static let idm: [UInt8] = [2, 0xFE, 1, 2, 3, 4, 5, 6]

    @Test(arguments: [Type2Product.ultralightEV1UL11, .ntag215, .ntag216, .ultralight, .ultralightC, .ntag203])
    func `Type 2 inspection: finds memory, answers, signature and counters`(product: Type2Product) async throws {
        var contents = Type2Contents(blank: product, uid: Self.tagUID)
        contents.signature = Array(1...32)
        contents.counters = [1, 0x1_0203, 0xFF_FFFF]
        contents.tearingFlags = [0xBD, 0, 0x55]
        (contents.atqa, contents.sak) = (0x0344, 0x02)
        contents.memory.replaceSubrange(20..<24, with: [1, 2, 3, 4])
        let inspection = try await inspection(VirtualType2Tag(contents))
        guard case .type2(let found)? = inspection.contents else { throw LinkError(.unsupported, "It is known.") }
        #expect(inspection.findings.product == product.name && inspection.reportsActivationData)
        #expect(found.uid == Self.tagUID && found.version == contents.version)
        #expect(found.atqa == 0x0344 && found.sak == 0x02)
        // The password and the keys are not read.
        #expect(found.memory.count == contents.memory.count)
        let readable = product.firstConfigurationPage.map { ($0 + 2) * 4 } ?? contents.memory.count
        #expect(found.memory.prefix(min(readable, 160)) == contents.memory.prefix(min(readable, 160)))
        if product == .ultralightEV1UL11 {
            #expect(found.counters == contents.counters && found.tearingFlags == contents.tearingFlags)
        }
        if contents.version != nil { #expect(found.signature == contents.signature) }
        let isNTAG21 = product == .ntag215 || product == .ntag216
        #expect(inspection.unknown == (isNTAG21 ? [.failedAuthentications, .counters] : [.failedAuthentications]))
    }

    @Test(arguments: TagProduct.all) func `Product name: inspecting a tag finds the product that its image has`(
        product: TagProduct
    ) async throws {
        // The UID of a generic tag must not be that of a product.
        let generic: [UInt8] = [0xE0, 0xFE, 1, 2, 3, 4, 5, 6]
        let contents = product.blank(uid: product.name == "generic Type 5" ? generic : nil)
        guard product.tagType != nil else { return }
        #expect(contents.product == product.name || product.name.hasPrefix("generic"))
        let found = try await inspection(contents.makeTag()).findings.product
        #expect(found == product.name || found == nil && product.name.hasPrefix("generic"))
    }

    @Test func `Ultralight Nano, ICODE 3 and FeliCa Standard: image and inspection have the same product name`()
        async throws
    {
        var nano = Type2Contents(blank: .ultralightEV1UL11, uid: Self.tagUID)
        nano.version = [0x00, 0x04, 0x03, 0x01, 0x02, 0x00, 0x0B, 0x03]
        let uid: [UInt8] = [0xE0, 0x04, 0x01, 0x20, 0x01, 0x11, 0x0C, 0xDE]
        let icode3 = Type5Contents(blank: .generic(blockCount: 76), uid: uid)
        let felica = FeliCaStandardContents(
            idm: Self.idm,
            pmm: [0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF],
            systems: [FeliCaSystem(ndefBlocks: 4)]
        )
        for (contents, name): (TagContents, String) in [
            (.type2(nano), "MIFARE Ultralight Nano"), (.type5(icode3), "ICODE 3"),
            (.type3(.standard(felica)), "FeliCa Standard"),
        ] {
            #expect(contents.product == name)
            #expect(try await inspection(contents.makeTag()).findings.product == name)
        }
        // ICODE 3 has more than the 112 bytes of an ICODE SLI (Proxmark3 pull request 3279).
        let message = [UInt8](repeating: 0xAA, count: 250)
        let tag = VirtualType5Tag(icode3)
        let field = VirtualField(onElapsed: { _ in })
        field.bring(tag)
        let capacity = try await ReaderSession.with(NFCEnvironment(reader: .field(field))) { session, tags in
            try await session.work(with: tags[0]) { tag throws(TagError) in
                let forumTag = try tag.ndef
                try await forumTag.writeNDEF(message)
                return try await forumTag.detectNDEF().capacity
            }
        }
        #expect(capacity == 292)
    }

    @Test
    func `Type 2 inspection: protected memory, and what an activating reader can't report, are listed as unknown`()
        async throws
    {
        var contents = Type2Contents(blank: .ntag215, uid: Self.tagUID)
        let whole = try await inspection(VirtualType2Tag(contents)) { .discovering(ConcludingReader($0)) }
        #expect(!whole.reportsActivationData && whole.unknown == [.failedAuthentications, .answers, .counters])
        // Pages from 8 on need a password, and the counter is free: it counts this reading.
        let first = try #require(Type2Product.ntag215.firstConfigurationPage) * 4
        contents.memory[first + 3] = 8
        contents.memory[first + 4] = 0x90
        contents.counters = [0, 0, 5]
        let secret = try await inspection(VirtualType2Tag(contents))
        guard case .type2(let found)? = secret.contents else { throw LinkError(.unsupported, "It is known.") }
        #expect(secret.unknown.contains(.memory) && !secret.unknown.contains(.counters) && found.counters[2] >= 5)
    }

    @Test(arguments: [Type1Product.topaz96, .topaz512]) func `Type 1 inspection: a whole image`(product: Type1Product)
        async throws
    {
        let tag = VirtualType1Tag(product)
        let inspection = try await inspection(tag)
        #expect(inspection.contents == .type1(tag.contents) && inspection.findings.identifier == tag.identifier)
        #expect(inspection.card == nil && inspection.vicinity == nil)
    }

    @Test func `FeliCa Lite-S inspection: configuration and counter, where that can be read`() async throws {
        var contents = FeliCaLiteSContents(idm: Self.idm)
        contents.pmm = [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x7F]
        contents.memoryConfiguration[0] = 0x7F
        contents.writeCounter = 0x01_0203
        let tag = VirtualType3Tag(contents)
        let reluctant = ReluctantTag(tag) { bytes in
            // CHECK of block 90, which is refused.
            bytes.suffix(2) == [0x80, 0x90] ? [12, 0x07] + Self.idm + [0xFF, 0xA8] : nil
        }
        for (tag, isKnown) in [(tag, true), (reluctant, false)] as [(any VirtualTag, Bool)] {
            let inspection = try await inspection(tag)
            guard case .type3(.liteS(let found))? = inspection.contents else { throw LinkError(.unsupported, "Known.") }
            #expect(found.memoryConfiguration == contents.memoryConfiguration)
            #expect(found.idm == contents.idm && found.pmm == contents.pmm)
            #expect(inspection.unknown == (isKnown ? [] : [.counters]) && (found.writeCounter == 0x01_0203) == isKnown)
        }
        // A card of another kind has none.
        let other = FeliCaStandardContents(idm: Self.idm, systems: [FeliCaSystem(ndefBlocks: 4)])
        #expect(try await inspection(VirtualType3Tag(other)).contents == nil)
    }

    @Test func `Type 4 inspection: ATS, message file and version`() async throws {
        let desfire = DESFireContents.ndef(size: .kilobytes4)
        let inspection = try await inspection(VirtualType4Tag(desfire))
        let card = try #require(inspection.card)
        #expect(card.answerToSelect?.isEmpty == false && card.container?.messageFile == 0xE104)
        #expect(card.version.map { Array($0.prefix(14)) } == Array(desfire.version.prefix(14)))
        #expect(inspection.contents == nil && inspection.vicinity == nil)
        let plain = VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]))
        let other = try await self.inspection(plain).card
        #expect(other?.version == nil && other?.container?.messageFile == 0xE104)
    }

    @Test func `Type 5 inspection: system, locks, signature and container, where they can be read`()
        async throws
    {
        // Its UID says which product it is.
        var contents = VirtualType5Tag(.icodeSLIX2).contents
        contents.lockedBlocks = [3, 7]
        contents.signature = Array(1...32)
        let inspection = try await inspection(VirtualType5Tag(contents))
        var found = try #require(inspection.vicinity)
        #expect(found.lockedBlocks == [3, 7] && found.blockSize == 4)
        #expect(found.system?.blockCount == contents.product.blockCount && found.capabilityContainer?.first == 0xE1)
        #expect(found.signature == contents.signature && found.counter == 0)
        #expect(inspection.contents == nil && inspection.card == nil)
        // The size of a block is known by its memory, or by its system.
        let generic = Type5Contents(blank: .generic(blockCount: 64))
        // GET SYSTEM INFORMATION, plain and extended.
        let untold = ReluctantTag(VirtualType5Tag(generic)) {
            $0.count > 1 && [0x2B, 0x3B].contains($0[1]) ? [] : nil
        }
        found = try #require(try await self.inspection(untold).vicinity)
        #expect(found.system == nil && found.lockedBlocks == nil && found.blockSize == 4)
        #expect(found.capabilityContainer == Array(generic.memory.prefix(4)))
    }
}

/// A tag that answers some commands in another way, or not at all.
private final class ReluctantTag: VirtualTag {
    private let tag: any VirtualTag
    private let reply: @Sendable ([UInt8]) -> [UInt8]?

    /// - Parameter reply: the answer to a command; empty for silence, nil where the tag answers as ever.
    init(_ tag: any VirtualTag, reply: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        (self.tag, self.reply) = (tag, reply)
    }

    var technology: Technology { tag.technology }
    var identifier: [UInt8] { tag.identifier }

    func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        guard let bytes = reply(request.bytes) else { return tag.answer(request, injectedFault: injectedFault) }
        return bytes.isEmpty ? nil : TagAnswer(Frame(bytes))
    }

    func losePower() { tag.losePower() }
}
