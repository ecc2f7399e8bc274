// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Type 5 tags at their limits` {
    private let uid = "44 33 22 11 10 01 04 e0"

    @Test(arguments: [
        (Type5Product.icodeSLIX, "0f 44 33 22 11 10 01 04 e0 00 00 1b 03 01"),
        (.icodeSLIX2, "0f 44 33 22 11 08 01 04 e0 00 00 4f 03 01"),
        (.st25tv512, "0f 44 33 22 11 00 23 02 e0 00 00 0f 03 23"),
        (.st25tv02K, "0f 44 33 22 11 00 23 02 e0 00 00 3f 03 23"),
        (.st25dv04K, "0f 44 33 22 11 00 24 02 e0 00 00 7f 03 24"),
        (.st25dv16K, "0b 44 33 22 11 00 26 02 e0 00 00 26"),
        (.st25dv64K, "0b 44 33 22 11 00 26 02 e0 00 00 26"),
    ])
    func `System information says what a product is`(product: Type5Product, information: String) async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(product))
        #expect(await script.send("02 2b") == "00 \(information)")
        #expect(product.features.contains(.signature) == (product == .icodeSLIX2))
    }

    @Test(arguments: Type5Product.all)
    func `A new tag has all of its blocks, and a memory that is too short is filled with zeros`(product: Type5Product) {
        var contents = Type5Contents(blank: product)
        let whole = contents.memory
        #expect(whole.count == product.dataBlockCount * product.blockSize)
        contents.memory.removeLast(whole.count - 12)
        #expect(VirtualType5Tag(contents).contents.memory == whole)
    }

    @Test func `A container of eight bytes is for more than 256 blocks, or for more than 2040 bytes`() async throws {
        let small = try LinkScript(.nfcV, VirtualType5Tag(Type5Product.generic(blockCount: 256)))
        #expect(await small.send("02 23 00 01") == "00 e1 40 7f 01 03 00 fe 00")
        let large = try LinkScript(.nfcV, VirtualType5Tag(Type5Product.generic(blockCount: 257)))
        #expect(await large.send("02 23 00 01") == "00 e2 40 00 01 00 00 00 7f")
        let wide = try LinkScript(.nfcV, VirtualType5Tag(Type5Product.generic(blockCount: 256, blockSize: 32)))
        let rest = String(repeating: " 00", count: 21)
        #expect(await wide.send("02 20 00") == "00 e1 40 00 01 00 00 03 ff 03 00 fe" + rest)
        let largest = try LinkScript(.nfcV, VirtualType5Tag(Type5Product.generic(blockCount: 0x1_0000)))
        #expect(await largest.send("02 23 00 01") == "00 e2 40 00 01 00 00 7f ff")
        #expect(await largest.send("02 30 ff ff") == "00 00 00 00 00")
        #expect(await largest.send("02 3b 04") == "00 04 44 33 22 11 00 00 00 e0 ff ff 03")
    }

    @Test func `A tag of 256 blocks with the extended commands has no list of features`() async throws {
        let product = Type5Product(
            name: "extended",
            uidPrefix: [0xE0],
            blockCount: 256,
            icReference: 0x05,
            features: [.extended]
        )
        let script = try LinkScript(.nfcV, VirtualType5Tag(product))
        #expect(await script.send("02 3b 18") == "00 08 44 33 22 11 00 00 00 e0 05")
    }

    @Test(arguments: [Type5Product.st25dv04K, .st25dv16K, .st25dv64K])
    func `ST25DV locks its first two blocks and no other`(product: Type5Product) async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(product))
        #expect(await script.send("02 22 01") == "00")
        #expect(await script.send("02 22 02") == "01 10")
        #expect(await script.send("02 2c 00 02") == "00 00 01 00")
    }

    @Test func `The flags of other programs' files name the locked blocks`() {
        #expect(Type5Contents.blocks(lockedBy: [0, 1, 0, 0xFF]) == [1, 3])
        #expect(Type5Contents.blocks(lockedBy: []).isEmpty)
    }

    @Test func `The security status of the last block is there, and none behind it`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("02 2c 1b 00") == "00 00")
        #expect(await script.send("02 2c 1c 00") == "01 10")
    }

    @Test func `A SELECT with a part of a UID ends no selection`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("22 25 \(uid)") == "00")
        #expect(await script.send("22 25 45 33 22 11 10 01 04") == "timeout")
        #expect(await script.send("12 20 00") == "00 e1 40 0d 01")
    }

    @Test func `A mask for sixteen slots leaves four bits of the UID`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        // The last four bits are those of E0.
        #expect(await script.send("06 01 3c 44 33 22 11 10 01 04 00") == "timeout")
        for slot in 1...14 { #expect(await script.sendEnd() == (slot == 14 ? "00 00 \(uid)" : "timeout")) }
        #expect(await script.send("06 01 40 \(uid)") == "timeout")
        for _ in 1...15 { #expect(await script.sendEnd() == "timeout") }
    }

    @Test(arguments: [
        ("ab 04 00", "02"), ("bd 04 00", "02"), ("b2 04 00", "02"), ("b4 04 10 00 00 00", "02"), ("b5 04", "02"),
        ("b6 04 00", "02"), ("b7 04", "02"), ("b7 04 00 00", "02"), ("bb 04 00", "02"), ("b9 04 00 00 00", "02"),
        ("ba 04 00 00 00", "02"), ("a2 04 00", "02"), ("a6 04 00", "02"), ("a7 04 00", "02"), ("22 00 00", "02"),
        ("28 00", "02"), ("b6 04 28 21", "0f"), ("b7 04 00", "0f"), ("bb 04", "0f"),
    ])
    func `Refusals of ICODE SLIX2`(command: String, error: String) async throws {
        let tag = VirtualType5Tag(.icodeSLIX2)
        let script = try LinkScript(.nfcV, tag)
        let before = tag.contents
        #expect(await script.send("02 \(command)") == "01 \(error)")
        #expect(tag.contents == before)
    }

    @Test(arguments: ["b7", "bb"])
    func `ICODE SLIX2 changes the protection of its pages only after both passwords`(command: String) async throws {
        let tag = VirtualType5Tag(.icodeSLIX2)
        let script = try LinkScript(.nfcV, tag)
        let before = tag.contents
        let own = hexText(tag.identifier.reversed())
        #expect(await script.send("22 \(command) 04 \(own)" + (command == "b7" ? " 00" : "")) == "01 0f")
        #expect(tag.contents == before)
    }

    @Test func `After a torn write the next one is whole`() async throws {
        let tag = VirtualType5Tag(.icodeSLIX)
        let script = try LinkScript(.nfcV, tag)
        script.field.arm(.tear(duringWrite: 1, leaving: .old))
        #expect(await script.send("02 21 04 ff ff ff ff") == "timeout")
        script.field.bring(tag)
        #expect(await script.send("02 21 04 ff ff ff ff") == "00")
        #expect(Array(tag.contents.memory[16..<20]) == [0xFF, 0xFF, 0xFF, 0xFF])
    }

    @Test func `A write counts as one when its answer waits for the end of a frame`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("42 21 03 01 02 03 04") == "timeout")
        #expect(script.field.writeCount == 1)
        #expect(await script.sendEnd() == "00")
        #expect(script.field.writeCount == 1)
    }
}
