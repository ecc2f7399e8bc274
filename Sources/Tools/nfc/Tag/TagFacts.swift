// SPDX-License-Identifier: Apache-2.0

import NFCReaders
import NFCSessions
import TagLink
import VirtualTags

extension Type1Contents {
    /// The facts about a Type 1 tag.
    var facts: [TagFact] {
        let isStatic = product == .topaz96
        let locks: [UInt8] = Array(memory[112..<114]) + (isStatic ? [] : Array(memory[122..<128]))
        // Bit n of the first two bytes is block n; from the factory 0, D and E are set (Topaz 512 data sheet, 4).
        // The last bit means nothing on a Topaz 96, which has 15 blocks.
        let locked = (0..<min(16, memory.count / 8)).filter(locks.hasBit)
        let isFree = locked == [0, 13, 14] && locks.dropFirst(2).allSatisfy { $0 == 0 }
        var regions: [(ClosedRange<Int>, String)] = [
            (0...0, "UID"), (1...12, "capability container and data"), (13...13, "reserved"),
            (14...14, "locks and one-time bytes"),
        ]
        if !isStatic { regions += [(15...15, "reserved and locks"), (16...63, "data")] }
        return [
            TagFact("Header", "header_hex", hex: header),
            TagFact("Memory", "\(memory.count) bytes in blocks of 8", "memory_size", .number(memory.count)),
            .map("block", regions),
            TagFact(
                "Locks",
                isFree
                    ? "none on data (\(HexText.text(locks)))"
                    : "blocks \(TagFact.ranges(locked)) (\(HexText.text(locks)))",
                "lock_hex",
                .bytes(locks)
            ),
            TagFact("CC", "cc_hex", hex: memory[8..<12]),
        ]
    }
}

extension Type2Contents {
    /// The facts about a Type 2 tag.
    ///
    /// - Parameter unknown: what the tag did not report. There are no facts about it.
    func facts(without unknown: Set<TagInspection.Unknown> = []) -> [TagFact] {
        let bytes = product.userPages.count * 4
        let hasSignature = signature.contains { $0 != 0 }
        var facts: [TagFact] = unknown.contains(.answers) ? [] : .answers(atqa, sak)
        facts.append(version.map { TagFact("Version", "version_hex", hex: $0) } ?? TagFact("Version", "no GET_VERSION"))
        if !unknown.contains(.signature) {
            facts.append(
                hasSignature ? TagFact("Signature", "signature_hex", hex: signature) : TagFact("Signature", "none")
            )
        }
        facts += [
            TagFact(
                "Memory",
                "\(product.pageCount) pages, \(bytes) bytes for data",
                "pages",
                .number(product.pageCount)
            ),
            TagFact("memory_size", .number(product.pageCount * 4)), TagFact("user_size", .number(bytes)),
            .map("page", regions),
        ]
        let hasMemory = !unknown.contains(.memory)
        facts +=
            hasMemory
            ? lockFacts(without: unknown) : [TagFact("Locks", "not known: a part of the memory can't be read")]
        if !unknown.contains(.counters) { facts += counterFacts }
        guard hasMemory else { return facts }
        return facts + [TagFact("CC", "cc_hex", hex: memory.dropFirst(12).prefix(4))]
    }

    private var regions: [(ClosedRange<Int>, String)] {
        var regions: [(ClosedRange<Int>, String)] = [
            (0...1, "UID"), (2...2, "UID and static locks"), (3...3, "capability container"),
            (product.userPages, "data"),
        ]
        if let page = product.dynamicLockPage { regions.append((page...page, "dynamic locks")) }
        if let page = product.firstConfigurationPage {
            regions.append((page...(product.pageCount - 1), "configuration and \(page == 42 ? "key" : "password")"))
        }
        return regions
    }

    private func lockFacts(without unknown: Set<TagInspection.Unknown>) -> [TagFact] {
        let staticLock = Array(memory.dropFirst(10).prefix(2))
        // Products with more than 20 pages have three lock bytes right after the data.
        let dynamicLock = product.dynamicLockPage.map { Array(memory.dropFirst($0 * 4).prefix(3)) }
        let dynamicText = dynamicLock.map { $0.isEmpty ? ", dynamic not known" : ", dynamic \(HexText.text($0))" }
        let bytes = "static \(HexText.text(staticLock))" + (dynamicText ?? "")
        let locked = lockedPages
        let text = "\(TagFact.readOnly(locked, "page")) (\(bytes))"
        var facts = [
            TagFact("Locks", text, "static_lock_hex", .bytes(staticLock)),
            TagFact("locked_pages", .numbers(locked)),
        ]
        if let dynamicLock, !dynamicLock.isEmpty { facts.append(TagFact("dynamic_lock_hex", .bytes(dynamicLock))) }
        if let page = firstProtectedPage {
            let failures =
                unknown.contains(.failedAuthentications) ? "" : "; \(failedAuthentications) failed in a row"
            let text = "pages from \(page) on need a password" + failures
            facts.append(TagFact("Password", text, "protected_from_page", .number(page)))
        }
        return facts
    }

    private var counterFacts: [TagFact] {
        let numbers = countersOfProduct
        guard !numbers.isEmpty else { return [] }
        let texts = numbers.map { number in
            let isWhole = numbers.count == 1 || tearingFlags[number] == 0xBD
            return "\(number) at \(counters[number])" + (isWhole ? "" : " (torn)")
        }
        let values = numbers.map { Int(counters[$0]) }
        return [TagFact("Counters", texts.joined(separator: ", "), "counters", .numbers(values))]
    }
}

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

extension Type4Contents {
    /// The facts about a Type 4 tag.
    var facts: [TagFact] {
        frontEndFacts + cardFacts
    }

    private var frontEndFacts: [TagFact] {
        switch frontEnd {
        case .nfcA(_, let atqa, let sak, let ats):
            return .answers(atqa, sak) + [TagFact("ATS", "ats", hex: ats)]
        case .nfcB(_, let data, let info): return .answers(applicationData: data, protocolInfo: info)
        }
    }

    private var cardFacts: [TagFact] {
        switch kind {
        case .unspecified:
            return [TagFact("Card", "only its activation is known")]
        case .version(let contents):
            return [
                TagFact(
                    "Card",
                    "\(contents.chip), of which only the version is known",
                    "chip",
                    .text(contents.chip)
                ),
                TagFact("Version", "version_hex", hex: contents.version),
            ]
        case .emv(let contents): return contents.facts
        case .emrtd(let contents):
            let zone = contents.zone.lines.joined(separator: " ")
            let files = contents.files.sorted { $0.key < $1.key }.map {
                (Self.text($0.key), $0.value.count, nil as String?)
            }
            return [TagFact("Zone", zone, "mrz", .text(contents.zone.lines.joined()))] + Self.fileFacts(files)
        case .ndef(let files):
            let sorted = files.sorted { $0.key < $1.key }
            return Self.fileFacts(
                sorted.map { file in
                    (Self.text(file.key), file.value.count, file.key == 0xE103 ? "capability container" : nil)
                }
            )
        case .ntag424(let contents):
            var facts = [
                TagFact("Version", "version_hex", hex: contents.version),
                TagFact(
                    "Counter",
                    "\(contents.readCounter) readings",
                    "read_counter",
                    .number(Int(contents.readCounter))
                ),
            ]
            facts += Self.fileFacts(
                contents.files.map { file in
                    (Self.text(file.isoIdentifier), file.data.count, Self.rights(file.accessRights))
                }
            )
            return facts
        case .desfire(let contents):
            return Self.facts(of: contents)
        }
    }

    private static func facts(of contents: DESFireContents) -> [TagFact] {
        var facts = [
            TagFact("Version", "version_hex", hex: contents.version),
            TagFact("Memory", "\(contents.freeMemory) bytes free", "free_memory", .number(contents.freeMemory)),
        ]
        let configuration = contents.configuration
        if configuration.usesRandomUID {
            facts.append(TagFact("Random", "another UID in each field", "random_uid", .flag(true)))
        }
        if configuration.isFormatDisabled {
            facts.append(TagFact("Format", "refused for good", "format_disabled", .flag(true)))
        }
        var objects: [[TagFact.Member]] = []
        for application in contents.applications {
            let identifier = (0..<3).map { UInt8(truncatingIfNeeded: application.identifier >> (16 - 8 * $0)) }
            let files = application.files.map { file in
                let size: String
                switch file.kind {
                case .standard(let data): size = "\(data.count) bytes"
                case .backup(let data): size = "\(data.count) bytes with backup"
                case .value(_, _, let current, _): size = "value \(current)"
                case .linearRecords(let length, let maximum, let records),
                    .cyclicRecords(let length, let maximum, let records):
                    size = "\(records.count / max(1, length)) of \(maximum) records of \(length) bytes"
                }
                objects.append([
                    TagFact.Member("application", .bytes(identifier)),
                    TagFact.Member("file", .number(Int(file.number))),
                    TagFact.Member("content", .text(size)), TagFact.Member("rights", .text(rights(file.accessRights))),
                ])
                return "file \(file.number): \(size), \(rights(file.accessRights))"
            }
            let keys = application.keyCount & 0x0F
            let text = files.isEmpty ? "no files" : files.joined(separator: "; ")
            facts.append(TagFact("App", "\(HexText.text(identifier)), \(RecordText.count(Int(keys), "key")): \(text)"))
        }
        return facts + [TagFact("files", .objects(objects))]
    }

    /// The files of a card.
    static func fileFacts(_ files: [(name: String, size: Int, note: String?)]) -> [TagFact] {
        let texts = files.map { "\($0.name) with \($0.size) bytes" + ($0.note.map { " (\($0))" } ?? "") }
        let objects = files.map { file in
            var members: [TagFact.Member] = [
                TagFact.Member("file", .text(file.name)), TagFact.Member("size", .number(file.size)),
            ]
            if let note = file.note { members.append(TagFact.Member("note", .text(note))) }
            return members
        }
        return [TagFact("Files", texts.joined(separator: "; "), "files", .objects(objects))]
    }

    /// Who may read and write.
    private static func rights(_ rights: FileAccessRights) -> String {
        func who(_ right: FileAccessRights.Right) -> String {
            let holders = [right, .readWrite].map(rights.holder)
            if holders.contains(.everybody) { return "free" }
            let keys = holders.compactMap { if case .key(let number) = $0 { number } else { nil } }
            let names = Set(keys).sorted().map { String($0) }
            return names.isEmpty ? "closed" : "with key " + names.joined(separator: " or ")
        }
        return "reading \(who(.read)), writing \(who(.write))"
    }

    /// A file's identifier.
    static func text(_ number: UInt16) -> String { HexText.text(number.bigEndianBytes) }
}

extension EMVContents {
    /// The facts about a payment card. Only the last digits of the card's number are shown.
    fileprivate var facts: [TagFact] {
        let digits = HexText.text(accountNumber).filter(\.isNumber)
        let label = [label, name].first { !$0.isEmpty } ?? "no label"
        return [
            TagFact("Application", "\(HexText.text(applicationIdentifier)), \(label)"),
            TagFact("aid", .bytes(applicationIdentifier)), TagFact("label", .text(label)),
            TagFact("Number", "ends in \(digits.suffix(4))", "last_digits", .text(String(digits.suffix(4)))),
        ]
    }
}

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
