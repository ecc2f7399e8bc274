// SPDX-License-Identifier: Apache-2.0
package import CardCryptography

extension SecureDynamicMessaging {
    /// The NDEF file as a reader without a key sees it (NT4H2421Gx data sheet, 9.3.3 to 9.3.9).
    ///
    /// - Parameters:
    ///   - file: the file as it was written.
    ///   - uid: the tag's UID.
    ///   - counter: how often the file was read, this time included.
    ///   - keys: the tag's five keys.
    ///   - padding: the random octets that fill up the enciphered UID and counter, 15 at most.
    /// - Returns: as many octets.
    /// - Throws: `CryptographyError` when the system's library is missing.
    package func mirrored(
        _ file: [UInt8],
        uid: [UInt8],
        counter: UInt32,
        keys: [DESFireKey],
        padding: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        var result = file
        let count = [UInt8](littleEndian: Int(counter), count: 3)
        let identity = (mirrorsUID ? uid : []) + (mirrorsCounter ? count : [])
        result.show(uid, at: uidOffset)
        result.show(count.reversed(), at: counterOffset)
        if let piccDataOffset, Int(metaReadKey) < keys.count {
            let tag = (options & 0xC0) | (mirrorsUID ? UInt8(uid.count) : 0)
            let plain = Array(([tag] + identity + padding).prefix(16)).padded(to: 16)
            result.show(try BlockCipher.aes(keys[Int(metaReadKey)].octets).encrypt(plain), at: piccDataOffset)
        }
        guard Int(fileReadKey) < keys.count else { return result }
        let key = try BlockCipher.aes(keys[Int(fileReadKey)].octets)
        if let part = encryptedPart, part.offset + part.length / 2 <= file.count {
            let cipher = try BlockCipher.aes(try key.cmac(Self.vector([0xC3, 0x3C], identity)))
            let vector = try cipher.encrypt(count.padded(to: 16))
            let text = Array(file[part.offset..<(part.offset + part.length / 2)])
            result.show(try cipher.encrypt(text, .blockChaining(vector: vector)), at: part.offset)
        }
        if let codeInputOffset, let codeOffset, codeInputOffset <= codeOffset, codeOffset <= result.count {
            let cipher = try BlockCipher.aes(try key.cmac(Self.vector([0x3C, 0xC3], identity)))
            result.show(try cipher.cmac(Array(result[codeInputOffset..<codeOffset])).everySecond, at: codeOffset)
        }
        return result
    }

    /// What a session key is worked out from.
    private static func vector(_ label: [UInt8], _ identity: [UInt8]) -> [UInt8] {
        (label + [0x00, 0x01, 0x00, 0x80] + identity).padded(to: 16)
    }
}

extension [UInt8] {
    /// Writes octets in capital hexadecimal digits over what is in a place; nothing where the place does not fit.
    fileprivate mutating func show(_ octets: [UInt8], at offset: Int?) {
        guard let offset, offset + octets.count * 2 <= count else { return }
        for (index, octet) in octets.enumerated() {
            self[offset + 2 * index] = Self.digit(octet >> 4)
            self[offset + 2 * index + 1] = Self.digit(octet & 0x0F)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x37 + value
    }
}
