// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of ISO 15693 tags: ISO15693-3, and SLIX with its passwords.
extension FlipperTagDump {
    private static var type5Fields: [FlipperField<Type5Contents>] {
        [
            .byte("DSFID", \.dsfid, comment: "Data Storage Format Identifier"),
            .byte("AFI", \.afi, comment: "Application Family Identifier"),
            .written("IC Reference", comment: "IC Reference - Vendor specific meaning") {
                .bytes([$0.product.icReference])
            },
            .flag("Lock DSFID", \.isDSFIDLocked, comment: "Lock Bits"), .flag("Lock AFI", \.isAFILocked),
            .written("Block Count", comment: "Number of memory blocks, valid range = 1..256") {
                .number($0.product.blockCount)
            },
            .written("Block Size", comment: "Size of a single memory block, valid range = 01...20 (hex)") {
                .bytes([UInt8($0.product.blockSize)])
            },
            .written("Data Content") { .bytes($0.memory + $0.counterBlock) },
            .written("Security Status", comment: "Block Security Status: 01 = locked, 00 = not locked") { contents in
                .bytes((0..<contents.product.blockCount).map { contents.lockedBlocks.contains($0) ? 1 : 0 })
            },
        ]
    }

    private static let passwords: [(String, UInt8)] = [
        ("Password Read", 0x01), ("Password Write", 0x02), ("Password Privacy", 0x04), ("Password Destroy", 0x08),
        ("Password EAS", 0x10),
    ]

    /// The fields of an ICODE. Only files of an SLIX2 contain the fields about pages.
    private static func slixFields(of blank: Type5Contents) -> [FlipperField<Type5Contents>] {
        var fields: [FlipperField<Type5Contents>] = [
            FlipperField(
                "Capabilities",
                comment:
                    "SLIX capabilities field affects emulation modes. Possible options: Default, AcceptAllPasswords"
            ) { (fields, contents) throws(TagImageError) in
                // Some versions write spaces in the name.
                let name = try fields.text("Capabilities").lowercased().filter { $0 != " " }
                contents.protection.acceptsEveryPassword = name == "acceptallpasswords"
            } write: {
                .text($0.protection.acceptsEveryPassword ? "AcceptAllPasswords" : "Default")
            }
        ]
        for (key, identifier) in passwords where blank.passwords[identifier] != nil {
            let comment = "Passwords are optional. If a password is omitted, a default value will be used"
            let password = FlipperField<Type5Contents>(key, comment: fields.count == 1 ? comment : nil) {
                (fields, contents) throws(TagImageError) in
                contents.passwords[identifier] = UInt32(bytes: try fields.bytes(key, count: 4).reversed())
            } write: {
                .bytes([UInt8](littleEndian: Int($0.passwords[identifier] ?? 0), count: 4))
            }
            fields.append(password)
        }
        guard blank.product.features.contains(.pages) else {
            if blank.product.features.contains(.privacy) {
                fields.append(.flag("Privacy Mode", \.protection.isPrivate))
            }
            return fields + [.flag("Lock EAS", \.isSurveillanceLocked)]
        }
        return fields + [
            .written("Signature") { .bytes($0.signature) }, .flag("Privacy Mode", \.protection.isPrivate),
            .byte("Protection Pointer", \.protection.pointer, comment: "Protection pointer configuration"),
            .byte("Protection Condition", \.protection.condition.rawValue),
            .flag("Lock EAS", \.isSurveillanceLocked, comment: "SLIX Lock Bits"),
            .flag("Lock PPL", \.protection.isConditionLocked),
        ]
    }

    static func type5(_ fields: FlipperFields, _ remarks: inout Remarks) throws(TagImageError) -> Type5Contents {
        var tag = ProxmarkTag15()
        tag.uid = try fields.bytes("UID", count: 8)
        // If a tag does not report its size, the file has neither the size nor the memory.
        guard fields.hasValue("Block Count") || fields.hasValue("Block Size") || fields.hasValue("Data Content") else {
            let product = Type5Product.generic(blockCount: 0, icReference: try fields.byte("IC Reference", default: 0))
            var contents = Type5Contents(blank: product, uid: tag.uid)
            try fields.read(type5Fields, into: &contents)
            return contents
        }
        let blocks = try fields.number("Block Count", in: 1...256)
        tag.blockSize = Int(try fields.byte("Block Size"))
        guard (1...32).contains(tag.blockSize) else {
            throw fields.error(.malformed, "Block Size", "A block has 1 to 32 bytes, not \(tag.blockSize).")
        }
        tag.data = try fields.bytes("Data Content", count: blocks * tag.blockSize)
        tag.icReference = try fields.byte("IC Reference", default: 0)
        tag.privacyPassword = nil
        var contents = try tag.contents()
        try fields.read(type5Fields, into: &contents)
        if fields.hasValue("Security Status") {
            let status = try fields.bytes("Security Status")
            // Files without separate lines for these locks store them in a byte before the block locks.
            let hasHead = status.count == blocks + 1
            guard hasHead || status.count == blocks else {
                throw fields.malformed("Security Status", "has \(status.count) bytes for \(blocks) blocks")
            }
            if hasHead {
                contents.isDSFIDLocked = status[0] & 0x01 != 0
                contents.isAFILocked = status[0] & 0x02 != 0
            }
            contents.lockedBlocks = Type5Contents.blocks(lockedBy: status.suffix(blocks))
        }
        if fields.hasValue("Signature") {
            contents.signature = try fields.bytes("Signature", count: 32)
        } else if contents.product.features.contains(.signature) {
            remarks.append(.missingSignature)
        }
        try fields.read(slixFields(of: contents), into: &contents)
        return contents
    }

    static func fields(of contents: Type5Contents) -> [FlipperLine]? {
        guard contents.product.blockCount <= 256 else { return nil }
        let isSLIX = contents.product.features.contains(.passwords)
        let lines =
            FlipperLine.header(deviceType: isSLIX ? "SLIX" : "ISO15693-3", uid: contents.uid)
            + [.comment("ISO15693-3 specific data")]
            + FlipperLine.fields(type5Fields.prefix(contents.memory.isEmpty ? 5 : 9), of: contents)
        guard isSLIX else { return lines }
        return lines + [.comment("SLIX specific data")] + FlipperLine.fields(slixFields(of: contents), of: contents)
    }
}

extension Type5Product {
    /// Finds the product for a UID and a memory size.
    init?(uid: [UInt8], blockCount: Int, blockSize: Int) {
        let products = Type5Family.of(uid)?.products ?? []
        guard let product = products.first(where: { $0.blockCount == blockCount && $0.blockSize == blockSize }) else {
            return nil
        }
        self = product
    }
}
