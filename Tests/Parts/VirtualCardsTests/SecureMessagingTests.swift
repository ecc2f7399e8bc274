// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagScripts
import Testing
import VirtualCards

/// Exchanges that were recorded with real cards, and the examples of NXP's application notes.
struct SecureMessagingTests {
    // MARK: Authentication

    @Test func `AUTHENTICATE ISO: a recorded exchange with a DES key of zeros`() throws {
        let challenge = hex("4c 64 7e 56 72 e2 a6 51")
        let authentication = CardAuthentication(.iso, number: 0, key: .zero(.des), challenge: challenge)
        #expect(authentication.sent == hex("de 50 f9 23 10 ca f5 a5"))
        // A DES key takes the first eight bytes of a challenge.
        let longer = CardAuthentication(.iso, number: 0, key: .zero(.des), challenge: challenge + Array(0..<8))
        #expect(longer.sent == authentication.sent)
        let (answer, _) = try authentication.finish(hex("e0 06 16 66 87 04 d5 54 9c 8d 6a 13 a0 f8 fc ed"))
        #expect(answer == hex("1d 9d 29 54 69 7d e7 60"))
    }

    @Test func `AUTHENTICATE ISO: a recorded exchange with a triple DES key of zeros`() throws {
        let challenge = hex("31 6e 6d 76 a4 49 f9 25 ba 30 4f b2 65 36 56 a2")
        let authentication = CardAuthentication(.iso, number: 0, key: .zero(.tripleDES), challenge: challenge)
        #expect(authentication.sent == hex("bc 1c 57 0b c9 48 15 61 87 13 23 64 e4 dc e1 76"))
        let proof = hex(
            "dd dc 9a 77 59 7f 03 a4 0c 7f aa 36 2f 45 a8 ea db e4 6a 11 5d 98 19 8c bf 36 a6 e5 1b 39 d8 7c"
        )
        let (answer, _) = try authentication.finish(proof)
        #expect(answer == hex("72 44 d9 35 ed 9a 13 06 cd 8c 84 1a 7c 1d e3 9a"))
    }

    @Test func `AUTHENTICATE AES: a recorded exchange, and the key changed after it`() throws {
        let challenge = hex("c0 5d dd 71 4f d7 88 a6 b7 b7 54 f3 c4 d0 66 e8")
        let authentication = CardAuthentication(.aes, number: 0, key: .zero(.aes), challenge: challenge)
        #expect(authentication.sent == hex("b9 69 fd fe 56 fd 91 fc 9d e6 f6 f2 13 b8 fd 1e"))
        let proof = hex(
            "36 aa d7 df 6e 43 6b a0 8d 18 61 38 30 a7 0d 5a d4 3e 3d 3f 4a 8d 47 54 1e ee 62 3a 93 4e 47 74"
        )
        var (answer, session) = try authentication.finish(proof)
        #expect(answer == hex("80 0d b6 80 bc 14 6b d1 21 d6 57 8f 2d 2e 20 59"))
        let key = try session.openKey(
            0,
            hex("e9 f8 5e 21 94 96 c2 b5 8c 10 90 dc 39 35 fa e9 e8 40 cf 61 b3 83 d9 53 19 46 25 6b 1f 11 0c 10"),
            .aes,
            replacing: nil
        )
        #expect(key.bytes == hex("00 10 20 30 40 50 60 70 80 90 a0 b0 b0 a0 90 80"))
        #expect(key.version == 0x10)
    }

    @Test func `AUTHENTICATE AES: a wrong proof is refused by its value or its length`() {
        let authentication = CardAuthentication(.aes, number: 0, key: .zero(.aes), challenge: hex("c0") + Array(0..<15))
        #expect(throws: DESFireStatus.authenticationError) {
            try authentication.finish(Array(repeating: 0, count: 32))
        }
        #expect(throws: DESFireStatus.lengthError) { try authentication.finish([1]) }
    }

    // MARK: EV1

    @Test func `EV1 codes: go on from message to message as on a recorded card`() throws {
        var session = ChainedMessaging(cipher: try .aes(hex("40 e7 d2 71 62 6f fb d4 9c 53 0e 3d 30 4f 5b 17")))
        _ = try session.open(0xCD, hex("05 00 11 00 50 00 00"), .standard)
        #expect(try session.seal([], .standard, status: 0) == hex("a7 53 16 ad 15 96 b9 53"))
        _ = try session.open(0x6F, [], .standard)
        #expect(try session.seal([5], .standard, status: 0) == hex("05 2d 5f f6 7f fe c9 d2 d3"))
        _ = try session.open(0xF5, [5], .standard)
        let settings = hex("00 00 11 00 50 00 00")
        #expect(try session.seal(settings, .standard, status: 0) == settings + hex("2a ac 75 17 02 4e 09 dc"))
        let write = hex("05 00 00 00 34 00 00") + Array(0..<0x34)
        _ = try session.open(0x3D, write, .command(.plain, header: 7, length: 0x34))
        #expect(try session.seal([], .standard, status: 0) == hex("76 5c 9d aa 50 ec b6 2f"))
    }

    @Test func `EV1 codes: a recorded one of triple DES with three keys`() throws {
        let key = hex("d0 54 2a 86 58 14 d2 50 4e 9a 18 7c c0 66 68 c0 9c 70 56 82 58 22 7a fc")
        var session = ChainedMessaging(cipher: try .des(key))
        _ = try session.open(0x64, [0], .standard)
        #expect(try session.seal([0x10], .standard, status: 0) == hex("10 ad 4a 52 b1 e3 1c c7 41"))
    }

    // MARK: Legacy

    @Test func `Legacy code: a recorded one over data, and a wrong one is refused`() throws {
        var session = LegacyMessaging(cipher: try .des(hex("c8 6d b4 4f 23 43 ba 56")))
        let protection = Protection.command(.maced, header: 7, length: 32)
        let header = hex("00 00 00 00 20 00 00")
        let data = [UInt8](0..<32)
        #expect(try session.open(0x3D, header + data + hex("9a a8 3a 44"), protection) == header + data)
        #expect(throws: DESFireStatus.integrityError) {
            try session.open(0x3D, header + data + hex("9a a8 3a 45"), protection)
        }
    }

    @Test func `Legacy CHANGE KEY: recorded changes of single and double keys`() throws {
        var session = LegacyMessaging(cipher: try .des(hex("c8 6d b4 4f d3 20 d9 39")))
        let double = try session.openKey(
            0,
            hex("b2 99 f1 06 a0 73 23 44 90 7b 03 41 e6 46 3d 42 41 42 33 a2 8a 12 b1 94"),
            .des,
            replacing: nil
        )
        #expect(double.bytes.map { $0 & 0xFE } == stride(from: 0, to: 32, by: 2).map { UInt8($0) })
        #expect(double.version == 0x10)
        session = LegacyMessaging(cipher: try .des(hex("c8 6d b4 4f 9e 5d 3a b9")))
        let single = try session.openKey(
            0,
            hex("38 b6 ba b4 d0 68 d7 a8 04 77 9e b1 35 93 82 a8 3d ca d9 01 e4 48 ac 27"),
            .des,
            replacing: nil
        )
        #expect(single.bytes[..<8].map { $0 & 0xFE } == [0, 2, 4, 6, 8, 10, 12, 14])
        #expect(single.version == 0x10)
    }

    // MARK: EV2, NXP AN12196

    @Test func `AUTHENTICATE EV2 FIRST: the example of AN12196, 5.6`() throws {
        let challenge = hex("b9 e2 fc 78 9b 64 bf 23 7c cc aa 20 ec 7e 6e 48")
        let authentication = CardAuthentication(.ev2First, number: 0, key: .zero(.aes), challenge: challenge)
        #expect(authentication.sent == hex("a04c124213c186f22399d33ac2a30215"))
        let proof = hex("35c3e05a752e0144bac0de51c1f22c56b34408a23d8aea266cab947ea8e0118d")
        let (answer, session) = try authentication.finish(proof, transaction: hex("9d00c4df"))
        #expect(answer == hex("3fa64db5446d1f34cd6ea311167f5e4985b89690c04a05f17fa7ab2f08120663"))
        let messaging = try #require(session as? EV2Messaging)
        #expect(messaging.encryptionKey == hex("1309c877509e5a215007ff0ed19ca564"))
        #expect(messaging.codeKey == hex("4c6626f5e72ea694202139295c7a7fc7"))
    }

    @Test func `EV2 codes: the example of AN12196, 4.3`() throws {
        var session = try EV2Messaging(
            encryptionKey: Array(repeating: 0, count: 16),
            codeKey: hex("8248134a386e86eb7faf54a52e536cb6"),
            transaction: hex("7a21085e")
        )
        #expect(try session.open(0xF5, hex("02 6597a457c8cd442c"), .standard) == [2])
        let settings = hex("0040eeee000100d1fe001f00004400004400002000006a0000")
        #expect(try session.seal(settings, .standard, status: 0) == settings + hex("2a474282e7a47986"))
        #expect(session.counter == 1)
    }

    @Test func `EV2 enciphered commands: the examples of AN12196, 5.8, 5.9 and 5.12`() throws {
        var session = try EV2Messaging(
            encryptionKey: hex("1309c877509e5a215007ff0ed19ca564"),
            codeKey: hex("4c6626f5e72ea694202139295c7a7fc7"),
            transaction: hex("9d00c4df"),
            counter: 1
        )
        let settings = hex("02 4000e0c1f121200000430000430000")
        let change = hex("02 61b6d97903566e84c3ae5274467e89ea d799b7c1a0ef7a04")
        #expect(try session.open(0x5F, change, .command(.enciphered, header: 1, length: 0)) == settings)
        #expect(try session.seal([], .standard, status: 0) == hex("57bff87b1241e93d"))

        session = try EV2Messaging(
            encryptionKey: hex("7a93d6571e4b180fca6ac90c9a7488d4"),
            codeKey: hex("fc4af159b62e549b5812394cab1918cc"),
            transaction: hex("7614281a")
        )
        let write = hex("030000000a0000 6b5e6804909962fc4e3ff5522cf0f843 6c0c53315b9c73aa")
        let protection = Protection.command(.enciphered, header: 7, length: 10)
        #expect(try session.open(0x8D, write, protection) == hex("030000000a0000 0102030405060708090a"))
        #expect(try session.seal([], protection, status: 0) == hex("c26d236e4a7c046d"))
    }

    @Test(arguments: [("01 80", [1]), ("80", []), ("01 81", nil), ("01", nil), ("80 01", nil)] as [(String, [UInt8]?)])
    func `EV2 padding: the mark 80 and zeros end the data, or it is refused`(text: String, data: [UInt8]?) throws {
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let cipher = try BlockCipher.aes(zeros(16))
        let vector = try cipher.encrypt([0xA5, 0x5A] + zeros(14))
        let plain = hex(text)
        let body = try cipher.encrypt(plain + zeros(16 - plain.count), .blockChaining(vector: vector))
        let whole = try cipher.cmac([0x5F] + zeros(6) + body)
        let sent = body + (0..<8).map { whole[2 * $0 + 1] }
        var session = try EV2Messaging(encryptionKey: zeros(16), codeKey: zeros(16), transaction: zeros(4))
        let protection = Protection.command(.enciphered, header: 0, length: 0)
        if let data {
            #expect(try session.open(0x5F, sent, protection) == data)
        } else {
            #expect(throws: DESFireStatus.integrityError) { try session.open(0x5F, sent, protection) }
        }
    }

    @Test func `EV2 enciphered answer: the example of AN12196, 6.3`() throws {
        var session = try EV2Messaging(
            encryptionKey: hex("2b4d963c014dc36f24f69a50a394f875"),
            codeKey: hex("379d32130ce61705dd5fd8c36b95d764"),
            transaction: hex("df055522")
        )
        #expect(try session.open(0x51, hex("8e2c155adda99be3"), .answer(.enciphered)).isEmpty)
        let answer = try session.seal(hex("04958caa5c5e80"), .answer(.enciphered), status: 0)
        #expect(answer == hex("70756055688505b52a5e26e59e329cd6 595f672298ea41b7"))
    }

    @Test func `EV2 CHANGE KEY: both examples of AN12196, 5.16`() throws {
        func session(_ counter: UInt16) throws -> EV2Messaging {
            try EV2Messaging(
                encryptionKey: hex("4cf3cb41a22583a61e89b158d252fc53"),
                codeKey: hex("5529860b2fc5fb6154b7f28361d30bf9"),
                transaction: hex("7614281a"),
                counter: counter
            )
        }
        var other = try session(2)
        let second = try other.openKey(
            2,
            hex("2cf362b7bf4311ff3be1daa295e8c68de09050560d19b9e16c2393ae9cd1fac7 5d0ce20bcd1d06e6"),
            .aes,
            replacing: .zero(.aes)
        )
        #expect(second.bytes == hex("f3847d627727ed3bc9c4cc050489b966"))
        #expect(second.version == 1)
        #expect(try other.seal([], .standard, status: 0) == hex("203bb55d1089d587"))
        var own = try session(3)
        let first = try own.openKey(
            0,
            hex("c0eb4deefeddf0b513a03a95a75491818580503190d4d05053ff75668a01d6fd a6610234bded6432"),
            .aes,
            replacing: nil
        )
        #expect(first.bytes == hex("5004bf991f408672b1ef00f08f9e8647"))
        #expect(first.version == 1)
    }
}
