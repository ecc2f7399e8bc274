// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Testing

/// Ciphers, codes and hashes against the examples of the standards.
struct CipherTests {
    /// The message of NIST SP 800-38A and SP 800-38B.
    private static let message = bytes(
        """
        6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 30c81c46a35ce411e5fbc1191a0a52ef
        f69f2445df4f9b17ad2b417be66c3710
        """
    )
    private static let aesKey = bytes("2b7e151628aed2a6abf7158809cf4f3c")
    private static let desKey = bytes("8aa83bf8cbda10620bc1bf19fbb6cd58bc313d4a371ca8b5")

    @Test func `ciphers: the vectors of SP 800-38A, FIPS 81 and ICAO 9303-11`() throws {
        let zeros = BlockCipher.Mode.blockChaining(vector: [UInt8](repeating: 0, count: 8))
        let vector = BlockCipher.Mode.blockChaining(vector: bytes("000102030405060708090a0b0c0d0e0f"))
        let (aes, wanted) = (try BlockCipher.aes(Self.aesKey), Self.message)
        #expect(try aes.encrypt(Array(wanted[..<16])) == bytes("3ad77bb40d7a3660a89ecaf32466ef97"))
        let rows: [(String, BlockCipher, BlockCipher.Mode, [UInt8], String)] = [
            (
                "SP 800-38A, F.2.1", aes, vector, Array(wanted[..<32]),
                "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
            ),
            (
                "SP 800-38A, F.1.3",
                try .aes(bytes("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b")), .electronicCodebook,
                Array(wanted[..<16]), "bd334f1d6e45f25ff712a214571fa5cc"
            ),
            (
                "SP 800-38A, F.1.5",
                try .aes(bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")),
                .electronicCodebook,
                Array(wanted[..<16]), "f3eed1bdb5d2a03c064b5a7e3db181f8"
            ),
            (
                "FIPS 81", try .des(bytes("0123456789abcdef")), zeros, Array("Now is t".utf8), "3fa40e8a984d4815"
            ),
            (
                "ICAO 9303-11, D.3", try .des(bytes("AB94FDECF2674FDFB9B391F85D7F76F2")), zeros,
                bytes("781723860C06C2264608F919887022120B795240CB7049B01C19B33E32804F0B"),
                "72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2"
            ),
        ]
        for (source, cipher, mode, plain, enciphered) in rows {
            #expect(try cipher.encrypt(plain, mode) == bytes(enciphered), "\(source)")
            #expect(try cipher.decrypt(bytes(enciphered), mode) == plain, "\(source)")
        }
    }

    @Test func `CMAC: the examples of SP 800-38B, D.1 and D.4`() throws {
        for (cipher, examples) in [
            (
                try BlockCipher.aes(Self.aesKey),
                [
                    (0, "bb1d6929e95937287fa37d129b756746"), (16, "070a16b46b4d4144f79bdd9dd04a287c"),
                    (40, "dfa66747de9ae63030ca32611497c827"), (64, "51f0bebf7e3b9d92fc49741779363cfe"),
                ]
            ),
            (
                try BlockCipher.des(Self.desKey),
                [
                    (0, "b7a688e122ffaf95"), (8, "8e8f293136283797"), (20, "743ddbe0ce2dc2ed"),
                    (32, "33e6b1092400eae5"),
                ]
            ),
        ] {
            for (length, code) in examples {
                #expect(try cipher.cmac(Array(Self.message[..<length])) == bytes(code), "\(length)")
            }
        }
        // For cards that chain MACs, the first block is combined with the MAC before it.
        let cipher = try BlockCipher.aes(Self.aesKey)
        let (first, rest) = (Array(Self.message[..<16]), Array(Self.message[16..<40]))
        let vector = bytes("000102030405060708090a0b0c0d0e0f")
        let mixed = zip(first, vector).map { $0 ^ $1 }
        #expect(try cipher.cmac(first + rest, vector: vector) == cipher.cmac(mixed + rest))
        #expect(try cipher.cmac(first, vector: vector) != cipher.cmac(first))
        #expect(try cipher.cmac(first, vector: [UInt8](repeating: 0, count: 16)) == cipher.cmac(first))
    }

    /// From AN12304, 3.1 to 3.4: the key, its updated key's number, the counter or message, and the result.
    @Test func `leakage resilient primitive: the examples of AN12304`() throws {
        for (key, number, input, result) in [
            ("567826b8da8e768432a9548dbe4aa3a0", 2, "1359", "1ba2c0c578996bc497dd181c6885a9dd"),
            ("a14e397da6c410440fa9ec4c61774094", 0, "4b42600d", "21c0b442bf41b7ddd80d4a99cd7b7b81"),
            ("75fca5e188f44f1e808597a0b7b690d4", 1, "64962f5ded0468f1", "ebd6f32ed75566e6756a14ec16715cbd"),
        ] {
            let cipher = try LeakageResilientCipher(bytes(key), updatedKey: number)
            #expect(try cipher.evaluate(bytes(input)) == bytes(result), "\(key)")
        }
        // The counter carries into its first byte.
        let cipher = try LeakageResilientCipher(bytes("1b1a179ce9c0db3e45a97d0d98d0530c"))
        let plain = bytes(
            "472dbafe6434d357402785a3348081b02eab54244ee9c9c88e91001c5158992de36e79ad844645493940902c8746669b"
        )
        let encrypted = bytes(
            "397c9effd28c560411b934895c8df60f082b9560778f8571b5c31a057b34c2352f11b5634788623499c6bdd5c490f5cb"
        )
        #expect(try cipher.encrypt(plain, counter: bytes("e9ffffff")) == encrypted)
        #expect(try cipher.decrypt(encrypted, counter: bytes("e9ffffff")) == plain)
        for (key, message, code) in [
            ("e7feb463c2498e04efc5bf503473fc3a", "f3efb6b0d4a7", "c17aa38420ee2aa13087578cfbb0b7f3"),
            ("aea00ad0ef9243833da4861d6a0d2c8c", "", "954230a72692bab4ce1a44473d081376"),
            (
                "dd65c1973aae481556949a70bba498a8", "de3560aac2d50387dbe216179395f41b",
                "e19da6375b7d44ac7ef2dc379e496775"
            ),
        ] {
            #expect(try LeakageResilientCipher(bytes(key)).cmac(bytes(message)) == bytes(code), "\(key)")
        }
    }

    @Test func `retail MAC: the example of ICAO 9303-11, D.3`() throws {
        let message = bytes("72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2 8000000000000000")
        let code = try BlockCipher.retailMAC(message, key: bytes("7962D9ECE03D1ACD4C76089DCE131543"))
        #expect(code == bytes("5F1448EEA8AD90A7"))
    }

    @Test func `hashes: the examples of FIPS 180-4`() throws {
        for (digest, text, hash) in [
            (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ] as [(MessageDigest, String, String)] {
            #expect(try digest.hash(Array(text.utf8)) == bytes(hash) && digest.length == hash.count / 2, "\(text)")
        }
    }

    @Test func `DES keys of 8, 16 and 24 bytes: the same cipher if their repeated parts are equal`() throws {
        let (a, b, block) = (bytes("0123456789abcdef"), bytes("fedcba9876543210"), Array("Now is t".utf8))
        func encrypt(_ key: [UInt8]) throws -> [UInt8] { try BlockCipher.des(key).encrypt(block) }
        #expect(try encrypt(a) == encrypt(a + a) && encrypt(a) == encrypt(a + a + a))
        #expect(try encrypt(a + b) == encrypt(a + b + a) && encrypt(a + b) != encrypt(a + b + b))
    }

    @Test func `DES of each key length: decrypts what it encrypts, and encrypts no bytes to no bytes`() throws {
        let (a, b, block) = (bytes("0123456789abcdef"), bytes("fedcba9876543210"), Array("Now is t".utf8))
        for key in [a, a + b, a + b + b] {
            let cipher = try BlockCipher.des(key)
            #expect(try cipher.blockLength == 8 && cipher.decrypt(cipher.encrypt(block)) == block)
            #expect(try cipher.encrypt([]) == [])
        }
    }

    @Test func `wrong lengths of keys, blocks and vectors: wrongLength`() throws {
        let (aes, block) = (try BlockCipher.aes(Self.aesKey), [UInt8](repeating: 0, count: 16))
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        var calls: [() throws -> [UInt8]] = [
            { try aes.encrypt([1]) }, { try aes.decrypt([1]) },
            { try aes.encrypt(block, .blockChaining(vector: [0])) },
            { try aes.encrypt([], .blockChaining(vector: [0])) },
            { try BlockCipher.retailMAC([], key: block) }, { try BlockCipher.retailMAC([1], key: block) },
            { try BlockCipher.retailMAC(block, key: zeros(8)) }, { try BlockCipher.retailMAC(block, key: zeros(24)) },
        ]
        for count in [0, 7, 9, 15, 17, 23, 25] { calls.append { try BlockCipher.des(zeros(count)).encrypt([]) } }
        for count in [0, 15, 17, 23, 33] { calls.append { try BlockCipher.aes(zeros(count)).encrypt([]) } }
        for (index, call) in calls.enumerated() {
            let error = #expect(throws: CryptographyError.self) { try call() }
            #expect(error?.code == .wrongLength, "\(index)")
        }
    }

    @Test func `mutual authentication: the right proof of both challenges is answered, any other is refused`() throws {
        func turned(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.dropFirst()) + bytes.prefix(1) }
        for (cipher, block) in [(try BlockCipher.aes(Self.aesKey), 16), (try BlockCipher.des(Self.desKey), 8)] {
            let (challenge, ofReader) = (Array(Self.message[..<16]), Array(Self.message[16..<32]))
            let card = ChallengeProof(cipher: cipher, challenge: challenge)
            let start = BlockCipher.Mode.blockChaining(vector: [UInt8](repeating: 0, count: block))
            #expect(try cipher.decrypt(card.sent, start) == challenge)
            // Chained by the last block of what came before.
            let chain = BlockCipher.Mode.blockChaining(vector: Array(card.sent.suffix(block)))
            let proof = try cipher.encrypt(ofReader + turned(challenge), chain)
            let taken = try #require(try card.finish(proof))
            #expect(taken.readerChallenge == ofReader)
            let next = BlockCipher.Mode.blockChaining(vector: Array(proof.suffix(block)))
            #expect(try cipher.decrypt(taken.answer, next) == turned(ofReader))
            #expect(try card.finish(cipher.encrypt(ofReader + challenge, chain)) == nil)
            for wrong in [[], Array(proof.prefix(16)), proof + proof.suffix(16)] {
                #expect(try card.finish(wrong) == nil, "\(wrong.count)")
            }
        }
    }
}

/// Bytes from hexadecimal digits, with any separators.
func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
