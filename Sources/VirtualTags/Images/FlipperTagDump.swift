// SPDX-License-Identifier: Apache-2.0

/// A Flipper NFC file of a tag that is not of Type 2, kept line by line: ISO15693-3, SLIX, and FeliCa Lite-S.
///
/// A file that was read and changed has the lines that say something else written anew; all others stay.
struct FlipperTagDump: Sendable {
    private let lines: [[UInt8]]
    let contents: TagContents

    /// Reads a file; nil when it is of a Type 2 tag, or of one that there is no model of, which ``FlipperDump`` refuses.
    init?(parsing bytes: [UInt8]) throws(TagImageError) {
        let fields = try FlipperFields(parsing: bytes)
        switch try fields.text("Device type") {
        case "ISO15693-3", "ISO15693", "SLIX": contents = .type5(try Self.type5(fields))
        case "FeliCa": contents = .type3(.liteS(try Self.liteS(fields)))
        default: return nil
        }
        lines = fields.lines.map(\.text)
    }

    /// The file with what the tag holds now.
    func encoded(_ now: TagContents) -> [UInt8] {
        let before = Self.values(of: contents)
        let changes = Self.values(of: now).filter { before[$0.key] != $0.value }
        let written = lines.map { line in
            let key = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            guard line.first != UInt8(ascii: "#"), let value = changes[key] else { return line }
            let ending: [UInt8] = line.last == 0x0D ? [0x0D] : []
            return Array("\(key): \(value)".utf8) + ending
        }
        return Array(written.joined(separator: [0x0A]))
    }

    /// What may change, by the keys of the lines.
    private static func values(of contents: TagContents) -> [String: String] {
        switch contents {
        case .type5(let contents): values(of: contents)
        case .type3(.liteS(let contents)): values(of: contents)
        default: [:]
        }
    }

    // MARK: ISO15693-3 and SLIX

    private static func type5(_ fields: FlipperFields) throws(TagImageError) -> Type5Contents {
        let uid = try fields.octets("UID", count: 8)
        let blocks = try fields.number("Block Count", in: 1...256)
        let size = Int(try fields.octets("Block Size", count: 1)[0])
        guard (1...32).contains(size) else {
            throw TagImageError(.malformed, "A block has 1 to 32 octets, not \(size).", line: fields.line("Block Size"))
        }
        let data = try fields.octets("Data Content", count: blocks * size)
        let known = Type5Product.all.first {
            $0.blockCount == blocks && $0.blockSize == size && matches(uid, $0)
        }
        var contents = Type5Contents(blank: known ?? .generic(blockCount: blocks, blockSize: size), uid: uid)
        contents.memory = Array(data.prefix(contents.memory.count))
        if contents.product.features.contains(.counter) {
            contents.counter = UInt16(data.littleEndian(at: data.count - 4, count: 2))
        }
        if fields.line("DSFID") != nil { contents.dsfid = try fields.octets("DSFID", count: 1)[0] }
        if fields.line("AFI") != nil { contents.afi = try fields.octets("AFI", count: 1)[0] }
        contents.isDSFIDLocked = try fields.flag("Lock DSFID") ?? false
        contents.isAFILocked = try fields.flag("Lock AFI") ?? false
        contents.isSurveillanceLocked = try fields.flag("Lock EAS") ?? false
        if fields.line("Security Status") != nil {
            let status = try fields.octets("Security Status", count: nil)
            // Files without lines of their own for these locks have them in an octet before the blocks'.
            let hasHead = status.count == blocks + 1
            guard hasHead || status.count == blocks else {
                throw TagImageError(
                    .malformed,
                    "Security Status has \(status.count) octets for \(blocks) blocks.",
                    line: fields.line("Security Status")
                )
            }
            if hasHead {
                contents.isDSFIDLocked = status[0] & 0x01 != 0
                contents.isAFILocked = status[0] & 0x02 != 0
            }
            let locks = status.suffix(blocks)
            contents.lockedBlocks = Set(zip(0..., locks).filter { $0.1 != 0 }.map { $0.0 })
        }
        if fields.line("Signature") != nil { contents.signature = try fields.octets("Signature", count: 32) }
        for (key, identifier) in passwords where fields.line(key) != nil {
            let octets = try fields.octets(key, count: 4)
            if contents.passwords[identifier] != nil {
                contents.passwords[identifier] = UInt32(octets.littleEndian(at: 0, count: 4))
            }
        }
        return contents
    }

    private static let passwords: [(String, UInt8)] = [
        ("Password Read", 0x01), ("Password Write", 0x02), ("Password Privacy", 0x04), ("Password Destroy", 0x08),
        ("Password EAS", 0x10),
    ]

    /// Whether a UID is of a product's form; bits 36 and 35 tell ICODE products apart.
    private static func matches(_ uid: [UInt8], _ product: Type5Product) -> Bool {
        guard product.uidPrefix.count == 4 else { return uid.starts(with: product.uidPrefix) }
        return uid.starts(with: product.uidPrefix.prefix(3)) && uid[3] & 0x18 == product.uidPrefix[3] & 0x18
    }

    private static func values(of contents: Type5Contents) -> [String: String] {
        let blocks = contents.product.blockCount
        var data = contents.memory
        if contents.product.features.contains(.counter) {
            data += [UInt8](littleEndian: Int(contents.counter), count: 4)
        }
        let locks = (0..<blocks).map { contents.lockedBlocks.contains($0) ? UInt8(1) : 0 }
        var values = [
            "Data Content": data.spacedHexadecimalText,
            "DSFID": [contents.dsfid].spacedHexadecimalText,
            "AFI": [contents.afi].spacedHexadecimalText,
            "Lock DSFID": String(contents.isDSFIDLocked),
            "Lock AFI": String(contents.isAFILocked),
            "Lock EAS": String(contents.isSurveillanceLocked),
            "Security Status": locks.spacedHexadecimalText,
        ]
        for (key, identifier) in passwords {
            guard let password = contents.passwords[identifier] else { continue }
            values[key] = [UInt8](littleEndian: Int(password), count: 4).spacedHexadecimalText
        }
        return values
    }

    // MARK: FeliCa Lite-S

    /// The 28 blocks of a file, each with the two status flags that it was read with.
    private static func liteS(_ fields: FlipperFields) throws(TagImageError) -> FeliCaLiteSContents {
        guard fields.line("Block 27") != nil else {
            throw TagImageError(
                .unsupported,
                "A FeliCa tag other than Lite-S is not supported yet.",
                line: fields.line("Device type")
            )
        }
        var contents = FeliCaLiteSContents(
            idm: try fields.octets("Manufacture id", count: 8),
            pmm: try fields.octets("Manufacture parameter", count: 8)
        )
        func block(_ index: Int) throws(TagImageError) -> [UInt8] {
            Array(try fields.octets("Block \(index)", count: 18).dropFirst(2))
        }
        contents.userMemory = []
        for index in 0..<14 { contents.userMemory += try block(index) }
        contents.register = try block(14)
        contents.identifierExtension = Array(try block(17).suffix(8))
        contents.serviceCode = try block(19)
        contents.keyVersion = try block(21)
        contents.cardKey = try block(22)
        contents.memoryConfiguration = try block(23)
        contents.writeCounter = UInt32(try block(24).littleEndian(at: 0, count: 3))
        return contents
    }

    private static func values(of contents: FeliCaLiteSContents) -> [String: String] {
        var blocks: [Int: [UInt8]] = [
            14: contents.register, 17: contents.idm + contents.identifierExtension, 19: contents.serviceCode,
            21: contents.keyVersion, 22: contents.cardKey, 23: contents.memoryConfiguration,
            24: [UInt8](littleEndian: Int(contents.writeCounter), count: 16),
        ]
        for index in 0..<14 { blocks[index] = Array(contents.userMemory[(index * 16)..<(index * 16 + 16)]) }
        // Blocks that were changed are blocks that can be read: the flags say so.
        return Dictionary(
            uniqueKeysWithValues: blocks.map { ("Block \($0.key)", ([0x00, 0x00] + $0.value).spacedHexadecimalText) }
        )
    }
}
