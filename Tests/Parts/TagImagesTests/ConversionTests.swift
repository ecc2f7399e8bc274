// SPDX-License-Identifier: Apache-2.0
import TagImages
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Images in another format` {
    @Test(arguments: Files.dumps) func `A Flipper file becomes a JSON image of the same tag, and back`(
        _ name: String
    ) throws {
        let dump = try TagImage(parsing: Files.dump(name))
        let json = try TagImage(parsing: TagImage(dump.contents, format: .json).encoded())
        #expect(json.format == .json)
        #expect(json.contents == dump.contents)
        let back = try TagImage(parsing: TagImage(json.contents, format: .flipper).encoded())
        #expect(back.contents == dump.contents)
    }

    @Test func `An image with fewer pages than the product keeps their number`() async throws {
        let line = try #require(
            try Files.images().first { String(decoding: $0, as: UTF8.self).contains("NTAG I2C 1K") }
        )
        var image = try TagImage(parsing: line)
        #expect(image.contents.type2?.memory.count == 231 * 4)
        let tag = VirtualType2Tag(try #require(image.contents.type2))
        #expect(tag.contents.memory.count == 234 * 4)
        image.contents = .type2(tag.contents)
        #expect(try image.encoded() == line)
    }

    @Test func `Products are found by their names and short forms`() {
        for product in Type2Product.all {
            #expect(Type2Product(named: product.name.lowercased()) == product)
        }
        #expect(Type2Product(named: "Ultralight C") == .ultralightC)
        #expect(Type2Product(named: "ul21") == .ultralightEV1UL21)
        #expect(Type2Product(named: "ntag-i2c-1k") == .ntagI2C1K)
        #expect(Type2Product(named: "") == nil)
        #expect(Type2Product(named: "1K") == nil)
        #expect(Type2Product(named: "NTAG 424 DNA") == nil)
    }

    @Test(arguments: ["NTAG210\u{B5}", "ntag 210 \u{3BC}", "NTAG210\u{39C}", "NTAG-210u"])
    func `A µ in a name counts, and may be written as u`(_ name: String) {
        #expect(ProductName(name) == ProductName("NTAG210µ"))
        #expect(ProductName(name).names("NTAG210µ", withoutFamilies: []))
        // There is no model of the NTAG210µ, and it is not the NTAG210.
        #expect(Type2Product(named: name) == nil && TagProduct(named: name) == nil)
        #expect(Type2Product(named: "NTAG 210") == .ntag210 && TagProduct(named: "NTAG 210")?.name == "NTAG210")
    }

    @Test func `A random UID is NXP's, and its check bytes are right`() {
        for _ in 0..<20 {
            let memory = VirtualType2Tag(.ntag215).contents.memory
            #expect(memory[0] == 0x04)
            #expect(memory[3] == 0x88 ^ memory[0] ^ memory[1] ^ memory[2])
            #expect(memory[8] == memory[4] ^ memory[5] ^ memory[6] ^ memory[7])
        }
    }
}
