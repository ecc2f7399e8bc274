// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Checks Type 2 tags at the ends of their mirrors, counters and protection.
@Suite struct `Type 2 tags at their limits` {
    @Test func `A first part of a command is forgotten when the tag is activated anew`() async throws {
        let (script, tag) = try await makeScript(.ultralight)
        #expect(await script.send("a0 06") == "ACK")
        #expect(await script.sendShort(0x26) == "timeout")
        try await script.activate(wake: 0x26)
        #expect(await script.send("30 00").hasPrefix("04 a1 b2 9f c3 d4 e5 80"))
        #expect(tag.contents.memory[24..<28].elementsEqual([0, 0, 0, 0]))
    }

    // MARK: Mirror

    @Test func `A mirror may end with the user memory, and not behind it`() async throws {
        for (mirror, bytes) in [
            (UInt8(0x60), [0, 0] + Array("04A1B2C3D4E580".utf8)), (0x70, [UInt8](repeating: 0, count: 16)),
        ] {
            let (script, _) = try await makeScript(.ntag213) {
                $0.memory[41 * 4] = mirror
                $0.memory[41 * 4 + 2] = 0x24
            }
            #expect(await script.send("3a 24 27") == hexText(bytes))
        }
    }

    @Test func `There is no mirror in page 3`() async throws {
        let (script, _) = try await makeScript(.ntag213) {
            $0.memory[41 * 4] = 0x40
            $0.memory[41 * 4 + 2] = 0x03
        }
        #expect(await script.send("30 03").hasPrefix("e1 10 12 00 01 03 a0 0c"))
    }

    @Test func `The counter alone is mirrored with six digits, and counts first`() async throws {
        let (script, _) = try await makeScript(.ntag213) {
            $0.memory[41 * 4] = 0x80
            $0.memory[41 * 4 + 2] = 0x08
            $0.memory[42 * 4] = 0x10
            $0.counters[2] = 0xABCD
        }
        #expect(await script.send("3a 08 09") == hexText(Array("00ABCE".utf8) + [0, 0]))
    }

    @Test func `A product without a counter mirrors the UID alone`() async throws {
        for (mirror, bytes) in [
            (UInt8(0x80), [UInt8](repeating: 0, count: 16)), (0xC0, Array("04A1B2C3D4E580".utf8) + [0, 0]),
        ] {
            let (script, _) = try await makeScript(.ntag212) {
                $0.memory[37 * 4] = mirror
                $0.memory[37 * 4 + 2] = 0x08
            }
            #expect(await script.send("3a 08 0b") == hexText(bytes))
        }
    }

    // MARK: Protection and counters

    @Test func `Ultralight C never protects the pages before page 3`() async throws {
        let (script, tag) = try await makeScript(.ultralightC) {
            $0.memory[42 * 4] = 0x00
        }
        #expect(tag.contents.firstProtectedPage == 3)
        #expect(await script.send("30 00") == "04 a1 b2 9f c3 d4 e5 80 72 48 00 00 04 a1 b2 9f")
        #expect(await script.send("30 03") == "NAK 0")
    }

    @Test func `The counter in page 41 takes steps of four bits`() async throws {
        let (script, tag) = try await makeScript(.ultralightC)
        #expect(await script.send("a2 29 05 00 00 00") == "ACK")
        #expect(await script.send("a2 29 13 00 00 00") == "ACK")
        #expect(tag.contents.memory[164..<166].elementsEqual([0x08, 0x00]))
        let (other, older) = try await makeScript(.ntag203)
        #expect(await other.send("a2 29 05 00 00 00") == "ACK")
        #expect(await other.send("a2 29 0f 00 00 00") == "ACK")
        #expect(await other.send("a2 29 10 00 00 00") == "NAK 0")
        #expect(older.contents.memory[164..<166].elementsEqual([0x14, 0x00]))
    }

    @Test func `A power cut leaves a counter of EV1 as it was, or counted`() async throws {
        let rests = [TornWrite.old, .new] + (UInt64(0)..<8).map { TornWrite.mixed(seed: $0) }
        var left: [UInt32] = []
        for rest in rests {
            let (script, tag) = try await makeScript(.ultralightEV1UL11)
            script.field.arm(.tear(duringWrite: 1, leaving: rest))
            #expect(await script.send("a5 00 01 00 00 00") == "timeout")
            left.append(tag.contents.counters[0])
        }
        #expect(left[0] == 0 && left[1] == 1)
        #expect(Set(left[2...]) == [0, 1])
    }

    @Test func `Ultralight EV1 has the counters 0 to 2, each with its flag of tearing`() async throws {
        let (script, _) = try await makeScript(.ultralightEV1UL11) { $0.tearingFlags = [0x01] }
        #expect(await script.send("a5 02 03 02 01 00") == "ACK")
        #expect(await script.send("39 02") == "03 02 01")
        for (counter, flag) in [("00", "01"), ("01", "bd"), ("02", "bd")] {
            #expect(await script.send("3e \(counter)") == flag, "\(counter)")
        }
        #expect(await script.send("39 03") == "NAK 0")
    }

    @Test(arguments: Type2Product.all) func `The pages of passwords and keys are secret, and no others`(
        product: Type2Product
    ) {
        let secret: [Type2Product: [Int]] = [
            .ultralightC: [44, 45, 46, 47], .ultralightEV1UL11: [18, 19], .ultralightEV1UL21: [39, 40],
            .ntag210: [18, 19], .ntag212: [39, 40], .ntag213: [43, 44], .ntag215: [133, 134], .ntag216: [229, 230],
        ]
        #expect(Type2Contents(blank: product, uid: Script.uid).secretPages == secret[product] ?? [])
    }

    @Test func `Static and dynamic lock bits of a tag are in effect as soon as it has power`() async throws {
        let (script, tag) = try await makeScript(.ntag213) {
            $0.memory[10] = 0x10
            $0.memory[160] = 0x02
        }
        #expect(tag.contents.lockedPages == [4, 18, 19])
        for page in ["04", "12", "13"] {
            #expect(await script.send("a2 \(page) 01 02 03 04") == "NAK 0", "\(page)")
            try await script.activate()
        }
        #expect(await script.send("a2 11 01 02 03 04") == "ACK")
        #expect(Type2Contents(blank: .ntag213, uid: Script.uid).lockedPages.isEmpty)
    }

    @Test func `A memory that is cut is completed, but for a part of a page`() {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.memory.replaceSubrange(16..<24, with: [1, 2, 3, 4, 5, 6, 7, 8])
        contents.memory.removeLast(contents.memory.count - 22)
        contents.counters = [5]
        let whole = contents.completed
        #expect(whole.memory.count == 180 && whole.counters == [5, 0, 0])
        #expect(whole.memory.prefix(20) == contents.memory.prefix(20))
        #expect(whole.memory[20..<24].elementsEqual([0x34, 0x03, 0x00, 0xFE]))
    }

    // MARK: Sectors and UIDs

    @Test(arguments: ["a0 06", "3c 00", "1b ff ff ff ff"])
    func `NTAG I2C has no COMPATIBILITY_WRITE, signature or password`(command: String) async throws {
        let (script, _) = try await makeScript(.ntagI2C1K)
        #expect(await script.send(command) == "NAK 0")
    }

    @Test func `Of a UID of ten bytes the first nine are in the memory`() {
        let uid = hex("04 01 02 03 04 05 06 07 08 09")
        let contents = Type2Contents(blank: .ultralight, uid: uid)
        #expect(contents.memory.prefix(10).elementsEqual(uid.prefix(9) + [0x48]))
        #expect(contents.memory.count == 64)
    }

    @Test func `The session registers are in pages F8 and F9, and can't be written`() async throws {
        let (script, _) = try await makeScript(.ntagI2C1K)
        for (command, answer) in [
            ("30 f9", String(repeating: "00 ", count: 15) + "00"), ("30 fa", "NAK 0"), ("30 f7", "NAK 0"),
            ("a2 f8 00 00 00 00", "NAK 0"),
        ] {
            try await script.field.setCarrier(false)
            try await script.field.setCarrier(true)
            try await script.activate()
            #expect(await script.send("c2 ff") == "ACK")
            #expect(await script.send("03 00 00 00") == "timeout")
            #expect(await script.send(command) == answer, "\(command)")
        }
    }

    @Test(
        arguments: [
            ("NTAG213", Type2Product.ntag213), ("ntag 213", .ntag213), ("MIFARE Ultralight C", .ultralightC),
            ("ultralight-c", .ultralightC), ("Ultralight", .ultralight), ("MIFARE \u{B5}ltralight", .ultralight),
            ("MIFARE Ultralight EV1 UL21", .ultralightEV1UL21), ("UL11", .ultralightEV1UL11), ("NTAG I\u{B2}C 1K", nil),
            ("NTAG I2C 1K", .ntagI2C1K), ("NTAG21", nil), ("213", nil), ("", nil), ("-", nil),
        ] as [(String, Type2Product?)]
    )
    func `A product is found by its name, whatever its letters and with or without its family`(
        name: String,
        product: Type2Product?
    ) {
        #expect(Type2Product(named: name) == product)
    }

    /// A generator that always gives the same byte.
    private struct Constant: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0x8888_8888_8888_8888 }
    }

    @Test func `The second part of a random UID never begins like a cascade tag`() {
        var generator = Constant()
        #expect(Type2Contents.randomUID(using: &generator) == [0x04, 0x88, 0x88, 0x08, 0x88, 0x88, 0x88])
    }

    @Test(
        arguments: [
            (.ultralight, 48, []), (.ultralightC, 144, []), (.ultralightEV1UL11, 48, [0, 1, 2]),
            (.ultralightEV1UL21, 128, [0, 1, 2]), (.ntag203, 144, []), (.ntag210, 48, []), (.ntag212, 128, []),
            (.ntag213, 144, [2]), (.ntag215, 504, [2]), (.ntag216, 888, [2]), (.ntagI2C1K, 888, []),
            (.ntagI2C2K, 1904, []),
        ] as [(Type2Product, Int, [Int])]
    )
    func `Each product has the bytes for data and the counters of its data sheet`(
        product: Type2Product,
        bytes: Int,
        counters: [Int]
    ) {
        #expect(product.userPages.lowerBound == 4 && product.userPages.count * 4 == bytes)
        #expect(Type2Contents(blank: product, uid: Script.uid).countersOfProduct == counters)
    }

    @Test(arguments: Type2Product.all)
    func `The key of Ultralight C is behind the pages that can be read, and no other product has one`(
        product: Type2Product
    ) {
        #expect(product.readablePageCount == (product == .ultralightC ? 44 : product.pageCount))
        let first: [Type2Product: Int] = [
            .ultralightC: 42, .ultralightEV1UL11: 16, .ultralightEV1UL21: 37, .ntag210: 16, .ntag212: 37, .ntag213: 41,
            .ntag215: 131, .ntag216: 227,
        ]
        #expect(product.firstConfigurationPage == first[product])
    }
}
