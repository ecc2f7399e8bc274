// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Lock bits and one-time bits` {
    @Test func `Bytes of page 3 can only gain bits`() async throws {
        var contents = Type2Contents(blank: .ultralight, uid: Script.uid)
        contents.memory.replaceSubrange(12..<16, with: [0, 0, 0, 0])
        let script = try Script(VirtualType2Tag(contents))
        try await script.activate()
        // The example of the data sheets.
        #expect(await script.send("a2 03 ff fc 05 07") == "ACK")
        #expect(await script.send("a2 03 ff 00 39 80") == "ACK")
        #expect(await script.send("30 03").hasPrefix("ff fc 3d 87"))
    }

    @Test func `A write to page 2 sets lock bits, and leaves the two bytes before them`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a2 02 ff ff 10 80") == "ACK")
        #expect(await script.send("30 02").hasPrefix("72 48 10 80"))
        #expect(await script.send("a2 02 00 00 00 00") == "ACK")
        #expect(await script.send("30 02").hasPrefix("72 48 10 80"))
    }

    /// Each static lock bit and the page that it locks.
    static let locks: [(String, Int)] =
        (3...7).map { (hexText([1 << $0, 0]), $0) } + (8...15).map { (hexText([0, 1 << ($0 - 8)]), $0) }

    @Test(arguments: locks) func `Each static lock bit locks its page and no other`(
        _ bits: String,
        _ page: Int
    ) async throws {
        let script = try Script(VirtualType2Tag(.ntag216, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a2 02 00 00 \(bits)") == "ACK")
        for other in 3...16 {
            let answer = await script.send("a2 \(hexText([UInt8(other)])) 00 00 00 00")
            #expect(answer == (other == page ? "NAK 0" : "ACK"))
            if other == page { try await script.activate() }
        }
        #expect(await script.send("a0 \(hexText([UInt8(page)]))") == "NAK 0")
    }

    /// Block-lock bits, and lock bits that they freeze or leave.
    static let blocks: [(String, frozen: String, free: String)] = [
        ("01 00", "08 00", "f0 ff"), ("02 00", "f0 03", "08 fc"), ("04 00", "00 fc", "f8 03"),
    ]

    @Test(arguments: blocks) func `Each static block-lock bit freezes its lock bits and no other`(
        _ block: String,
        _ frozen: String,
        _ free: String
    ) async throws {
        let tag = VirtualType2Tag(.ntag213, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        #expect(await script.send("a2 02 00 00 \(block)") == "ACK")
        #expect(await script.send("a2 02 00 00 \(frozen)") == "ACK")
        #expect(Array(tag.contents.memory[10..<12]) == hex(block))
        #expect(await script.send("a2 02 00 00 \(free)") == "ACK")
        #expect(Array(tag.contents.memory[10..<12]) == zip(hex(block), hex(free)).map { $0 | $1 })
    }

    @Test(arguments: [Type2Product.ultralightC, .ntag203])
    func `On Ultralight C and NTAG203 lock bits take effect at the next REQA or WUPA`(
        _ product: Type2Product
    ) async throws {
        let script = try Script(VirtualType2Tag(product, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a2 02 00 00 10 00") == "ACK")
        #expect(await script.send("a2 28 02 00 00 00") == "ACK")
        #expect(await script.send("a2 04 01 02 03 04") == "ACK")
        #expect(await script.send("a2 10 01 02 03 04") == "ACK")
        #expect(await script.send("50 00") == "timeout")
        try await script.activate()
        #expect(await script.send("a2 04 00 00 00 00") == "NAK 0")
        try await script.activate()
        #expect(await script.send("a2 10 00 00 00 00") == "NAK 0")
        try await script.activate()
        #expect(await script.send("a2 14 00 00 00 00") == "ACK")
    }

    struct Dynamic: Sendable, CustomTestStringConvertible {
        var product: Type2Product
        var page: UInt8
        /// What is written, the first page that it locks, and the last.
        var bits: String
        var first: Int
        var last: Int
        var testDescription: String { "\(product) \(bits)" }
    }

    static let dynamic: [Dynamic] = [
        Dynamic(product: .ntag212, page: 0x24, bits: "01 00 00", first: 16, last: 17),
        Dynamic(product: .ntag212, page: 0x24, bits: "00 02 00", first: 34, last: 35),
        Dynamic(product: .ultralightEV1UL21, page: 0x24, bits: "80 00 00", first: 30, last: 31),
        Dynamic(product: .ntag213, page: 0x28, bits: "01 00 00", first: 16, last: 17),
        Dynamic(product: .ntag213, page: 0x28, bits: "00 08 00", first: 38, last: 39),
        Dynamic(product: .ntag215, page: 0x82, bits: "01 00 00", first: 16, last: 31),
        Dynamic(product: .ntag215, page: 0x82, bits: "80 00 00", first: 128, last: 129),
        Dynamic(product: .ntag216, page: 0xE2, bits: "02 00 00", first: 32, last: 47),
        Dynamic(product: .ntag216, page: 0xE2, bits: "00 20 00", first: 224, last: 225),
        Dynamic(product: .ntagI2C1K, page: 0xE2, bits: "00 20 00", first: 224, last: 225),
        Dynamic(product: .ultralightC, page: 0x28, bits: "20 00 00", first: 28, last: 31),
        Dynamic(product: .ultralightC, page: 0x28, bits: "00 10 00", first: 41, last: 41),
        Dynamic(product: .ntag203, page: 0x28, bits: "80 00 00", first: 36, last: 39),
    ]

    @Test(arguments: dynamic) func `Each dynamic lock bit locks its block and no more`(_ test: Dynamic) async throws {
        let script = try Script(VirtualType2Tag(test.product, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a2 \(hexText([test.page])) \(test.bits) 00") == "ACK")
        #expect(await script.send("50 00") == "timeout")
        let end = test.product.pageCount - 1
        for page in [test.first - 1, test.first, test.last, test.last + 1] where page <= end && page != Int(test.page) {
            try await script.activate()
            let answer = await script.send("a2 \(hexText([UInt8(page)])) 01 00 00 00")
            #expect(answer == ((test.first...test.last).contains(page) ? "NAK 0" : "ACK"), "page \(page)")
            if answer == "ACK" { #expect(await script.send("50 00") == "timeout") }
        }
    }

    @Test func `Dynamic block-lock bits freeze two lock bits each, and unknown bits stay 0`() async throws {
        let tag = VirtualType2Tag(.ntag213, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        #expect(await script.send("a2 28 00 00 02 00") == "ACK")
        #expect(await script.send("a2 28 ff ff ff ff") == "ACK")
        // Bits 2 and 3 are frozen; 12 lock bits and 6 block-lock bits exist; the last byte reads BD.
        #expect(await script.send("30 28").hasPrefix("f3 0f 3f bd"))
    }

    @Test func `Lock bits of Ultralight C are frozen three at a time, and one by one behind the data`() async throws {
        let tag = VirtualType2Tag(.ultralightC, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        #expect(await script.send("a2 28 01 01 00 00") == "ACK")
        #expect(await script.send("a2 28 ee f0 00 00") == "ACK")
        #expect(Array(tag.contents.memory[160..<164]) == [0xE1, 0xE1, 0, 0])
    }
}
