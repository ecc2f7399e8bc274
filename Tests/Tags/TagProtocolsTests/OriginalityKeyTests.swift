// SPDX-License-Identifier: Apache-2.0
import TagProtocols
import Testing
import VirtualTags

struct OriginalityKeyTests {
    /// UIDs and signatures of real chips.
    static let chips = [
        ("NTAG21x", "04e10cda993c80", "8b76052ee42f5567beb53238b3e3f9950707c0dcc956b5c5efcfdb709b2d82b3"),
        ("MIFARE Ultralight EV1", "04c1285a373080", "cea2eb0b3c95d0844a95b824a7553703b3702378033bf0987899db70151a19e7"),
        ("MIFARE Classic EV1", "0433619ab35780", "b9fae369ec21c980650d87ed9ae9b1610e859131b4b8699c647548ab68d249bb"),
        ("MIFARE Classic and QL88", "30933c61", "aea4dd0b800fac63d4de08ee91f4650ed825fd6b4d7deee98dbc9bae10be003e"),
        (
            "ICODE DNA and ICODE SLIX2", "e0040118009b5fee",
            "32d9e7579cd77e6f1fa11419231e874826984c5f189fde1421684563a9663377"
        ),
        (
            "MIFARE Ultralight AES", "045e4cc2451390",
            "c9bbda1b99eb6634cdfd8e3251ac5c4742ea5fa507b8a8a8b39b19ab7340d173331589c54c56c49f0cca6ddbac1e492a"
        ),
        (
            "NTAG 223 DNA and NTAG 224 DNA", "043302218d3d00",
            "6a5d5e034f4fc823cacab56c1a77a409b8db345f89bd3fd59ed1f9c0093518609be62d0a20764d2011e47efa187f29aa"
        ),
        (
            "NTAG 424 DNA", "0463474aa26a80",
            "27e9a50e6ca4ba9037c02f7d20a80d0284d0c1d83c67f5a5ac1d8a4ef86c9508417e4e9c6f85aa7920f0abded984caf20467d66ea54bbf08"
        ),
        (
            "NTAG 413 DNA and MIFARE DESFire EV1", "042468222f5c80",
            "b9211e320f321bd1d0e158e10ff15109b389638bae15d9909d7725bf1250ed236d66f1af75c94d60330e4e92535f5e6997675281a5687173"
        ),
        (
            "MIFARE DESFire EV2", "042a41cae45380",
            "b2769f8ddb575aea2a680adca8ffed4fab81a1e9908e2b82fe0fabb697bbd9b23835c416970e75768f12902aca491349e94e6589eaf4f508"
        ),
        (
            "MIFARE DESFire EV2 XL", "044ca092806480",
            "9d86dacd3866058b1cf122ff5fc80e997251d99179bc1f996acf6ed7d495da5c39dde699e2760c08d747ef08487b9897d48957e5afd755e2"
        ),
        (
            "MIFARE DESFire EV3", "04448bd2db6b80",
            "5cbb5632795c8f15263fefb095b51c7b541afd914a1ae44ef6fb8af605edf13dbfee6c3a2db372245e671dfe0d42cb1f0d0b8fe67a89d2f6"
        ),
        (
            "MIFARE DESFire Light", "0439556acb6480",
            "d5bd0978106e1e38b513642335966ab21e9f950dcfcfab45ff13d0dc3ca4c2ae7e0d671df1240937d040dac4601c5f66ed62c546ee03ed08"
        ),
        (
            "MIFARE Plus EV1", "042a2b221c5080",
            "bac40cd88e9193c58ada5055350c4f648eb5a7aec4fcf9bd4cdd7b1c558de5f59c6636f26286ed48622aaa2331d4df1cee23b57b94bda631"
        ),
        ("ST25TA", "02e3002fcd4038", "e71b844bce76c8110b36e5b1e1c0410381bd994f226d5c11d84ca6697a5eb572"),
        ("ST25TN", "02643afd04a000", "0938d86193c603e1b30b17c8117a930205cac1a8ce88f0ea269fce2a44244d7b"),
        (
            "ST25TV512C and ST25TV02KC", "e00208000a227aaa",
            "fe458a550acd30b45b9c4d10676fc63e30ac69027217547fbdf04a8f7942ad3b"
        ),
    ]

    @Test(arguments: chips)
    func `signature of a real chip: made with its product's key, and with none for another UID`(
        products: String,
        uid: String,
        signature: String
    ) throws {
        var identifier = bytes(uid)
        #expect(try OriginalityKey.signing(identifier, bytes(signature))?.products == products)
        identifier[1] ^= 1
        #expect(try OriginalityKey.signing(identifier, bytes(signature)) == nil)
    }

    @Test func `ST25TA's signature: read at 00E0 of the message's file with ST's command; none from another card`()
        async throws
    {
        let signature = (1...32).map { UInt8($0) }
        let read: [UInt8] = [0xA2, 0xB0, 0x00, 0xE0, 0x20]
        let rows: [([UInt8], [UInt8]?)] = [
            (signature + [0x90, 0x00], signature), ([0x69, 0x82], nil), ([0x01, 0x90, 0x00], nil),
        ]
        for (answer, expected) in rows {
            var card = ScriptedCard()
            let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
            card.answer([0x00, 0xA4, 0x04, 0x00, 0x07] + name + [0x00], with: [0x90, 0x00])
            card.answer([0x00, 0xA4, 0x00, 0x0C, 0x02, 0x00, 0x01], with: [0x90, 0x00])
            card.answer(read, with: answer)
            let bench = try await ProductBench(VirtualType4Tag(card: card))
            let link = try #require(bench.reader as? Type4Tag).link
            #expect(try await CardSignature.read(from: link, isST: true) == expected)
        }
    }

    @Test func `ST25TN's signature: the 32 bytes from page 34 on`() async throws {
        var contents = Type2Contents(blank: .ntag215, uid: bytes("02643afd04a000"))
        let signature = (1...32).map { UInt8($0) }
        contents.memory.replaceSubrange(4 * 0x34..<4 * 0x3C, with: signature)
        let reader = try #require(try await ProductBench(VirtualType2Tag(contents)).reader as? Type2Tag)
        #expect(try await reader.readSTSignature() == signature)
        let small = try await ProductBench(VirtualType2Tag(Type2Contents(blank: .ntag213, uid: contents.uid)))
        #expect(try await #require(small.reader as? Type2Tag).readSTSignature() == nil)
    }

    @Test(arguments: [0, 31, 32, 33, 48, 56]) func `zeros as a signature of any length: made with no key`(count: Int)
        throws
    {
        #expect(try OriginalityKey.signing([4, 1, 2, 3, 4, 5, 6], [UInt8](repeating: 0, count: count)) == nil)
    }

    private func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }
}
