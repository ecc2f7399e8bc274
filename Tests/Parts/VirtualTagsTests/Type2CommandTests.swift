// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Commands of Type 2 tags` {
    static let versions: [(Type2Product, String)] = [
        (.ultralightEV1UL11, "00 04 03 01 01 00 0b 03"),
        (.ultralightEV1UL21, "00 04 03 01 01 00 0e 03"),
        (.ntag210, "00 04 04 01 01 00 0b 03"),
        (.ntag212, "00 04 04 01 01 00 0e 03"),
        (.ntag213, "00 04 04 02 01 00 0f 03"),
        (.ntag215, "00 04 04 02 01 00 11 03"),
        (.ntag216, "00 04 04 02 01 00 13 03"),
        (.ntagI2C1K, "00 04 04 05 02 01 13 03"),
        (.ntagI2C2K, "00 04 04 05 02 01 15 03"),
    ]

    @Test(arguments: versions) func `GET_VERSION says what the product is`(
        _ product: Type2Product,
        _ version: String
    ) async throws {
        let script = try Script(VirtualType2Tag(product, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("60") == version)
    }

    @Test(arguments: [Type2Product.ultralight, .ultralightC, .ntag203])
    func `Products without GET_VERSION refuse it or ignore it, and fall back`(_ product: Type2Product) async throws {
        let script = try Script(VirtualType2Tag(product, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("60") == (product == .ultralight ? "timeout" : "NAK 0"))
        #expect(await script.send("30 00") == "timeout")
        try await script.activate(wake: 0x26)
    }

    /// The first four data pages and the capability container at delivery.
    static let deliveries: [(Type2Product, String)] = [
        (.ultralight, "e1 10 06 00 03 00 fe 00"),
        (.ultralightC, "e1 10 12 00 03 00 fe 00"),
        (.ultralightEV1UL11, "e1 10 06 00 03 00 fe 00"),
        (.ultralightEV1UL21, "e1 10 10 00 03 00 fe 00"),
        (.ntag203, "e1 10 12 00 01 03 a0 10 44 03 00 fe"),
        (.ntag210, "e1 10 06 00 03 00 fe 00"),
        (.ntag212, "e1 10 10 00 01 03 90 0a 34 03 00 fe"),
        (.ntag213, "e1 10 12 00 01 03 a0 0c 34 03 00 fe"),
        (.ntag215, "e1 10 3e 00 03 00 fe 00"),
        (.ntag216, "e1 10 6d 00 03 00 fe 00"),
        (.ntagI2C1K, "e1 10 6d 00 03 00 fe 00"),
        (.ntagI2C2K, "e1 10 ea 00 03 00 fe 00"),
    ]

    @Test(arguments: deliveries) func `A new tag is formatted and empty`(
        _ product: Type2Product,
        _ start: String
    ) async throws {
        let script = try Script(VirtualType2Tag(product, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("30 03").hasPrefix(start))
        let head = product.name.contains("I2C") ? "04 a1 b2 c3 d4 e5 80 00 44 00" : "04 a1 b2 9f c3 d4 e5 80 72 48"
        #expect(await script.send("30 00") == "\(head) 00 00 \(start.prefix(11))")
    }

    /// The last page that READ takes, and what comes after a start two pages before it.
    static let ends: [(Type2Product, last: UInt8, rollsOver: Bool)] = [
        (.ultralight, 0x0F, true), (.ultralightC, 0x2B, true), (.ultralightEV1UL11, 0x13, true),
        (.ultralightEV1UL21, 0x28, true), (.ntag203, 0x29, true), (.ntag210, 0x13, true), (.ntag212, 0x28, true),
        (.ntag213, 0x2C, true), (.ntag215, 0x86, true), (.ntag216, 0xE6, true), (.ntagI2C1K, 0xE9, false),
    ]

    @Test(arguments: ends) func `READ goes on at page 0 after the last page, and refuses pages behind it`(
        _ product: Type2Product,
        _ last: UInt8,
        _ rollsOver: Bool
    ) async throws {
        let script = try Script(VirtualType2Tag(product, uid: Script.uid))
        try await script.activate()
        let head = rollsOver ? "04 a1 b2 9f c3 d4 e5 80" : "00 00 00 00 00 00 00 00"
        #expect(await script.send("30 \(hexText([last - 1]))").hasSuffix(head))
        #expect(await script.send("30 \(hexText([last + 1]))") == "NAK 0")
    }

    @Test func `FAST_READ gives any range, and refuses one that is reversed or runs past the end`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("3a 00 02") == "04 a1 b2 9f c3 d4 e5 80 72 48 00 00")
        #expect(await script.send("3a 00 2c").split(separator: " ").count == 45 * 4)
        #expect(await script.send("3a 01 01") == "c3 d4 e5 80")
        #expect(await script.send("3a 05 04") == "NAK 0")
        try await script.activate()
        #expect(await script.send("3a 00 2d") == "NAK 0")
        try await script.activate()
        #expect(await script.send("3a 00") == "NAK 0")
    }

    @Test(arguments: [Type2Product.ultralight, .ultralightC, .ntag203])
    func `Older products have no FAST_READ, signature or password`(_ product: Type2Product) async throws {
        let script = try Script(VirtualType2Tag(product, uid: Script.uid))
        for command in ["3a 00 02", "3c 00", "1b ff ff ff ff", "39 02", "c2 ff", "a5 00 01 00 00 00", "3e 00"] {
            try await script.activate()
            #expect(await script.send(command) == (product == .ultralight ? "timeout" : "NAK 0"))
        }
    }

    @Test(arguments: Type2Product.all) func `WRITE changes one page of data and no other`(
        _ product: Type2Product
    ) async throws {
        let tag = VirtualType2Tag(product, uid: Script.uid)
        let before = tag.contents.memory
        let script = try Script(tag)
        try await script.activate()
        #expect(await script.send("a2 05 de ad be ef") == "ACK")
        #expect(await script.send("30 05").hasPrefix("de ad be ef"))
        var expected = before
        expected.replaceSubrange(20..<24, with: [0xDE, 0xAD, 0xBE, 0xEF])
        #expect(tag.contents.memory == expected)
        #expect(await script.send("a2 00 00 00 00 00") == "NAK 0")
        try await script.activate()
        #expect(await script.send("a2 05 00 00 00") == "NAK 0")
        #expect(tag.contents.memory == expected)
    }

    @Test func `COMPATIBILITY_WRITE takes sixteen bytes and writes four`() async throws {
        let tag = VirtualType2Tag(.ultralight, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        #expect(await script.send("a0 06") == "ACK")
        #expect(await script.send("01 02 03 04 00 00 00 00 00 00 00 00 00 00 00 00") == "ACK")
        #expect(await script.send("30 06") == "01 02 03 04" + String(repeating: " 00", count: 12))
        #expect(await script.send("a0 01") == "NAK 0")
        try await script.activate()
        #expect(await script.send("a0 10") == "NAK 0")
        try await script.activate()
        #expect(await script.send("a0 06") == "ACK")
        #expect(await script.send("30 06") == "NAK 0")
        #expect(script.link.statistics.tagWorkTime == .microseconds(4100))
    }

    @Test func `READ_SIG gives the signature, which is zero unless given`() async throws {
        var contents = Type2Contents(blank: .ntag216, uid: Script.uid)
        contents.signature = (0..<32).map { $0 }
        let script = try Script(VirtualType2Tag(contents))
        try await script.activate()
        #expect(await script.send("3c 00") == hexText(0..<32))
        #expect(await script.send("3c 01") == "NAK 0")
        let other = try Script(VirtualType2Tag(.ntag216, uid: Script.uid))
        try await other.activate()
        #expect(await other.send("3c 00") == hexText([UInt8](repeating: 0, count: 32)))
    }

    @Test func `A frame with a wrong checksum is refused with 1, and the tag falls back`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        try await script.activate()
        #expect(await script.sendRaw("30 00 00 00") == "NAK 1")
        #expect(await script.send("30 00") == "timeout")
        try await script.activate(wake: 0x26)
        // CRC_B is not the tag's own either.
        #expect(await script.exchange(Frame([0x30, 0x00], checksum: .crcB)) == "NAK 1")
    }

    @Test func `The caller may bring the checksum along, and then gets the tag's`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        try await script.activate()
        let crc = CyclicRedundancyCheck.a([0x60])
        let answer = await script.sendRaw("60 " + hexText([UInt8(crc & 0xFF), UInt8(crc >> 8)]))
        let body = hex("00 04 04 02 01 00 0f 03")
        let check = CyclicRedundancyCheck.a(body)
        #expect(answer == hexText(body + [UInt8(check & 0xFF), UInt8(check >> 8)]))
    }

    @Test func `VCSL of Ultralight EV1 gives the identifier of the configuration`() async throws {
        let script = try Script(VirtualType2Tag(.ultralightEV1UL11, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("4b" + String(repeating: "00", count: 20)) == "05")
    }

    @Test func `AUTHENTICATE of Ultralight C ends in a refusal, because the cipher is not there`() async throws {
        let script = try Script(VirtualType2Tag(.ultralightC, uid: Script.uid))
        try await script.activate()
        let challenge = await script.send("1a 00")
        #expect(challenge.hasPrefix("af "))
        #expect(challenge.count == 9 * 3 - 1)
        #expect(await script.send("af" + String(repeating: "00", count: 16)) == "NAK 0")
    }

    @Test func `The key of Ultralight C is written but never read`() async throws {
        let tag = VirtualType2Tag(.ultralightC, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        #expect(await script.send("30 2a") == "30 00 00 00 00 00 00 00 04 a1 b2 9f c3 d4 e5 80")
        #expect(await script.send("a2 2c 01 02 03 04") == "ACK")
        #expect(Array(tag.contents.memory[176..<180]) == [1, 2, 3, 4])
        #expect(await script.send("30 2c") == "NAK 0")
    }
}
