// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagScripts
import Testing
import VirtualTags

/// Exchanges that were recorded with real cards, and the examples of NXP's application note AN12196.
struct SecureMessagingTests {
    // MARK: Authentication

    /// With keys of zeros: the scheme, the card's challenge, how it sends that, the reader's proof, and the card's answer.
    /// Those of EV2 are from AN12196, 5.6.
    private static let authentications = """
        DES  4c647e5672e2a651 de50f92310caf5a5
             e00616668704d5549c8d6a13a0f8fced 1d9d2954697de760
        3DES 316e6d76a449f925ba304fb2653656a2 bc1c570bc948156187132364e4dce176
             dddc9a77597f03a40c7faa362f45a8eadbe46a115d98198cbf36a6e51b39d87c 7244d935ed9a1306cd8c841a7c1de39a
        AES  c05ddd714fd788a6b7b754f3c4d066e8 b969fdfe56fd91fc9de6f6f213b8fd1e
             36aad7df6e436ba08d18613830a70d5ad43e3d3f4a8d47541eee623a934e4774 800db680bc146bd121d6578f2d2e2059
        EV2  b9e2fc789b64bf237cccaa20ec7e6e48 a04c124213c186f22399d33ac2a30215
             35c3e05a752e0144bac0de51c1f22c56b34408a23d8aea266cab947ea8e0118d
             3fa64db5446d1f34cd6ea311167f5e4985b89690c04a05f17fa7ab2f08120663
        """

    @Test func `Card authentication: gives the answers and session keys of recorded exchanges, refuses others`() throws
    {
        let schemes: [String: (CardAuthentication.Scheme, DESFireKey.Kind)] = [
            "DES": (.iso, .des), "3DES": (.iso, .tripleDES), "AES": (.aes, .aes), "EV2": (.ev2First, .aes),
        ]
        let words = Self.authentications.split { " \n".contains($0) }.map(String.init)
        for row in stride(from: 0, to: words.count, by: 5) {
            let name = words[row]
            let bytes = words[row + 1..<row + 5].map(hex)
            let (scheme, kind) = try #require(schemes[name])
            let card = CardAuthentication(scheme, number: 0, key: .zero(kind), challenge: bytes[0])
            #expect(card.sent == bytes[1], "\(name)")
            var (answer, session) = try card.finish(bytes[2], transaction: hex("9d00c4df"))
            #expect(answer == bytes[3], "\(name)")
            #expect(throws: DESFireStatus.authenticationError) { try card.finish(bytes[2].map { _ in 0 }) }
            #expect(throws: DESFireStatus.lengthError) { try card.finish([1]) }
            if name == "AES" {
                let sent = "e9f85e219496c2b58c1090dc3935fae9e840cf61b383d9531946256b1f110c10"
                let key = try session.openKey(0, hex(sent), .aes, replacing: nil)
                #expect(key.bytes == hex("00102030405060708090a0b0b0a09080") && key.version == 0x10)
            } else if name == "EV2" {
                let keys = ("1309c877509e5a215007ff0ed19ca564", "4c6626f5e72ea694202139295c7a7fc7")
                #expect(try session as? EV2Messaging == ev2(keys.0, keys.1, "9d00c4df"))
            }
        }
    }

    // MARK: Messages

    /// Opens a command and seals its answer. `plain` is the command without protection; nil where that changes nothing.
    private func exchange(
        _ session: inout some SecureMessaging,
        _ command: UInt8,
        _ sent: String,
        _ protection: Protection = .standard,
        plain: String? = nil,
        answer: String = "",
        sealed: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let opened = try session.open(command, hex(sent), protection)
        #expect(opened == hex(plain ?? sent), sourceLocation: sourceLocation)
        let bytes = try session.seal(hex(answer), protection, status: 0)
        #expect(bytes == hex(sealed), sourceLocation: sourceLocation)
    }

    @Test func `DESFire EV1 MACs: each continues from the one before, and they equal those of recorded cards`() throws {
        var session = DESFireMessaging(cipher: try .aes(hex("40e7d271626ffbd49c530e3d304f5b17")))
        try exchange(&session, 0xCD, "05001100500000", sealed: "a75316ad1596b953")
        try exchange(&session, 0x6F, "", answer: "05", sealed: "052d5ff67ffec9d2d3")
        try exchange(&session, 0xF5, "05", answer: "00001100500000", sealed: "000011005000002aac7517024e09dc")
        let write = "05000000340000" + hexText(0..<0x34)
        try exchange(&session, 0x3D, write, .command(.plain, header: 7, length: 0x34), sealed: "765c9daa50ecb62f")
        // Triple DES with three keys.
        var other = DESFireMessaging(cipher: try .des(hex("d0542a865814d2504e9a187cc06668c09c70568258227afc")))
        try exchange(&other, 0x64, "00", answer: "10", sealed: "10ad4a52b1e31cc741")
    }

    @Test func `Legacy codes and CHANGE KEY: match those of recorded cards, and a wrong code is refused`() throws {
        var session = DESFireMessaging(cipher: try .des(hex("c86db44f2343ba56")), isLegacy: true)
        let protection = Protection.command(.maced, header: 7, length: 32)
        let data = hex("00000000200000") + [UInt8](0..<32)
        #expect(try session.open(0x3D, data + hex("9aa83a44"), protection) == data)
        #expect(throws: DESFireStatus.integrityError) { try session.open(0x3D, data + hex("9aa83a45"), protection) }
        let even = stride(from: 0, to: 32, by: 2).map { UInt8($0) }
        let changes: [(cipher: String, sent: String, count: Int)] = [
            ("c86db44fd320d939", "b299f106a0732344907b0341e6463d42414233a28a12b194", 16),
            ("c86db44f9e5d3ab9", "38b6bab4d068d7a804779eb1359382a83dcad901e448ac27", 8),
        ]
        for (cipher, sent, count) in changes {
            session = DESFireMessaging(cipher: try .des(hex(cipher)), isLegacy: true)
            let key = try session.openKey(0, hex(sent), .des, replacing: nil)
            #expect(
                key.bytes.prefix(count).map { $0 & 0xFE } == Array(even.prefix(count)) && key.version == 0x10,
                "\(count)"
            )
        }
    }

    // MARK: EV2, NXP AN12196

    private func ev2(_ encryption: String, _ code: String, _ transaction: String, _ counter: UInt16 = 0) throws
        -> EV2Messaging
    {
        EV2Messaging(
            try EV2Codes(encryptionKey: hex(encryption), codeKey: hex(code), transaction: hex(transaction)),
            counter: counter
        )
    }

    @Test func `EV2 messages: match the examples of AN12196, 4.3, 5.8, 5.9, 5.12 and 6.3`() throws {
        var session = try ev2("00000000000000000000000000000000", "8248134a386e86eb7faf54a52e536cb6", "7a21085e")
        let settings = "0040eeee000100d1fe001f00004400004400002000006a0000"
        try exchange(
            &session,
            0xF5,
            "026597a457c8cd442c",
            plain: "02",
            answer: settings,
            sealed: settings + "2a474282e7a47986"
        )
        #expect(session.counter == 1)
        session = try ev2("1309c877509e5a215007ff0ed19ca564", "4c6626f5e72ea694202139295c7a7fc7", "9d00c4df", 1)
        let change = hex("0261b6d97903566e84c3ae5274467e89ead799b7c1a0ef7a04")
        let changed = try session.open(0x5F, change, .command(.enciphered, header: 1, length: 0))
        #expect(changed == hex("024000e0c1f121200000430000430000"))
        #expect(try session.seal([], .standard, status: 0) == hex("57bff87b1241e93d"))
        session = try ev2("7a93d6571e4b180fca6ac90c9a7488d4", "fc4af159b62e549b5812394cab1918cc", "7614281a")
        try exchange(
            &session,
            0x8D,
            "030000000a00006b5e6804909962fc4e3ff5522cf0f8436c0c53315b9c73aa",
            .command(.enciphered, header: 7, length: 10),
            plain: "030000000a00000102030405060708090a",
            sealed: "c26d236e4a7c046d"
        )
        session = try ev2("2b4d963c014dc36f24f69a50a394f875", "379d32130ce61705dd5fd8c36b95d764", "df055522")
        try exchange(
            &session,
            0x51,
            "8e2c155adda99be3",
            .answer(.enciphered),
            plain: "",
            answer: "04958caa5c5e80",
            sealed: "70756055688505b52a5e26e59e329cd6595f672298ea41b7"
        )
    }

    // MARK: LRP

    /// The card's part of an authentication in LRP mode with a key of zeros.
    private func lrp(_ random: String, _ scheme: CardAuthentication.Scheme = .ev2First) -> CardAuthentication {
        let challenge = hex(random)
        return .init(scheme, number: 0, key: .zero(.aes), challenge: challenge, capabilities: [2], usesLRP: true)
    }

    @Test func `LRP authentication: matches AN12321, 4; a wrong proof is refused, and NON FIRST keeps TI and counter`()
        throws
    {
        let card = lrp("56109a31977c855319cd4618c9d2aed2")
        let proof = hex("74d7df6a2cec0b72b412de0d2b1117e6 189b59dcedc31a3d3f38ef8d4810b3b4")
        #expect(card.sent == hex("01 56109a31977c855319cd4618c9d2aed2"))
        let (answer, session) = try card.finish(proof, transaction: hex("58ee9424"))
        #expect(answer == hex("f4fc209d9d60623588b299fa5d6b2d71 0125f8547d9fb8d572c90d2c2a14e235"))
        #expect(throws: DESFireStatus.authenticationError) { try card.finish(proof.dropLast() + [0]) }
        var messaging = try #require(session as? EV2Messaging)
        _ = try messaging.seal([], .standard, status: 0)
        let next = try lrp("56109a31977c855319cd4618c9d2aed2", .ev2NonFirst).finish(proof, session: messaging)
        let again = try #require(next.session as? EV2Messaging)
        #expect(next.answer.count == 16 && again.transaction == hex("58ee9424") && again.counter == 1)
    }

    @Test func `LRP messages: match a session of nfc-ev2-crypto (test_lrp_cmd.py), and the switch to LRP AN12321, 5`()
        throws
    {
        // Challenges that give the session vector.
        let (reader, card) = (hex("08a600000000000023855751d644ed51"), "953c60bc3d34e53766689732e2a203ff")
        let key = [UInt8](repeating: 0, count: 16)
        let codes = try EV2Codes(key: key, readerChallenge: reader, cardChallenge: hex(card), usesLRP: true)
        let proof = reader + (try codes.proof(reader + hex(card)))
        var session = try #require(try lrp(card).finish(proof, transaction: hex("204f2276")).session as? EV2Messaging)
        try exchange(
            &session,
            0x8D,
            "03000000030000eaf0fad0430ecdc947a822e12ec8d5f3bb75f218b405fdbc",
            .command(.enciphered, header: 7, length: 3),
            plain: "03000000030000010203",
            sealed: "d5b8d8f8cd67f23c"
        )
        try exchange(
            &session,
            0xAD,
            "0300000003000059858e133a7f487d",
            .answer(.enciphered),
            plain: "03000000030000",
            answer: "010203",
            sealed: "39665fae8af18feb23da1767eaf2274bb97fc66cc9437713"
        )
        session = try ev2("66a8cb93269dc9bc2885b7a91b9c697b", "7de5f7e244a46d22e536804d07e8d70e", "ed56f6e6")
        let sent = hex("0541b2ba963075730426d0858d2aa6c4982f579e77fab49f83")
        let plain = try session.open(0x5C, sent, .command(.enciphered, header: 1, length: 0))
        #expect(plain == hex("0500000000020000000000"))
    }

    @Test func `EV2 CHANGE KEY: matches both examples of AN12196, 5.16`() throws {
        // The counter, the number of the key, what is sent, and the new key.
        let rows: [(UInt16, UInt8, String, String)] = [
            (
                2, 2, "2cf362b7bf4311ff3be1daa295e8c68de09050560d19b9e16c2393ae9cd1fac75d0ce20bcd1d06e6",
                "f3847d627727ed3bc9c4cc050489b966"
            ),
            (
                3, 0, "c0eb4deefeddf0b513a03a95a75491818580503190d4d05053ff75668a01d6fda6610234bded6432",
                "5004bf991f408672b1ef00f08f9e8647"
            ),
        ]
        for (counter, number, sent, bytes) in rows {
            var session = try ev2(
                "4cf3cb41a22583a61e89b158d252fc53",
                "5529860b2fc5fb6154b7f28361d30bf9",
                "7614281a",
                counter
            )
            let key = try session.openKey(number, hex(sent), .aes, replacing: number == 0 ? nil : .zero(.aes))
            #expect(key.bytes == hex(bytes) && key.version == 1, "key \(number)")
            if number != 0 { #expect(try session.seal([], .standard, status: 0) == hex("203bb55d1089d587")) }
        }
    }

    @Test(arguments: [("01 80", [1]), ("80", []), ("01 81", nil), ("01", nil), ("80 01", nil)] as [(String, [UInt8]?)])
    func `EV2 padding: 80 and zeros, anything else is refused`(text: String, data: [UInt8]?) throws {
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let cipher = try BlockCipher.aes(zeros(16))
        let vector = try cipher.encrypt([0xA5, 0x5A] + zeros(14))
        let plain = hex(text)
        let body = try cipher.encrypt(plain + zeros(16 - plain.count), .blockChaining(vector: vector))
        let whole = try cipher.cmac([0x5F] + zeros(6) + body)
        let sent = body + (0..<8).map { whole[2 * $0 + 1] }
        var session = EV2Messaging(try EV2Codes(encryptionKey: zeros(16), codeKey: zeros(16), transaction: zeros(4)))
        let protection = Protection.command(.enciphered, header: 0, length: 0)
        let opened = Result { () throws(DESFireStatus) in try session.open(0x5F, sent, protection) }
        #expect(opened == data.map { .success($0) } ?? .failure(.integrityError))
    }
}
