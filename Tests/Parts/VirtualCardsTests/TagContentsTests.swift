// SPDX-License-Identifier: Apache-2.0
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
