// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
package import TagProtocols
package import VirtualTags

/// All data that a reader can read from a tag without a key, or from a MIFARE Classic with known keys, as the contents
/// of an image.
package struct TagDump: Sendable {
    /// The contents. Type 2 memory ends before the first page that could not be read; other unread parts have the values
    /// of a new tag, or zeros.
    package var contents: TagContents
    /// The parts that could not be read, in words, such as `pages 20 to 44`.
    package var unread: [String] = []
    package var findings: TagReadResult
}

extension ActivatedTag {
    /// Reads all data that the tag reveals without a key.
    ///
    /// - Throws: ``TagError`` with `unsupported` for a tag that can't be stored in an image, and the errors of
    ///   ``read()``.
    package func dump() async throws(TagError) -> TagDump {
        let inspection = try await inspect()
        guard let forumTag else {
            guard case .nfcA(let target) = target, let sak = target.sak, [4, 7, 10].contains(target.uid.count) else {
                throw TagError(.unsupported, "A \(target.kindName) can't be stored in an image.")
            }
            let contents = NFCAContents(uid: target.uid, atqa: target.atqa, sak: sak)
            return TagDump(contents: .nfcA(contents), unread: ["the memory"], findings: inspection.findings)
        }
        let (contents, unread): (TagContents, [String]) =
            switch forumTag {
            case let tag as Type2Tag: try Self.dump(tag, inspection)
            case let tag as Type3Tag: try await Self.dump(tag, inspection)
            case let tag as Type4Tag: try await dump(tag, inspection)
            case let tag as Type5Tag: try await Self.dump(tag, inspection)
            case is MIFAREClassic: try (Self.known(inspection), inspection.unreadOfClassic)
            default: try (Self.known(inspection), [])
            }
        return TagDump(contents: contents, unread: unread, findings: inspection.findings)
    }

    private static func known(_ inspection: TagInspection) throws(TagError) -> TagContents {
        if let contents = inspection.contents { return contents }
        throw TagError(.unsupported, "The tag's product is unknown, so its memory can't be stored in an image.")
    }

    private static func dump(_ tag: Type2Tag, _ inspection: TagInspection) throws(TagError) -> (TagContents, [String]) {
        guard case .type2(var contents) = try known(inspection) else { return (try known(inspection), []) }
        let product = contents.product
        if inspection.unknown.contains(.memory) {
            contents.memory = tag.pagesReadSoFar
        } else {
            contents.memory.removeSubrange((4 * product.readablePageCount)...)
        }
        var unread: [String] = []
        let count = contents.memory.count / 4
        if count < product.pageCount { unread.append("pages \(count) to \(product.pageCount - 1)") }
        if product.features.contains(.password), count == product.pageCount {
            unread.append("the password and its acknowledgement")
        }
        if inspection.unknown.contains(.signature) { unread.append("the signature") }
        if inspection.unknown.contains(.counters) { unread.append("counters") }
        return (.type2(contents), unread)
    }

    private static func dump(
        _ tag: Type3Tag,
        _ inspection: TagInspection
    ) async throws(TagError) -> (TagContents, [String]) {
        var unread: [String] = []
        func read(_ blocks: Range<Int>) async throws(TagError) -> [UInt8] {
            var bytes: [UInt8] = []
            for block in blocks {
                let content = try await tag.readBlock(block)
                if content == nil { unread.append("block \(block)") }
                bytes += content ?? [UInt8](repeating: 0, count: 16)
            }
            return bytes
        }
        if case .type3(.liteS(var contents))? = inspection.contents {
            contents.userMemory = try await read(0..<14)
            contents.register = try await read(0x0E..<0x0F)
            contents.identifierExtension = Array(try await read(0x82..<0x83).suffix(8))
            contents.serviceCode = try await read(0x84..<0x85)
            contents.keyVersion = try await read(0x86..<0x87)
            return (.type3(.liteS(contents)), unread + ["the card key"])
        }
        guard let capacity = inspection.findings.ndefStatus.detection?.capacity else {
            let reason = "Only FeliCa Lite-S and the NDEF system of a FeliCa tag can be read without a key."
            throw TagError(.unsupported, reason)
        }
        let system = FeliCaSystem(ndef: try await read(0..<1 + capacity / 16))
        let contents = FeliCaStandardContents(idm: tag.target.idm, pmm: tag.target.pmm, systems: [system])
        return (.type3(.standard(contents)), unread + ["other systems"])
    }

    private func dump(
        _ tag: Type4Tag,
        _ inspection: TagInspection
    ) async throws(TagError) -> (TagContents, [String]) {
        let frontEnd: Type4FrontEnd
        switch inspection.target {
        case .nfcB(let target):
            frontEnd = .nfcB(
                pupi: target.identifier,
                applicationData: target.applicationData,
                protocolInfo: target.protocolInfo
            )
        case .nfcA(let target) where [4, 7, 10].contains(target.uid.count):
            let ats = inspection.card?.answerToSelect ?? [0x05, 0x78, 0x80, 0x70, 0x02]
            frontEnd = .nfcA(uid: target.uid, atqa: target.atqa, sak: target.sak ?? 0x20, ats: ats)
        default: throw TagError(.unsupported, "The reader does not report the UID, which an image needs.")
        }
        if let version = inspection.card?.version.flatMap(DESFireVersion.init), version.isDESFire,
            version.production.count == 7
        {
            let (card, unread) = try await desfireContents(version)
            // A message that is in no application of the image is worth more than the rest.
            let hasMessage = card.applications.contains { $0.files.contains { $0.isoIdentifier != nil } }
            if hasMessage || inspection.findings.ndefStatus.error != nil {
                return (.type4(Type4Contents(frontEnd: frontEnd, kind: .desfire(card))), unread)
            }
            tag.selectionWasChanged()
        }
        guard inspection.findings.ndefStatus.error == nil else {
            return (.type4(Type4Contents(frontEnd: frontEnd, kind: .unspecified)), ["applications and files"])
        }
        let files = try await tag.readFiles()
        return (.type4(Type4Contents(frontEnd: frontEnd, kind: .ndef(files: files))), ["other applications and files"])
    }

    private static func dump(
        _ tag: Type5Tag,
        _ inspection: TagInspection
    ) async throws(TagError) -> (TagContents, [String]) {
        guard let memory = try await tag.readMemory() else {
            throw TagError(.unsupported, "The tag does not report the size of its memory (ISO/IEC 15693-3, 10.4.12).")
        }
        let (uid, size, vicinity) = (tag.target.uid, tag.blockSize, inspection.vicinity)
        let count = memory.bytes.count / size
        let known = Type5Product.all.first { product in
            product.name == inspection.findings.product && product.dataBlockCount == count && product.blockSize == size
        }
        let reference = vicinity?.system?.icReference ?? 0
        var contents = Type5Contents(
            blank: known ?? .generic(blockCount: count, blockSize: size, icReference: reference),
            uid: uid
        )
        contents.memory = memory.bytes
        contents.unreadBlocks = Set(memory.unread)
        contents.dsfid = vicinity?.system?.dsfid ?? tag.target.dsfid
        contents.afi = vicinity?.system?.afi ?? 0
        contents.lockedBlocks = Set(vicinity?.lockedBlocks ?? []).intersection(0..<count)
        if let signature = vicinity?.signature { contents.signature = signature }
        if let counter = vicinity?.counter { contents.counter = counter }
        var unread = TagInspection.names(ofBlocks: memory.unread)
        if vicinity?.lockedBlocks == nil { unread.append("which blocks are locked") }
        if known != nil { unread.append("passwords and settings") }
        return (.type5(contents), unread)
    }
}

extension TagInspection {
    /// Blocks in words, those in a row together.
    fileprivate static func names(ofBlocks blocks: some Sequence<Int>) -> [String] {
        RangeSet(blocks.map { $0..<$0 + 1 }).ranges.map { run in
            run.count == 1 ? "block \(run.lowerBound)" : "blocks \(run.lowerBound) to \(run.upperBound - 1)"
        }
    }

    /// The blocks and keys of a MIFARE Classic that could not be read, in words.
    fileprivate var unreadOfClassic: [String] {
        guard case .classic(let contents)? = contents else { return [] }
        let unknown = contents.unknownBytes
        let blocks = (0..<contents.product.blockCount).filter { unknown.contains($0 * 16 + 6) }
        var unread = Self.names(ofBlocks: blocks)
        for (name, start) in [("A", 0), ("B", 10)] {
            let sectors = (0..<contents.product.sectorCount).filter { sector in
                let trailer = ClassicProduct.trailer(ofSector: sector) * 16
                return unknown.contains(trailer + start) && !unknown.contains(trailer + 6)
            }
            if !sectors.isEmpty {
                unread.append("key \(name) of sector \(sectors.map(String.init).joined(separator: ", "))")
            }
        }
        return unread
    }
}
