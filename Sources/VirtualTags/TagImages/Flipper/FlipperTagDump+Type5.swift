// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of ISO 15693 tags: ISO15693-3, and SLIX with its passwords.
extension FlipperTagDump {
    static func type5(
        _ fields: FlipperFields,
        _ remarks: inout [TagImageRemark]
    ) throws(TagImageError) -> Type5Contents {
        let uid = try fields.bytes("UID", count: 8)
        let blocks = try fields.number("Block Count", in: 1...256)
        let size = Int(try fields.bytes("Block Size", count: 1)[0])
        guard (1...32).contains(size) else {
            throw TagImageError(.malformed, "A block has 1 to 32 bytes, not \(size).", line: fields.line("Block Size"))
        }
        let data = try fields.bytes("Data Content", count: blocks * size)
        let known = Type5Product(uid: uid, blockCount: blocks, blockSize: size)
        let reference = fields.line("IC Reference") == nil ? 0 : try fields.bytes("IC Reference", count: 1)[0]
        let product = known ?? .generic(blockCount: blocks, blockSize: size, icReference: reference)
        var contents = Type5Contents(blank: product, uid: uid)
        contents.memory = Array(data.prefix(contents.memory.count))
        contents.readCounterBlock(data)
        if fields.line("DSFID") != nil { contents.dsfid = try fields.bytes("DSFID", count: 1)[0] }
        if fields.line("AFI") != nil { contents.afi = try fields.bytes("AFI", count: 1)[0] }
        contents.isDSFIDLocked = try fields.flag("Lock DSFID") ?? false
        contents.isAFILocked = try fields.flag("Lock AFI") ?? false
        contents.isSurveillanceLocked = try fields.flag("Lock EAS") ?? false
        if fields.line("Security Status") != nil {
            let status = try fields.bytes("Security Status", count: nil)
            // Files without separate lines for these locks have them in a byte before those of the blocks.
            let hasHead = status.count == blocks + 1
            guard hasHead || status.count == blocks else {
                throw TagImageError(
                    .malformed,
                    "Security Status has \(status.count) bytes for \(blocks) blocks.",
                    line: fields.line("Security Status")
                )
            }
            if hasHead {
                contents.isDSFIDLocked = status[0] & 0x01 != 0
                contents.isAFILocked = status[0] & 0x02 != 0
            }
            let locks = status.suffix(blocks)
            contents.lockedBlocks = Type5Contents.blocks(lockedBy: locks)
        }
        if fields.line("Signature") != nil {
            contents.signature = try fields.bytes("Signature", count: 32)
        } else if product.features.contains(.signature) {
            remarks.append(missingSignature)
        }
        if product.features.contains(.pages) {
            let isCounterProtected = contents.protection.isCounterProtected
            contents.protection = try protection(fields)
            contents.protection.isCounterProtected = isCounterProtected
        }
        if fields.line("Capabilities") != nil {
            // Some versions write the name in several words.
            let name = try fields.text("Capabilities").lowercased().filter { $0 != " " }
            contents.protection.acceptsEveryPassword = name == "acceptallpasswords"
        }
        for (key, identifier) in passwords where fields.line(key) != nil {
            let bytes = try fields.bytes(key, count: 4)
            if contents.passwords[identifier] != nil {
                contents.passwords[identifier] = UInt32(bytes.littleEndian(at: 0, count: 4))
            }
        }
        return contents
    }

    /// Reads the protection of the pages of an ICODE SLIX2.
    private static func protection(_ fields: FlipperFields) throws(TagImageError) -> ICODEProtection {
        var protection = ICODEProtection()
        if fields.line("Protection Pointer") != nil {
            protection.pointer = try fields.bytes("Protection Pointer", count: 1)[0]
        }
        if fields.line("Protection Condition") != nil {
            let bytes = try fields.bytes("Protection Condition", count: 1)
            protection.condition = ICODEProtection.Condition(rawValue: bytes[0])
        }
        protection.isPrivate = try fields.flag("Privacy Mode") ?? false
        protection.isConditionLocked = try fields.flag("Lock PPL") ?? false
        return protection
    }

    private static let passwords: [(String, UInt8)] = [
        ("Password Read", 0x01), ("Password Write", 0x02), ("Password Privacy", 0x04), ("Password Destroy", 0x08),
        ("Password EAS", 0x10),
    ]

    static func fields(of contents: Type5Contents) -> [FlipperLine]? {
        let product = contents.product
        let blocks = product.blockCount
        guard blocks <= 256 else { return nil }
        let data = contents.memory + contents.counterBlock
        let locks = (0..<blocks).map { contents.lockedBlocks.contains($0) ? UInt8(1) : 0 }
        let isSLIX = product == .icodeSLIX || product == .icodeSLIX2
        var lines = FlipperLine.header(deviceType: isSLIX ? "SLIX" : "ISO15693-3", uid: contents.uid)
        lines += [
            .comment("ISO15693-3 specific data"), .comment("Data Storage Format Identifier"),
            .field("DSFID", bytes: [contents.dsfid]),
            .comment("Application Family Identifier"), .field("AFI", bytes: [contents.afi]),
            .comment("IC Reference - Vendor specific meaning"),
            .field("IC Reference", bytes: [product.icReference]),
            .comment("Lock Bits"), .field("Lock DSFID", String(contents.isDSFIDLocked)),
            .field("Lock AFI", String(contents.isAFILocked)),
            .comment("Number of memory blocks, valid range = 1..256"), .field("Block Count", String(blocks)),
            .comment("Size of a single memory block, valid range = 01...20 (hex)"),
            .field("Block Size", bytes: [UInt8(product.blockSize)]),
            .field("Data Content", bytes: data),
            .comment("Block Security Status: 01 = locked, 00 = not locked"),
            .field("Security Status", bytes: locks),
        ]
        return isSLIX ? lines + slixFields(of: contents) : lines
    }

    private static func slixFields(of contents: Type5Contents) -> [FlipperLine] {
        var lines: [FlipperLine] = [
            .comment("SLIX specific data"),
            .comment("SLIX capabilities field affects emulation modes. Possible options: Default, AcceptAllPasswords"),
            .field("Capabilities", contents.protection.acceptsEveryPassword ? "AcceptAllPasswords" : "Default"),
            .comment("Passwords are optional. If a password is omitted, a default value will be used"),
        ]
        for (key, identifier) in passwords {
            guard let password = contents.passwords[identifier] else { continue }
            lines.append(.field(key, bytes: [UInt8](littleEndian: Int(password), count: 4)))
        }
        if contents.product == .icodeSLIX2 {
            lines += [
                .field("Signature", bytes: contents.signature),
                .field("Privacy Mode", String(contents.protection.isPrivate)),
                .comment("Protection pointer configuration"),
                .field("Protection Pointer", bytes: [contents.protection.pointer]),
                .field("Protection Condition", bytes: [contents.protection.condition.rawValue]),
                .comment("SLIX Lock Bits"),
            ]
        }
        lines.append(.field("Lock EAS", String(contents.isSurveillanceLocked)))
        if contents.product == .icodeSLIX2 {
            lines.append(.field("Lock PPL", String(contents.protection.isConditionLocked)))
        }
        return lines
    }
}

extension Type5Product {
    /// Finds the product for a UID and a memory size; nil when there is none. Bits 36 and 35 of the UID distinguish the
    /// ICODE products.
    init?(uid: [UInt8], blockCount: Int, blockSize: Int) {
        let product = Self.all.first { product in
            guard product.blockCount == blockCount, product.blockSize == blockSize else { return false }
            guard product.uidPrefix.count == 4,
                uid.count == 8
            else { return uid.starts(with: product.uidPrefix) }
            return uid.starts(with: product.uidPrefix.prefix(3)) && uid[3] & 0x18 == product.uidPrefix[3] & 0x18
        }
        guard let product else { return nil }
        self = product
    }
}
