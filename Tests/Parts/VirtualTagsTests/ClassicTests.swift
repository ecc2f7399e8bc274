// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `MIFARE Classic` {
    @Test(arguments: ClassicProduct.allCases, [4, 7]) func `A card is activated with the answers of its kind`(
        _ product: ClassicProduct,
        _ length: Int
    ) async throws {
        let uid = Array(hex("04 11 22 33 44 55 66").prefix(length))
        let contents = ClassicContents(blank: product, uid: uid)
        let expected: [ClassicProduct: (atqa: UInt16, sak: UInt8)] = [
            .mini: (0x0004, 0x09), .classic1K: (0x0004, 0x08), .plus2K: (0x0004, 0x08), .classic4K: (0x0002, 0x18),
        ]
        #expect(contents.atqa == expected[product].map { length == 7 ? $0.atqa | 0x40 : $0.atqa })
        #expect(contents.sak == expected[product]?.sak)
        #expect(contents.memory.count == product.memorySize)
        #expect(ClassicContents(product, memory: contents.memory) == contents)
        let script = try Script(ClassicTag(contents))
        try await script.activate(uid, atqa: contents.atqa, sak: contents.sak)
        // Every trailer has the transport keys.
        for sector in 0..<product.sectorCount {
            let block = ClassicProduct.trailer(ofSector: sector)
            #expect(ClassicProduct.sector(ofTrailer: block) == sector)
            #expect(contents.memory[block * 16] == 0xFF && contents.memory[block * 16 + 6] == 0xFF)
        }
        #expect(ClassicProduct.trailer(ofSector: product.sectorCount - 1) == product.blockCount - 1)
    }

    @Test func `Authentication is answered with a nonce, and nothing follows`() async throws {
        let card = ClassicTag(ClassicContents(blank: .classic1K, uid: hex("9c 0c 37 01")))
        let script = try Script(card)
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
        // The nonce comes without a checksum.
        let first = hex(await script.sendRaw("60 04 d1 3d"))
        #expect(first.count == 4)
        #expect(await script.send("01 02 03 04 05 06 07 08") == "timeout")
        #expect(await script.send("30 04") == "timeout")
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
        let second = hex(await script.sendRaw("61 3f 59 ab"))
        #expect(second.count == 4 && second != first)
    }

    @Test func `A card that lost its power after the nonce is activated at once`() async throws {
        let card = ClassicTag(ClassicContents(blank: .classic1K, uid: hex("9c 0c 37 01")))
        let script = try Script(card)
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
        #expect(hex(await script.sendRaw("60 04 d1 3d")).count == 4)
        card.losePower()
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
    }

    @Test(arguments: ["30 00", "a0 04", "60 40", "60", "c1 04", "1b ff ff ff ff"])
    func `What needs an authentication is refused`(command: String) async throws {
        let card = ClassicTag(ClassicContents(blank: .classic1K, uid: hex("9c 0c 37 01")))
        let script = try Script(card)
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
        #expect(await script.send(command) == "NAK 4")
        // The tag has gone back to IDLE, and is woken again.
        #expect(await script.send("60 00") == "timeout")
        try await script.activate(card.identifier, atqa: 0x0004, sak: 0x08)
    }

    @Test(arguments: [
        ("04 11 22 33 04 55 66 08 44 00", 7), ("04 11 22 33 04 55 66 08 84 00", 4),
        ("04 11 22 33 04 55 66 08 44 01", 4), ("05 11 22 33 05 55 66 08 44 00", 4),
    ])
    func `After four bytes and their check byte, only NXP's UID with the ATQA of seven bytes is one of seven`(
        memory: String,
        count: Int
    ) {
        #expect(ClassicContents(.classic1K, memory: hex(memory)).uid == Array(hex(memory).prefix(count)))
    }

    @Test func `What is at the beginning of the memory is the UID`() {
        var memory = [UInt8](repeating: 0, count: 1024)
        memory.replaceSubrange(0..<8, with: hex("9c 0c 37 01 a6 88 04 00"))
        #expect(ClassicContents(.classic1K, memory: memory).uid == hex("9c 0c 37 01"))
        memory.replaceSubrange(0..<10, with: hex("04 11 22 33 44 55 66 08 44 00"))
        #expect(ClassicContents(.classic1K, memory: memory).uid == hex("04 11 22 33 44 55 66"))
        let short = ClassicContents(.classic1K, memory: hex("9c 0c 37 01 a6"))
        #expect(short.memory.count == 1024 && short.memory.prefix(5).elementsEqual(hex("9c 0c 37 01 a6")))
        #expect(ClassicContents(.mini, memory: memory).memory == Array(memory.prefix(320)))
        #expect(ClassicProduct(memorySize: 1000) == nil)
        #expect(ClassicProduct(named: "MIFARE Classic 4K") == .classic4K)
        #expect(ClassicProduct(named: "4") == nil)
    }
}
