// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols
import TextSafety
import VirtualTags

/// A fact about a tag: a line for people, a JSON member for programs, or both.
struct TagFact {
    /// The line's label and text; nil if the fact is only for programs.
    private(set) var line: (label: String, text: String)?
    /// The JSON member; empty if the fact is only for people.
    private(set) var member: JSONObject = [:]

    init(_ label: String, _ text: String, _ key: String, _ value: any JSONValue) {
        line = (label, text)
        member.append(key, value)
    }

    init(_ label: String, _ text: String) { line = (label, text) }

    init(_ key: String, value: any JSONValue) { member.append(key, value) }

    init(_ label: String, _ key: String, hex bytes: some Sequence<UInt8>) {
        let text = bytes.hexText()
        self.init(label, text, key, text)
    }
}

extension TagFact {
    static func map(_ unit: String, _ regions: [(ClosedRange<Int>, String)]) -> TagFact {
        let lines = regions.map { range, name in
            let place =
                range.count == 1 ? "\(unit) \(range.lowerBound)" : "\(unit)s \(range.lowerBound)-\(range.upperBound)"
            return "\(place) \(name)"
        }
        let objects = regions.map { range, name -> JSONObject in
            ["unit": unit, "first": range.lowerBound, "last": range.upperBound, "what": name]
        }
        return TagFact("Map", lines.joined(separator: "; "), "map", objects)
    }

    /// Formats numbers as ranges, such as `4-15, 20`.
    static func ranges(_ numbers: [Int]) -> String {
        var parts: [ClosedRange<Int>] = []
        for number in numbers.sorted() {
            if let last = parts.last, last.upperBound + 1 == number {
                parts[parts.count - 1] = last.lowerBound...number
            } else {
                parts.append(number...number)
            }
        }
        return parts.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ", ")
    }

    /// Formats numbered things, such as `block 3` or `blocks 3-5, 8`.
    static func numbered(_ numbers: [Int], _ thing: String) -> String {
        "\(thing)\(numbers.count == 1 ? "" : "s") \(ranges(numbers))"
    }

    /// Describes which numbered things are read-only: `none`, `block 3 is read-only`, or `blocks 3-5, 8 are read-only`.
    static func readOnlyText(_ numbers: [Int], _ thing: String) -> String {
        numbers.isEmpty ? "none" : "\(numbered(numbers, thing)) \(numbers.count == 1 ? "is" : "are") read-only"
    }
}

extension TagInspection {
    /// The facts about a tag on a reader, from its memory if all of it could be read, otherwise from the answers to
    /// single commands.
    var facts: [TagFact] {
        if let contents { return contents.facts(without: unknown) }
        var facts = activationFacts
        if let card { facts += card.facts }
        if let vicinity { facts += vicinity.facts }
        return facts
    }

    private var activationFacts: [TagFact] {
        switch target {
        case .nfcA(let target):
            guard reportsActivationData, let sak = target.sak else { return [] }
            return .answers(target.atqa, sak)
        case .nfcB(let target):
            return reportsActivationData
                ? .answers(applicationData: target.applicationData, protocolInfo: target.protocolInfo) : []
        case .nfcF(let target):
            // If a reader does not report the PMm, all its bytes are 0xFF.
            guard target.pmm.contains(where: { $0 != 0xFF }) else { return [] }
            let system = target.systemCode.map { $0.bigEndianBytes }
            return [TagFact("PMm", "pmm", hex: target.pmm)]
                + (system.map { [TagFact("System", "system", hex: $0)] } ?? [])
        case .nfcV(let target):
            return target.manufacturerName.map { [TagFact("Maker", $0, "manufacturer", $0)] } ?? []
        }
    }
}

extension TagInspection.Card {
    fileprivate var facts: [TagFact] {
        var facts: [TagFact] = []
        if let answerToSelect { facts.append(TagFact("ATS", "ats", hex: answerToSelect)) }
        if let version { facts.append(TagFact("Version", "version_hex", hex: version)) }
        if let file = container {
            let note = "reading \(Self.access(file.readAccess)), writing \(Self.access(file.writeAccess))"
            facts += Type4Contents.fileFacts([(Type4Contents.text(file.messageFile), file.fileSize, note)])
        }
        return facts
    }

    /// Describes an access byte of the capability container (NFC Forum T4T 1.2, 4.3).
    private static func access(_ byte: UInt8) -> String {
        switch byte {
        case 0x00: "free"
        case 0xFF: "closed"
        default: "by rule \([byte].hexText())"
        }
    }
}

extension TagInspection.Vicinity {
    fileprivate var facts: [TagFact] {
        var facts: [TagFact] = []
        if let count = system?.blockCount, let size = system?.blockSize ?? blockSize {
            facts += TagFact.vicinityMemory(blockCount: count, blockSize: size)
        } else if let blockSize {
            facts.append(TagFact("Memory", "blocks of \(blockSize) bytes", "block_size", blockSize))
        }
        if let lockedBlocks { facts.append(.lockedBlocks(lockedBlocks)) }
        if let afi = system?.afi { facts.append(TagFact("AFI", "afi", hex: [afi])) }
        if let dsfid = system?.dsfid { facts.append(TagFact("DSFID", "dsfid", hex: [dsfid])) }
        if let reference = system?.icReference { facts.append(.icReference(reference)) }
        if let counter { facts.append(TagFact("Counter", String(counter), "counter", Int(counter))) }
        if let signature { facts.append(TagFact("Signature", "signature_hex", hex: signature)) }
        if let capabilityContainer { facts.append(TagFact("CC", "cc_hex", hex: capabilityContainer)) }
        return facts
    }
}

extension Type1Contents {
    var facts: [TagFact] {
        let isStatic = product == .topaz96
        let locks: [UInt8] = Array(memory[112..<114]) + (isStatic ? [] : Array(memory[122..<128]))
        // Bit n of the first two bytes locks block n. The factory locks 0, D and E (Topaz 512 data sheet, 4).
        let locked = (0..<min(8 * locks.count, memory.count / 8)).filter(locks.hasBit)
        let isFree = locked == [0, 13, 14]
        var regions: [(ClosedRange<Int>, String)] = [
            (0...0, "UID"), (1...12, "capability container and data"), (13...13, "reserved"),
            (14...14, "locks and one-time bytes"),
        ]
        if !isStatic { regions += [(15...15, "reserved and locks"), (16...63, "data")] }
        return [
            TagFact("Header", "header_hex", hex: header),
            TagFact("Memory", "\(memory.count) bytes in blocks of 8", "memory_size", memory.count),
            .map("block", regions),
            TagFact(
                "Locks",
                isFree
                    ? "none on data (\(locks.hexText()))"
                    : "blocks \(TagFact.ranges(locked)) (\(locks.hexText()))",
                "lock_hex",
                locks.hexText()
            ),
            TagFact("CC", "cc_hex", hex: memory[8..<12]),
        ]
    }
}

extension Type2Contents {
    /// The facts about a Type 2 tag, except those that the tag did not report.
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
            TagFact("Memory", "\(product.pageCount) pages, \(bytes) bytes for data", "pages", product.pageCount),
            TagFact("memory_size", value: product.pageCount * 4), TagFact("user_size", value: bytes),
            .map("page", regions),
        ]
        let hasMemory = !unknown.contains(.memory)
        facts +=
            hasMemory
            ? lockFacts(without: unknown) : [TagFact("Locks", "unknown: a part of the memory can't be read")]
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
            let last = product.pageCount > 256 ? page + 6 : product.pageCount - 1
            regions.append((page...last, "configuration and \(hasKey ? "key" : "password")"))
            if product.pageCount > 256 { regions.append((256...(product.pageCount - 1), "data of the second sector")) }
        }
        return regions
    }

    /// Whether the tag authenticates readers by a key, and not by a password.
    fileprivate var hasKey: Bool { product.keyPages != nil }

    /// The bits of ACCESS.
    private var accessFacts: [TagFact] {
        guard let access, let page = product.firstConfigurationPage, memory.count >= (page + 2) * 4 else { return [] }
        let (prot, lock, limit) = (access >> 7, access >> 6 & 1, access & 0x07)
        var texts = [
            "PROT \(prot): the password is for \(prot == 1 ? "reading and writing" : "writing")",
            "CFGLCK \(lock): the configuration is \(lock == 1 ? "locked" : "open")",
            "AUTHLIM \(limit): \(limit == 0 ? "no limit" : "a limit") of wrong passwords",
        ]
        var facts = [
            TagFact("prot", value: prot == 1), TagFact("cfglck", value: lock == 1),
            TagFact("authlim", value: Int(limit)),
        ]
        if countersOfProduct == [2] {
            let (enabled, guarded) = (access >> 4 & 1, access >> 3 & 1)
            texts.append("NFC_CNT_EN \(enabled): readings are \(enabled == 1 ? "" : "not ")counted")
            texts.append("NFC_CNT_PWD_PROT \(guarded): the counter \(guarded == 1 ? "needs the password" : "is free")")
            facts += [
                TagFact("nfc_cnt_en", value: enabled == 1), TagFact("nfc_cnt_pwd_prot", value: guarded == 1),
            ]
        }
        return [TagFact("Access", texts.joined(separator: "; "))] + facts
    }

    private func lockFacts(without unknown: Set<TagInspection.Unknown>) -> [TagFact] {
        let staticLock = Array(memory.dropFirst(10).prefix(2))
        // Products with more than 20 pages have three lock bytes directly after the data.
        let dynamicLock = product.dynamicLockPage.map { Array(memory.dropFirst($0 * 4).prefix(3)) }
        let dynamicText = dynamicLock.map { $0.isEmpty ? ", dynamic unknown" : ", dynamic \($0.hexText())" }
        let bytes = "static \(staticLock.hexText())" + (dynamicText ?? "")
        let locked = lockedPages
        let text = "\(TagFact.readOnlyText(locked, "page")) (\(bytes))"
        var facts = [
            TagFact("Locks", text, "static_lock_hex", staticLock.hexText()),
            TagFact("locked_pages", value: locked),
        ]
        if let dynamicLock, !dynamicLock.isEmpty {
            facts.append(TagFact("dynamic_lock_hex", value: dynamicLock.hexText()))
        }
        if let page = firstProtectedPage {
            let isCounted = !hasKey && !unknown.contains(.failedAuthentications)
            let failures = isCounted ? "; \(failedAuthentications) failed in a row" : ""
            let what = protectsReading ? "reading and writing need" : "writing needs"
            let text = "\(what) the \(hasKey ? "key" : "password") from page \(page) on" + failures
            facts.append(TagFact(hasKey ? "Key" : "Password", text, "protected_from_page", page))
            facts.append(TagFact("protects_reading", value: protectsReading))
        }
        return facts + accessFacts
    }

    private var counterFacts: [TagFact] {
        let numbers = countersOfProduct
        guard !numbers.isEmpty else { return [] }
        let texts = numbers.map { number in
            let isWhole = numbers.count == 1 || tearingFlags[number] == 0xBD
            return "\(number) at \(counters[number])" + (isWhole ? "" : " (torn)")
        }
        let values = numbers.map { Int(counters[$0]) }
        return [TagFact("Counters", texts.joined(separator: ", "), "counters", values)]
    }
}

extension VirtualType3Tag.Contents {
    /// The facts about a Type 3 tag, except those that the tag did not report.
    func facts(without unknown: Set<TagInspection.Unknown> = []) -> [TagFact] {
        switch self {
        case .liteS(let contents): contents.facts(without: unknown)
        case .standard(let contents): contents.facts
        }
    }
}

extension FeliCaLiteSContents {
    fileprivate func facts(without unknown: Set<TagInspection.Unknown>) -> [TagFact] {
        // Bytes 0 and 1 of the memory configuration hold one bit per block; 0 means read-only.
        let locked = (0..<15).filter { !memoryConfiguration.hasBit($0) }
        let isFrozen = memoryConfiguration[2] == 0x00
        let text = locked.isEmpty ? "no block" : TagFact.numbered(locked, "block")
        var facts: [TagFact] = [
            TagFact("PMm", "pmm", hex: pmm),
            TagFact("Memory", "14 blocks of 16 bytes for data", "blocks", 14),
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
                locked
            ),
            TagFact("system_blocks_frozen", value: isFrozen),
            TagFact(
                "NDEF system",
                supportsNDEF ? "answers polling for 12FC" : "switched off",
                "ndef_system",
                supportsNDEF
            ),
        ]
        // Bytes 6 and 7 say which blocks need the card key to be read, 8 and 9 or 10 and 11 to be written.
        let guarded = [("reading", [48]), ("writing", [64, 80])].compactMap { name, starts -> String? in
            let blocks = (0..<14).filter { block in starts.contains { memoryConfiguration.hasBit($0 + block) } }
            return blocks.isEmpty ? nil : "\(name) of \(TagFact.numbered(blocks, "block"))"
        }
        if !guarded.isEmpty {
            let guards = "card key: \(guarded.joined(separator: ", "))"
            facts.append(TagFact("Guards", guards, "guards", guards))
        }
        if unknown.contains(.counters) { return facts }
        return facts + [TagFact("Counter", "\(writeCounter) writes", "write_counter", Int(writeCounter))]
    }
}

extension FeliCaStandardContents {
    fileprivate var facts: [TagFact] {
        var facts = [TagFact("PMm", "pmm", hex: pmm)]
        var objects: [JSONObject] = []
        for system in systems {
            let code = system.code.bigEndianBytes
            let files = system.files.map { file in
                let codes = file.serviceCodes.map { $0.bigEndianBytes.hexText() }
                let isOpen = file.serviceCodes.contains { $0 & 0x01 == 1 }
                objects.append([
                    "system": code.hexText(), "services": codes.joined(separator: ","), "blocks": file.blockCount,
                    "needs_key": !isOpen,
                ])
                let size = isOpen ? RecordText.count(file.blockCount, "block") : "needs a key"
                return "service \(codes.joined(separator: " and ")), \(size)"
            }
            facts.append(TagFact("System", "\(code.hexText()): " + files.joined(separator: "; ")))
        }
        return facts + [TagFact("services", value: objects)]
    }
}

extension Type4Contents {
    var facts: [TagFact] { frontEndFacts + cardFacts }

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
            return [TagFact("Card", "only its activation data is known")]
        case .mifarePlus(let contents):
            return [TagFact("Version", "version_hex", hex: contents.version)]
        case .version(let contents):
            return [
                TagFact("Card", "\(contents.chip), of which only the version is known", "chip", contents.chip),
                TagFact("Version", "version_hex", hex: contents.version),
            ]
        case .emv(let contents): return contents.facts
        case .applications(let applications):
            return applications.values.sorted { $0.key < $1.key }.map { name, values in
                TagFact(
                    "Application",
                    "\(name): " + values.keys.sorted().joined(separator: ", "),
                    name,
                    values.keys.sorted()
                )
            }
        case .emrtd(let contents):
            let zone = contents.zone.lines.joined(separator: " ")
            let files = contents.files.sorted { $0.key < $1.key }.map {
                (Self.text($0.key), $0.value.count, nil as String?)
            }
            return [TagFact("Zone", zone, "mrz", contents.zone.lines.joined())] + Self.fileFacts(files)
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
                TagFact("Counter", "\(contents.readCounter) readings", "read_counter", Int(contents.readCounter)),
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
            TagFact("Memory", "\(contents.freeMemory) bytes free", "free_memory", contents.freeMemory),
        ]
        let configuration = contents.configuration
        if configuration.usesRandomUID {
            facts.append(TagFact("Random", "a new UID each time it enters the field", "random_uid", true))
        }
        if configuration.isFormatDisabled {
            facts.append(TagFact("Format", "permanently disabled", "format_disabled", true))
        }
        var objects: [JSONObject] = []
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
                    "application": identifier.hexText(), "file": Int(file.number), "content": size,
                    "rights": rights(file.accessRights),
                ])
                return "file \(file.number): \(size), \(rights(file.accessRights))"
            }
            let keys = application.keyCount & 0x0F
            let text = files.isEmpty ? "no files" : files.joined(separator: "; ")
            facts.append(TagFact("App", "\(identifier.hexText()), \(RecordText.count(Int(keys), "key")): \(text)"))
        }
        return facts + [TagFact("files", value: objects)]
    }

    static func fileFacts(_ files: [(name: String, size: Int, note: String?)]) -> [TagFact] {
        let texts = files.map { "\($0.name) with \($0.size) bytes" + ($0.note.map { " (\($0))" } ?? "") }
        let objects = files.map { file -> JSONObject in
            let object: JSONObject = ["file": file.name, "size": file.size]
            return file.note.map { object + ["note": $0] } ?? object
        }
        return [TagFact("Files", texts.joined(separator: "; "), "files", objects)]
    }

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

    static func text(_ number: UInt16) -> String { number.bigEndianBytes.hexText() }
}

extension EMVContents {
    /// The facts about a payment card. Only the last digits of the card number are shown.
    fileprivate var facts: [TagFact] {
        let digits = accountNumber.hexText().filter(\.isNumber)
        let label = [label, name].first { !$0.isEmpty } ?? "no label"
        return [
            TagFact("Application", "\(applicationIdentifier.hexText()), \(label)"),
            TagFact("aid", value: applicationIdentifier.hexText()), TagFact("label", value: label),
            TagFact("Number", "ends in \(digits.suffix(4))", "last_digits", String(digits.suffix(4))),
        ]
    }
}

extension Type5Contents {
    var facts: [TagFact] {
        let locked = lockedBlocks.sorted()
        let data = product.dataBlockCount
        var regions: [(ClosedRange<Int>, String)] = [(0...0, "capability container")]
        if data > 1 { regions.append((1...(data - 1), "data")) }
        if product.blockCount > data { regions.append((data...data, "counter")) }
        var facts = TagFact.vicinityMemory(blockCount: product.blockCount, blockSize: product.blockSize)
        facts += [
            .map("block", regions), .lockedBlocks(locked),
            TagFact("AFI", [afi].hexText() + (isAFILocked ? ", locked" : ""), "afi", [afi].hexText()),
            TagFact("DSFID", [dsfid].hexText() + (isDSFIDLocked ? ", locked" : ""), "dsfid", [dsfid].hexText()),
            TagFact("afi_locked", value: isAFILocked), TagFact("dsfid_locked", value: isDSFIDLocked),
            .icReference(product.icReference),
        ]
        if product.features.contains(.surveillance) {
            let text = (isSurveillanceSet ? "set" : "not set") + (isSurveillanceLocked ? ", locked" : "")
            facts.append(TagFact("EAS", text, "eas", isSurveillanceSet))
        }
        if product.features.contains(.counter) {
            facts.append(TagFact("Counter", String(counter), "counter", Int(counter)))
        }
        if let guards = guardText { facts.append(TagFact("Guards", guards, "guards", guards)) }
        if product.features.contains(.signature), signature.contains(where: { $0 != 0 }) {
            facts.append(TagFact("Signature", "signature_hex", hex: signature))
        }
        return facts + [TagFact("CC", "cc_hex", hex: memory.prefix(memory.dropFirst(2).first == 0 ? 8 : 4))]
    }
}

extension TagFact {
    static func vicinityMemory(blockCount: Int, blockSize: Int) -> [TagFact] {
        [
            TagFact(
                "Memory",
                "\(RecordText.count(blockCount, "block")) of \(RecordText.count(blockSize, "byte"))",
                "blocks",
                blockCount
            ),
            TagFact("block_size", value: blockSize), TagFact("memory_size", value: blockCount * blockSize),
        ]
    }

    static func lockedBlocks(_ blocks: [Int]) -> TagFact {
        TagFact("Locks", readOnlyText(blocks, "block"), "locked_blocks", blocks)
    }

    static func icReference(_ byte: UInt8) -> TagFact {
        TagFact("IC", "reference \([byte].hexText())", "ic_reference", [byte].hexText())
    }
}

extension Type5Contents {
    /// The areas of an ST25: the first block, what needs a password (1 writing, 2 and 3 reading too), and whether anybody can
    /// write with one.
    fileprivate var areas: [(start: Int, access: UInt8, isWritable: Bool)] {
        let registers = settings.registers
        if product.features.contains(.tagConfiguration) {
            let starts = registers[0] & 0x04 != 0 ? [1, product.blockCount / 2] : [1]
            return zip(starts, registers).map { ($0, $1 & 0x03, $1 & 0x03 != 3) }
        }
        guard product.features.contains(.configuration) else { return [] }
        var areas: [(start: Int, access: UInt8, isWritable: Bool)] = []
        for number in [4, 6, 8, 10] {
            let start = areas.isEmpty ? 0 : (Int(registers[number - 1]) + 1) * 8
            guard start < product.blockCount else { break }
            let access = registers[number] >> 2 & 0x03
            areas.append((start, access, access != 3 && registers[number] & 0x03 != 0))
        }
        return areas
    }

    /// Describes what passwords and modes prevent; nil if nothing is restricted.
    private var guardText: String? {
        var words: [String] = []
        let pages: [(ICODEProtection.Condition, String)] = [
            (.readLow, "reading below"), (.writeLow, "writing below"), (.readHigh, "reading from"),
            (.writeHigh, "writing from"),
        ]
        for (condition, name) in pages where protection.condition.contains(condition) {
            words.append("\(name) block \(protection.pointer) needs a password")
        }
        for area in areas where area.access != 0 {
            let what = area.access == 1 ? "writing" : "reading and writing"
            let text = area.isWritable ? "\(what) from block \(area.start) needs a password" : nil
            words.append(text ?? "nobody can write from block \(area.start) on")
        }
        if protection.isPrivate { words.append("private") }
        if protection.isPersistentlyQuiet { words.append("permanently quiet") }
        if settings.isUntraceable { words.append("untraceable") }
        if protection.isDestroyed || settings.isKilled { words.append("destroyed") }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

extension ClassicContents {
    var facts: [TagFact] {
        let blocks = product.blockCount
        var facts: [TagFact] = .answers(atqa, sak)
        facts += [
            TagFact("Memory", "\(blocks) blocks of 16 bytes in \(product.sectorCount) sectors", "blocks", blocks),
            TagFact("sectors", value: product.sectorCount), TagFact("memory_size", value: memory.count),
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
            facts.append(TagFact("Unknown", "\(count) bytes could not be read", "unknown_octets", count))
        }
        if !signature.isEmpty { facts.append(TagFact("Signature", "signature_hex", hex: signature)) }
        return facts
    }
}

// MARK: Writing

extension TagContents {
    /// What keeps a reader from writing a message, although the capability container allows it.
    enum WriteBarrier {
        /// The start of the data is locked, so that no other message can be written.
        case locks
        /// Another part of the data is locked.
        case partialLocks
        case password
        case key
    }

    /// The barrier of the locks and the password; nil for none.
    var writeBarrier: WriteBarrier? {
        switch self {
        case .type2(let contents):
            let area = Int(contents.memory.dropFirst(14).first ?? 0) * 2
            let last = min(contents.product.userPages.upperBound, 3 + max(1, area))
            if let barrier = Self.barrier(of: contents.lockedPages, in: 4...last) { return barrier }
            guard let page = contents.firstProtectedPage, page <= last else { return nil }
            return contents.hasKey ? .key : .password
        case .type4(let contents):
            guard case .ntag424(let card) = contents.kind,
                let rights = card.files.first(where: { $0.isoIdentifier == 0xE104 })?.accessRights
            else { return nil }
            let isOpen = [.write, .readWrite].contains { rights.holder(of: $0) == .everybody }
            return isOpen ? nil : .key
        case .type3(.liteS(let contents)):
            // The attribute information block, which is written with each message, and the data.
            return Self.barrier(of: (0..<14).filter { !contents.memoryConfiguration.hasBit($0) }, in: 0...13)
        case .type5(let contents) where contents.product.dataBlockCount > 1:
            let last = contents.product.dataBlockCount - 1
            if let barrier = Self.barrier(of: contents.lockedBlocks.sorted(), in: 1...last) { return barrier }
            let (condition, pointer) = (contents.protection.condition, contents.protection.pointer)
            if condition.contains(pointer <= 1 ? .writeHigh : .writeLow) { return .password }
            guard let area = contents.areas.last(where: { $0.start <= 1 }), area.access != 0 else { return nil }
            return area.isWritable ? .password : .locks
        default: return nil
        }
    }

    private static func barrier(of locked: [Int], in data: ClosedRange<Int>) -> WriteBarrier? {
        guard locked.contains(where: data.contains) else { return nil }
        // The message's length is in the first or second unit.
        let head = data.prefix(2)
        return head.allSatisfy(locked.contains) ? .locks : .partialLocks
    }
}
