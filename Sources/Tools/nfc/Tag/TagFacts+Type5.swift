// SPDX-License-Identifier: Apache-2.0
import VirtualTags

extension Type5Contents {
    /// The facts about a Type 5 tag.
    var facts: [TagFact] {
        let locked = lockedBlocks.sorted()
        let data = product.dataBlockCount
        var regions: [(ClosedRange<Int>, String)] = [(0...0, "capability container")]
        if data > 1 { regions.append((1...(data - 1), "data")) }
        if product.blockCount > data { regions.append((data...data, "counter")) }
        var facts = TagFact.vicinityMemory(blockCount: product.blockCount, blockSize: product.blockSize)
        facts += [
            .map("block", regions), .lockedBlocks(locked),
            TagFact("AFI", HexText.text([afi]) + (isAFILocked ? ", locked" : ""), "afi", .bytes([afi])),
            TagFact("DSFID", HexText.text([dsfid]) + (isDSFIDLocked ? ", locked" : ""), "dsfid", .bytes([dsfid])),
            TagFact("afi_locked", .flag(isAFILocked)), TagFact("dsfid_locked", .flag(isDSFIDLocked)),
            .icReference(product.icReference),
        ]
        if product.features.contains(.surveillance) {
            let text = (isSurveillanceSet ? "set" : "not set") + (isSurveillanceLocked ? ", locked" : "")
            facts.append(TagFact("EAS", text, "eas", .flag(isSurveillanceSet)))
        }
        if product.features.contains(.counter) {
            facts.append(TagFact("Counter", String(counter), "counter", .number(Int(counter))))
        }
        if let guards = guardText { facts.append(TagFact("Guards", guards, "guards", .text(guards))) }
        if product.features.contains(.signature), signature.contains(where: { $0 != 0 }) {
            facts.append(TagFact("Signature", "signature_hex", hex: signature))
        }
        return facts + [TagFact("CC", "cc_hex", hex: memory.prefix(memory.dropFirst(2).first == 0 ? 8 : 4))]
    }
}

extension TagFact {
    /// The size of a Type 5 tag's memory.
    static func vicinityMemory(blockCount: Int, blockSize: Int) -> [TagFact] {
        [
            TagFact(
                "Memory",
                "\(RecordText.count(blockCount, "block")) of \(RecordText.count(blockSize, "byte"))",
                "blocks",
                .number(blockCount)
            ),
            TagFact("block_size", .number(blockSize)), TagFact("memory_size", .number(blockCount * blockSize)),
        ]
    }

    /// The locked blocks.
    static func lockedBlocks(_ blocks: [Int]) -> TagFact {
        TagFact("Locks", readOnly(blocks, "block"), "locked_blocks", .numbers(blocks))
    }

    /// The IC reference.
    static func icReference(_ byte: UInt8) -> TagFact {
        TagFact("IC", "reference \(HexText.text([byte]))", "ic_reference", .bytes([byte]))
    }
}

extension Type5Contents {
    /// What passwords and modes prevent, in words; nil for nothing.
    private var guardText: String? {
        var words: [String] = []
        let pages: [(ICODEProtection.Condition, String)] = [
            (.readLow, "reading below"), (.writeLow, "writing below"), (.readHigh, "reading from"),
            (.writeHigh, "writing from"),
        ]
        for (condition, name) in pages where protection.condition.contains(condition) {
            words.append("\(name) block \(protection.pointer) needs a password")
        }
        if protection.isPrivate { words.append("private") }
        if protection.isPersistentlyQuiet { words.append("quiet for good") }
        if settings.isUntraceable { words.append("untraceable") }
        if protection.isDestroyed || settings.isKilled { words.append("destroyed") }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

extension ClassicContents {
    /// The facts about a MIFARE Classic.
    var facts: [TagFact] {
        let blocks = product.blockCount
        var facts: [TagFact] = .answers(atqa, sak)
        facts += [
            TagFact(
                "Memory",
                "\(blocks) blocks of 16 bytes in \(product.sectorCount) sectors",
                "blocks",
                .number(blocks)
            ),
            TagFact("sectors", .number(product.sectorCount)), TagFact("memory_size", .number(memory.count)),
            .map(
                "block",
                [
                    (0...0, "UID and manufacturer"),
                    (1...(blocks - 1), "data; the last one of a sector has its keys and rights"),
                ]
            ),
        ]
        if !unknownBytes.isEmpty {
            let count = unknownBytes.count
            facts.append(TagFact("Unknown", "\(count) bytes could not be read", "unknown_octets", .number(count)))
        }
        if !signature.isEmpty { facts.append(TagFact("Signature", "signature_hex", hex: signature)) }
        return facts
    }
}
