// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import TagLink
import VirtualTags

extension VirtualType3Tag.Contents {
    /// The facts about a Type 3 tag.
    ///
    /// - Parameter unknown: what the tag did not report. There are no facts about it.
    func facts(without unknown: Set<TagInspection.Unknown> = []) -> [TagFact] {
        switch self {
        case .liteS(let contents): contents.facts(without: unknown)
        case .standard(let contents): contents.facts
        }
    }
}

extension FeliCaLiteSContents {
    fileprivate func facts(without unknown: Set<TagInspection.Unknown>) -> [TagFact] {
        // Bytes 0 and 1 of the memory configuration: a bit per block, 0 for read-only.
        let locked = (0..<15).filter { !memoryConfiguration.hasBit($0) }
        let isFrozen = memoryConfiguration[2] == 0x00
        let text = locked.isEmpty ? "no block" : TagFact.numbered(locked, "block")
        let facts: [TagFact] = [
            TagFact("PMm", "pmm", hex: pmm),
            TagFact("Memory", "14 blocks of 16 bytes for data", "blocks", .number(14)),
            .map(
                "block",
                [
                    (0...0, "attribute information"), (1...13, "data"), (14...14, "register"),
                    (128...136, "system: challenge, codes, identifiers, key, configuration"),
                    (144...146, "write counter, code and state"), (160...160, "check of the memory"),
                ]
            ),
            TagFact(
                "Locks",
                "\(text) read-only, system blocks \(isFrozen ? "frozen" : "open")",
                "locked_blocks",
                .numbers(locked)
            ),
            TagFact("system_blocks_frozen", .flag(isFrozen)),
            TagFact(
                "NDEF system",
                supportsNDEF ? "answers polling for 12FC" : "switched off",
                "ndef_system",
                .flag(supportsNDEF)
            ),
        ]
        if unknown.contains(.counters) { return facts }
        return facts + [TagFact("Counter", "\(writeCounter) writes", "write_counter", .number(Int(writeCounter)))]
    }
}

extension FeliCaStandardContents {
    fileprivate var facts: [TagFact] {
        var facts = [TagFact("PMm", "pmm", hex: pmm)]
        var objects: [[TagFact.Member]] = []
        for system in systems {
            let code = system.code.bigEndianBytes
            let files = system.files.map { file in
                let codes = file.serviceCodes.map { HexText.text($0.bigEndianBytes) }
                let isOpen = file.serviceCodes.contains { $0 & 0x01 == 1 }
                objects.append([
                    TagFact.Member("system", .bytes(code)),
                    TagFact.Member("services", .text(codes.joined(separator: ","))),
                    TagFact.Member("blocks", .number(file.blockCount)), TagFact.Member("needs_key", .flag(!isOpen)),
                ])
                let size = isOpen ? RecordText.count(file.blockCount, "block") : "needs a key"
                return "service \(codes.joined(separator: " and ")), \(size)"
            }
            facts.append(TagFact("System", "\(HexText.text(code)): " + files.joined(separator: "; ")))
        }
        return facts + [TagFact("services", .objects(objects))]
    }
}
