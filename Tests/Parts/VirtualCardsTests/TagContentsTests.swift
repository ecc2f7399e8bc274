// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `The contents of a tag` {
    private static let frontEnd = Type4FrontEnd.nfcA(uid: [4, 1, 2, 3, 4, 5, 6], ats: [0x05, 0x78, 0x80, 0x70, 0x02])

    @Test func `of one NDEF application are its files, and those of several can't be stored`() {
        let application = NDEFApplication(size: 64)
        let one = VirtualType4Tag(card: ApplicationCard([application]), frontEnd: Self.frontEnd)
        #expect(one.contents == Type4Contents(frontEnd: Self.frontEnd, kind: .ndef(files: application.files)))
        let two = VirtualType4Tag(card: ApplicationCard([application, application]), frontEnd: Self.frontEnd)
        #expect(two.contents == nil)
        let none = VirtualType4Tag(card: ApplicationCard([]), frontEnd: Self.frontEnd)
        #expect(none.contents == Type4Contents(frontEnd: Self.frontEnd, kind: .unspecified))
    }

    @Test(arguments: TagProduct.all) func `are those of the product that has the name`(product: TagProduct) {
        #expect(TagProduct(named: product.name) == product)
        #expect(TagProduct(named: product.name.uppercased().split(separator: " ").joined(separator: "-")) == product)
    }

    @Test(
        arguments: [
            ("ultralight c", "MIFARE Ultralight C"), ("UL21", "MIFARE Ultralight EV1 UL21"),
            ("Classic1K", "MIFARE Classic 1K"), ("slix", "ICODE SLIX"), ("NTAG", nil), ("MIFARE", nil), ("", nil),
        ] as [(String, String?)]
    )
    func `are those of the product that has the short form`(name: String, product: String?) {
        #expect(TagProduct(named: name)?.name == product)
    }

    /// A product, its type, the lengths of its identifier, the sizes to choose from, and how an identifier begins.
    @Test(
        arguments: [
            ("Topaz 96", 1, [7], nil, []), ("NTAG213", 2, [7], nil, [0x04]),
            ("FeliCa Lite-S", 3, [8], nil, [0x02, 0xFE]),
            ("generic Type 3", 3, [8], 16...65536, [0x02, 0xFE]), ("generic Type 4", 4, [4, 7, 10], 5...32767, [0x04]),
            ("generic Type 4B", 4, [4], 5...32767, []), ("DESFire EV1 2K", 4, [7], nil, [0x04]),
            ("NTAG 424 DNA", 4, [7], nil, [0x04]), ("ICODE SLIX", 5, [8], nil, [0xE0, 0x04, 0x01, 0x10]),
            ("generic Type 5", 5, [8], 16...8192, [0xE0]), ("MIFARE Classic 1K", nil, [4, 7], nil, [0x10]),
        ] as [(String, Int?, [Int], ClosedRange<Int>?, [UInt8])]
    )
    func `have the type and the identifiers of their product`(
        name: String,
        type: Int?,
        lengths: [Int],
        sizes: ClosedRange<Int>?,
        prefix: [UInt8]
    ) throws {
        let product = try #require(TagProduct(named: name))
        #expect(product.tagType == type && product.blank().tagType == type)
        #expect(product.identifierLengths == lengths && product.sizes == sizes)
        var generator = Numbers(seed: 7)
        let identifiers = (0..<2).map { _ in product.identifier(using: &generator) }
        #expect(identifiers[0] != identifiers[1])
        for uid in identifiers {
            #expect(lengths.contains(uid.count) && uid.starts(with: prefix))
            #expect(product.blank(uid: uid).uid == uid)
        }
    }

    @Test(arguments: [
        ("generic Type 4", "05 78 80 70 02"), ("DESFire EV1 2K", "06 75 77 81 02 80"),
        ("NTAG 424 DNA", "06 77 77 71 02 80"),
    ]) func `are activated as their product is`(name: String, ats: String) throws {
        let contents = try #require(TagProduct(named: name)).blank()
        guard case .type4(let card) = contents, case .nfcA(_, _, _, let found) = card.frontEnd else {
            Issue.record("It is of Type 4A.")
            return
        }
        #expect(hexText(found) == ats)
    }

    @Test func `of a generic Type 3 tag are whole blocks, and no other system`() throws {
        let contents = try #require(TagProduct(named: "generic Type 3")).blank(size: 17)
        guard case .type3(.standard(let card)) = contents, let system = card.systems.first else {
            Issue.record("It is of Type 3.")
            return
        }
        #expect(system.files.first?.memory.count == 48)
        #expect(system.files.first?.memory.prefix(3) == [0x10, 12, 8])
        #expect(contents.product == "generic Type 3")
        let transit = FeliCaStandardContents.transitCard(idm: card.idm, balance: 1)
        #expect(TagContents.type3(.standard(transit)).product == "FeliCa")
    }

    @Test(arguments: [(16, 16), (17, 20), (19, 20), (20, 20), (nil, 1024)] as [(Int?, Int)])
    func `of a product of any size are whole blocks`(size: Int?, count: Int) throws {
        let contents = try #require(TagProduct(named: "generic Type 5")).blank(size: size)
        guard case .type5(let tag) = contents else {
            Issue.record("It is of Type 5.")
            return
        }
        #expect(tag.memory.count == count)
    }
}
