// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Testing

/// Checks what is built here against the examples of the standards.
struct CardCryptographyTests {
    private let message: [UInt8] = hex(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )

    @Test("AES and its chaining give the vectors of NIST SP 800-38A, F.1.1 and F.2.1")
    func aes() throws {
        let cipher = try BlockCipher.aes(hex("2b7e151628aed2a6abf7158809cf4f3c"))
        let block = Array(message[..<16])
        #expect(try cipher.encrypt(block) == hex("3ad77bb40d7a3660a89ecaf32466ef97"))
        let mode = BlockCipher.Mode.blockChaining(vector: hex("000102030405060708090a0b0c0d0e0f"))
        let chained = try cipher.encrypt(Array(message[..<32]), mode)
        #expect(chained == hex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"))
        #expect(try cipher.decrypt(chained, mode) == Array(message[..<32]))
    }

    @Test(
        "CMAC gives the examples of NIST SP 800-38B, D.1",
        arguments: [
            (0, "bb1d6929e95937287fa37d129b756746"), (16, "070a16b46b4d4144f79bdd9dd04a287c"),
            (40, "dfa66747de9ae63030ca32611497c827"), (64, "51f0bebf7e3b9d92fc49741779363cfe"),
        ]
    )
    func cmac(length: Int, expected: String) throws {
        let cipher = try BlockCipher.aes(hex("2b7e151628aed2a6abf7158809cf4f3c"))
        #expect(try cipher.cmac(Array(message[..<length])) == hex(expected))
    }

    @Test("The retail MAC gives the example of ICAO 9303-11, D.3")
    func retailMAC() throws {
        let key = hex("7962D9ECE03D1ACD4C76089DCE131543")
        let message = hex("72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2") + hex("8000000000000000")
        #expect(try BlockCipher.retailMAC(message, key: key) == hex("5F1448EEA8AD90A7"))
    }

    @Test("Triple DES with two keys gives the example of ICAO 9303-11, D.3")
    func tripleDES() throws {
        let cipher = try BlockCipher.des(hex("AB94FDECF2674FDFB9B391F85D7F76F2"))
        let challenge = hex("781723860C06C2264608F919887022120B795240CB7049B01C19B33E32804F0B")
        let enciphered = try cipher.encrypt(challenge, .blockChaining(vector: [0, 0, 0, 0, 0, 0, 0, 0]))
        #expect(enciphered == hex("72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2"))
    }

    @Test("Single DES gives the vector that FIPS 81 has")
    func singleDES() throws {
        let cipher = try BlockCipher.des(hex("0123456789abcdef"))
        #expect(try cipher.encrypt(Array("Now is t".utf8)) == hex("3fa40e8a984d4815"))
    }

    @Test("Hashes give the examples of FIPS 180-4")
    func hashes() throws {
        #expect(try MessageDigest.sha1.hash(Array("abc".utf8)) == hex("a9993e364706816aba3e25717850c26c9cd0d89d"))
        #expect(
            try MessageDigest.sha256.hash([])
                == hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        )
    }

    @Test("Wrong lengths are refused")
    func wrongLengths() throws {
        #expect(throws: CryptographyError.self) { try BlockCipher.aes([1, 2, 3]) }
        let cipher = try BlockCipher.aes(Array(repeating: 0, count: 16))
        #expect(throws: CryptographyError.self) { try cipher.encrypt([1]) }
        #expect(throws: CryptographyError.self) { try cipher.encrypt([], .blockChaining(vector: [0])) }
    }
}

/// Octets from hexadecimal digits.
private func hex(_ text: String) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}
