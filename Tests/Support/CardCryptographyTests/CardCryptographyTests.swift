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

    @Test("A card takes the proof of both challenges and proves itself, and takes no other and none of another length")
    func challengeProof() throws {
        let cipher = try BlockCipher.aes(hex("2b7e151628aed2a6abf7158809cf4f3c"))
        let challenge = Array(message[..<16])
        let ofReader = Array(message[16..<32])
        let card = ChallengeProof(cipher: cipher, challenge: challenge)
        #expect(try cipher.decrypt(card.sent, .blockChaining(vector: [UInt8](repeating: 0, count: 16))) == challenge)
        func proof(_ bytes: [UInt8]) throws -> [UInt8] { try cipher.encrypt(bytes, .blockChaining(vector: card.sent)) }
        func turned(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.dropFirst() + bytes.prefix(1)) }
        let right = try proof(ofReader + turned(challenge))
        let taken = try #require(try card.finish(right))
        #expect(taken.readerChallenge == ofReader)
        let answer = try cipher.decrypt(taken.answer, .blockChaining(vector: Array(right.suffix(16))))
        #expect(answer == turned(ofReader))
        #expect(try card.finish(proof(ofReader + challenge)) == nil)
        for wrong in [[], Array(right.prefix(16)), right + right.suffix(16)] {
            #expect(try card.finish(wrong) == nil)
        }
    }

    @Test("A challenge of two blocks is chained by its last one, and so is what answers it")
    func challengeOfTwoBlocks() throws {
        let cipher = try BlockCipher.des(hex("8aa83bf8cbda10620bc1bf19fbb6cd58bc313d4a371ca8b5"))
        let (challenge, ofReader) = (Array(message[..<16]), Array(message[16..<32]))
        let card = ChallengeProof(cipher: cipher, challenge: challenge)
        let chain = BlockCipher.Mode.blockChaining(vector: Array(card.sent.suffix(8)))
        let proof = try cipher.encrypt(ofReader + challenge.rotated, chain)
        let taken = try #require(try card.finish(proof))
        #expect(taken.readerChallenge == ofReader)
        let next = BlockCipher.Mode.blockChaining(vector: Array(proof.suffix(8)))
        #expect(try cipher.decrypt(taken.answer, next) == ofReader.rotated)
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

    @Test(
        "CMAC over triple DES gives the examples of NIST SP 800-38B, D.4",
        arguments: [
            (0, "b7a688e122ffaf95"), (8, "8e8f293136283797"), (20, "743ddbe0ce2dc2ed"), (32, "33e6b1092400eae5"),
        ]
    )
    func cmacOfTripleDES(length: Int, expected: String) throws {
        let cipher = try BlockCipher.des(hex("8aa83bf8cbda10620bc1bf19fbb6cd58bc313d4a371ca8b5"))
        #expect(cipher.blockLength == 8)
        #expect(try cipher.cmac(Array(message[..<length])) == hex(expected))
    }

    @Test("A CMAC's first block is combined with the code before it, where cards chain them")
    func chainedCMAC() throws {
        let cipher = try BlockCipher.aes(hex("2b7e151628aed2a6abf7158809cf4f3c"))
        let first = Array(message[..<16])
        let vector = hex("000102030405060708090a0b0c0d0e0f")
        let mixed = zip(first, vector).map { $0 ^ $1 }
        #expect(try cipher.cmac(first + message[16..<40], vector: vector) == cipher.cmac(mixed + message[16..<40]))
        #expect(try cipher.cmac(first, vector: vector) != cipher.cmac(first))
        #expect(try cipher.cmac(first, vector: [UInt8](repeating: 0, count: 16)) == cipher.cmac(first))
    }

    @Test(
        "Keys of DES of 8, 16 and 24 bytes are one cipher where their parts are the same, and blocks are turned back"
    )
    func keysOfDES() throws {
        let (a, b, block) = (hex("0123456789abcdef"), hex("fedcba9876543210"), Array("Now is t".utf8))
        func encrypt(_ key: [UInt8]) throws -> [UInt8] { try BlockCipher.des(key).encrypt(block) }
        #expect(try encrypt(a) == encrypt(a + a) && encrypt(a) == encrypt(a + a + a))
        #expect(try encrypt(a + b) == encrypt(a + b + a) && encrypt(a + b) != encrypt(a + b + b))
        for key in [a, a + b, a + b + b] {
            let cipher = try BlockCipher.des(key)
            #expect(try cipher.decrypt(cipher.encrypt(block)) == block)
            let mode = BlockCipher.Mode.blockChaining(vector: b)
            #expect(try cipher.decrypt(cipher.encrypt(block + block, mode), mode) == block + block)
            #expect(try cipher.encrypt([]) == [])
        }
        for count in [0, 7, 9, 15, 17, 23, 25] {
            #expect(throws: CryptographyError.self) { try BlockCipher.des([UInt8](repeating: 0, count: count)) }
        }
        for count in [0, 15, 17, 24, 32] {
            #expect(throws: CryptographyError.self) { try BlockCipher.aes([UInt8](repeating: 0, count: count)) }
        }
        for (message, key) in [([UInt8](), a + b), (block, a), (block, a + b + a), (block + [0], a + b)] {
            #expect(throws: CryptographyError.self) { try BlockCipher.retailMAC(message, key: key) }
        }
    }

    @Test("Hashes have the length that they say")
    func hashLengths() throws {
        for digest in MessageDigest.allCases { #expect(try digest.hash([1, 2, 3]).count == digest.length) }
        #expect(MessageDigest.sha1.length == 20 && MessageDigest.sha256.length == 32)
        #expect(
            try MessageDigest.sha1.hash([]) == hex("da39a3ee5e6b4b0d3255bfef95601890afd80709")
        )
        #expect(
            try MessageDigest.sha256.hash(Array("abc".utf8))
                == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        )
    }

    @Test("Wrong lengths are refused")
    func wrongLengths() throws {
        #expect(throws: CryptographyError.self) { try BlockCipher.aes([1, 2, 3]) }
        let cipher = try BlockCipher.aes(Array(repeating: 0, count: 16))
        #expect(throws: CryptographyError.self) { try cipher.encrypt([1]) }
        #expect(throws: CryptographyError.self) { try cipher.encrypt([], .blockChaining(vector: [0])) }
    }

    @Test("What has a wrong length is told from what the library refuses")
    func codesOfWrongLengths() throws {
        let cipher = try BlockCipher.aes(Array(repeating: 0, count: 16))
        let block = [UInt8](repeating: 0, count: 16)
        let calls: [() throws -> [UInt8]] = [
            { try BlockCipher.aes([1, 2, 3]).encrypt(block) }, { try BlockCipher.des([1, 2, 3]).encrypt(block) },
            { try cipher.encrypt([1]) }, { try cipher.decrypt([1]) },
            { try cipher.encrypt(block, .blockChaining(vector: [0])) },
            { try BlockCipher.retailMAC([], key: block) }, { try BlockCipher.retailMAC(block, key: [1]) },
            { try BlockCipher.retailMAC([1], key: block) },
        ]
        for (index, call) in calls.enumerated() {
            let error = #expect(throws: CryptographyError.self) { try call() }
            #expect(error?.code == .wrongLength, "\(index)")
        }
    }
}

/// Bytes from hexadecimal digits.
private func hex(_ text: String) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}
