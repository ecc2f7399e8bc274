// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The card key of FeliCa Lite-S (FeliCa Lite-S User's Manual, 3 and 5).
///
/// The protection is for good: a chip only adds restrictions to the memory configuration, and the system blocks have to be
/// frozen. Otherwise anybody could write another card key.
extension Type3Tag: PasswordProtected {
    package func unlock(with secret: TagSecret) async throws(TagError) {
        try checkCardKey(secret)
        try await authenticate(cardKey: secret.bytes)
    }

    package func changeProtection(
        with secret: TagSecret,
        performs: Bool = true,
        _ change: (inout TagProtection) -> Void
    ) async throws(TagError) -> ProtectionChange {
        try checkCardKey(secret)
        let block = FeliCaLite.memoryConfiguration
        let configuration = try await check(block..<block + 1)
        let old = FeliCaLite.protection(configuration)
        var new = old
        change(&new)
        guard new.tries == 0, new.first ?? 0 <= FeliCaLite.messageBlocks else {
            let reason = "A FeliCa Lite-S has no limit of tries, and a protection can begin at blocks 0 to 13."
            throw TagError(.unsupported, reason)
        }
        if old.first != nil { try await authenticate(cardKey: secret.bytes) }
        if new == old { return ProtectionChange(old: old, new: new, setsPassword: false, isRemovable: false) }
        guard old.first == nil, new.first != nil, configuration[2] == 0xFF else {
            throw TagError(.readOnly, "The protection of a FeliCa Lite-S can't be changed or removed any more.")
        }
        // SYS_OP is frozen with the rest, so the tag could never be formatted afterwards.
        guard configuration[3] == 0x01 else {
            throw TagError(.unsupported, "The tag is not formatted. Format it first: nfc tag format")
        }
        let result = ProtectionChange(old: old, new: new, setsPassword: true, isRemovable: false)
        guard performs else { return result }
        try await update(FeliCaLite.cardKey, secret.bytes)
        // The chip must accept the key before it depends on it.
        try await authenticate(cardKey: secret.bytes)
        try await update(block, FeliCaLite.protected(configuration, new))
        // Freezing the system blocks resets the counter of writes.
        wasActivated()
        forgetMemory()
        return result
    }

    private func checkCardKey(_ secret: TagSecret) throws(TagError) {
        guard target.icCode == 0xF1 else { throw .noPassword(target.productName ?? "another FeliCa card") }
        try secret.check(length: 16, of: "FeliCa Lite-S")
    }
}

extension FeliCaLite {
    /// The card key block, CK.
    fileprivate static let cardKey = 0x87

    /// Reads the protection of the scratch pad blocks from MC: the bytes from 6 on tell which blocks need an authentication
    /// for reading and for writing, and a MAC for writing.
    static func protection(_ configuration: [UInt8]) -> TagProtection {
        let first = (0...messageBlocks).first { block in
            [48, 64, 80].contains { configuration.hasBit($0 + block) }
        }
        let protectsReading = (0...messageBlocks).contains { configuration.hasBit(48 + $0) }
        return TagProtection(first: first, protectsReading: protectsReading)
    }

    /// Returns the MC that protects the blocks, lets the key change only with a MAC, and freezes the system blocks.
    fileprivate static func protected(_ configuration: [UInt8], _ protection: TagProtection) -> [UInt8] {
        var result = configuration
        let blocks = UInt16(truncatingIfNeeded: 0x3FFF << (protection.first ?? 0)) & 0x3FFF
        for (index, byte) in blocks.littleEndianBytes.enumerated() {
            if protection.protectsReading { result[6 + index] |= byte }
            result[8 + index] |= byte
            result[10 + index] |= byte
        }
        result[2] = 0x00
        result[5] = 0x01
        // STATE can be written only with a MAC too.
        result[12] |= 0x01
        return result
    }
}
