// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
package import TagLink

/// A key with which NXP or ST signs the UIDs of genuine chips (NXP AN11350, AN11341, AN12196; ST AN5101, AN5580, AN5660).
package struct OriginalityKey: Sendable, Hashable {
    /// The products that are signed with it.
    package let products: String
    private let key: VerifyingKey
    /// Whether the UID is signed with its last byte first.
    private let isReversed: Bool
    /// Who signs with it. NXP signs the UID itself, and ST its SHA-256.
    package let signer: String

    /// Reads a line of the table.
    private init(_ line: Substring) {
        let parts = line.split(separator: " ", maxSplits: 2)
        key = VerifyingKey(point: [UInt8](hexadecimal: ("04" + parts[0]).utf8) ?? [])
        isReversed = parts[1] == "NXP-reversed"
        signer = parts[1] == "ST" ? "STMicroelectronics" : "NXP"
        products = String(parts[2])
    }

    /// All keys that are known.
    package static let all = table.split(separator: "\n").map(OriginalityKey.init)

    /// The point of each key, who signs with it, and the products.
    private static let table = """
        494e1a386d3d3cfe3dc10e5de68a499b1c202db5b132393e89ed19fe5be8bc61 NXP NTAG21x
        90933bdcd6e99b4e255e3da55389a827564e11718e017292faf23226a96614b8 NXP MIFARE Ultralight EV1
        4f6d3f294dea5737f0f46ffee88a356eed95695dd7e0c27a591e6f6f65962baf NXP MIFARE Classic EV1
        6f70ac557f5461ce5052c8e4a7838c11c7a236797e8a0730a101837c004039c2 NXP MIFARE Classic and QL88
        8878a2a2d3eec336b4f261a082bd71f9be11c4e2e896648b32efa59cea6e59f0 NXP-reversed ICODE DNA and ICODE SLIX2
        53bf8c49b7bd9fe3207a91513b9c1d238ecab07186b772104ab535f7d3ae63cf7c7f3dd0d169da3e99e43c6399621a86 NXP MIFARE Ultralight AES
        85d5b9353b4faa77581ba2ae96630c5876d6e8603308abe9a81a0b506f52d02d04fee6f2d365b3dee7b9fad9133e2976 NXP NTAG 223 DNA and NTAG 224 DNA
        8a9b380af2ee1b98dc417fecc263f8449c7625cece82d9b916c992da209d68422b81ec20b65a66b5102a61596af3379200599316a00a1410 NXP NTAG 424 DNA
        bb5d514f7050025c7d0f397310360eec91eaf792e96fc7e0f496cb4e669d414f877b7b27901fe67c2e3b33cd39d1c797715189ac951c2add NXP NTAG 413 DNA and MIFARE DESFire EV1
        b304dc4c615f5326fe9383ddec9aa892df3a57fa7ffb3276192bc0eaa252ed45a865e3b093a3d0dce5be29e92f1392ce7de321e3e5c52b3a NXP MIFARE DESFire EV2
        cd5d45e50b1502f0ba4656ff37669597e7e183251150f9574cc8da56bf01c7abe019e29fea48f9ce22c3ea4029a765e1bc95a89543bad1bc NXP MIFARE DESFire EV2 XL
        1db46c145d0a36539c6544bd6d9b0aa62ff91ec48cbc6abae36e0089a46f0d08c8a715ea40a63313b92e90ddc1730230e0458a33276fb743 NXP MIFARE DESFire EV3
        0e98e117aaa36457f43173dc920a8757267f44ce4ec5add3c54075571aebbf7b942a9774a1d94ad02572427e5ae0a2dd36591b1fb34fcf3d NXP MIFARE DESFire Light
        4409adc42f91a8394066ba83d872fb1d16803734e911170412ddf8bad1a4dadfd0416291afe1c748253925da39a5f39a1c557ffacd34c62e NXP MIFARE Plus EV1
        1d92163650161a2548d33881c235d0fb2315c2c31a442f23c87acf14497c0cba ST ST25TA
        40004f974f7c76bc8718e523d85fa7b354a9a992bfa966cb8219242f9d274fd6 ST ST25TN
        101e188a8b4cddbc62d5bc3e0e6850f0c2730e744b79765a0e079907fbdb01bc ST ST25TV512C and ST25TV02KC
        """

    /// Finds the key with which a chip's UID was signed.
    ///
    /// - Parameters:
    ///   - uid: the UID, with the manufacturer first.
    ///   - signature: what the chip returns as its signature: 32, 48 or 56 bytes.
    /// - Returns: the key; nil if no known key made the signature.
    /// - Throws: `CryptographyError` with `libraryMissing`.
    package static func signing(_ uid: [UInt8], _ signature: [UInt8]) throws(CryptographyError) -> OriginalityKey? {
        for key in all {
            let message = key.isReversed ? uid.reversed() : uid
            let signed = key.signer == "NXP" ? message : try MessageDigest.sha256.hash(message)
            if try key.key.verifies(signature, of: signed) { return key }
        }
        return nil
    }
}

/// The signature of cards with ISO-DEP.
package enum CardSignature {
    /// Requests the signature of the UID: Read_Sig of NXP's cards (NTAG 424 DNA data sheet), or 32 bytes at 00E0 in the file of an
    /// ST25TA's message, which only ST's own READ BINARY reaches. Nil when the card does not know the command.
    ///
    /// - Throws: the errors of the link's `send(_:)`.
    package static func read(from card: any APDULink, isST: Bool) async throws(TagError) -> [UInt8]? {
        if isST {
            let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
            _ = try await card.send(CommandAPDU(0x00, 0xA4, 0x04, 0x00, data: name, expectedLength: 256))
            _ = try await card.send(CommandAPDU(0x00, 0xA4, 0x00, 0x0C, data: [0x00, 0x01]))
            let response = try await card.send(CommandAPDU(0xA2, 0xB0, 0x00, 0xE0, expectedLength: 32))
            return response.status.rawValue == 0x9000 && response.data.count == 32 ? Array(response.data) : nil
        }
        let response = try await card.send(CommandAPDU(0x90, 0x3C, 0x00, 0x00, data: [0x00], expectedLength: 256))
        return response.status.rawValue == 0x9190 && response.data.count == 56 ? Array(response.data) : nil
    }
}
