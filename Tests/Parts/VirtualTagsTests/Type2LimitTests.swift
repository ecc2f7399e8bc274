// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// What lock bytes, counters, passwords and half commands of Type 2 tags come to in the end.
@Suite struct `Type 2 tags that are used up` {
    /// The bytes of the page with the dynamic lock bits when all of them were set.
    @Test(
        arguments: [
            (.ntag212, "ff 03 1f bd"), (.ultralightEV1UL21, "ff 03 1f bd"), (.ntag213, "ff 0f 3f bd"),
            (.ntag215, "ff 00 0f bd"), (.ntag216, "ff 3f 7f bd"), (.ntagI2C1K, "ff 3f 7f 00"),
            (.ultralightC, "ff ff 00 00"), (.ntag203, "ff 11 00 00"),
        ] as [(Type2Product, String)]
    )
    func `Bits that lock nothing can't be set`(product: Type2Product, bytes: String) async throws {
        let (script, tag) = try await makeScript(product)
        let page = try #require(product.dynamicLockPage)
        #expect(await script.send("a2 \(hexText([UInt8(page)])) ff ff ff ff") == "ACK")
        #expect(hexText(tag.contents.memory[page * 4..<page * 4 + 4]) == bytes)
    }

    @Test func `The counter of readings stays at FFFFFF`() async throws {
        let (script, tag) = try await makeScript(.ntag213) {
            $0.memory[42 * 4] = 0x10
            $0.counters[2] = 0xFF_FFFE
        }
        for _ in 0..<3 {
            _ = await script.send("30 00")
            #expect(await script.send("39 02") == "ff ff ff")
            script.field.switchCarrier(false)
            script.field.switchCarrier(true)
            try await script.activate()
        }
        #expect(tag.contents.counters[2] == 0xFF_FFFF)
    }

    @Test(arguments: [("30 2d", 0), ("30 20", 0), ("3a 00 2d", 0), ("3a 20 21", 0), ("30 00", 1)])
    func `A READ that is refused is no reading`(command: String, readings: Int) async throws {
        let (script, tag) = try await makeScript(.ntag213) {
            // Reading needs the password from page 20 on.
            $0.memory[41 * 4 + 3] = 0x20
            $0.memory[42 * 4] = 0x90
        }
        #expect(await script.send(command).hasPrefix("NAK") == (readings == 0))
        #expect(tag.contents.counters[2] == readings)
    }

    @Test func `The fourth byte of a step is not counted`() async throws {
        let (script, tag) = try await makeScript(.ultralightEV1UL11)
        #expect(await script.send("a5 00 01 00 00 ff") == "ACK")
        #expect(await script.send("39 00") == "01 00 00")
        #expect(await script.send("a5 00 01 00 00") == "NAK 0")
        #expect(tag.contents.counters[0] == 1)
    }

    @Test(arguments: [Type2Product.ultralight, .ntag213], ["a0", "a0 06 00", "a2 06 00 00 00", "30", "30 04 00"])
    func `A known command of another length is refused, not ignored`(
        product: Type2Product,
        command: String
    ) async throws {
        let (script, _) = try await makeScript(product)
        #expect(await script.send(command) == "NAK 0")
        #expect(await script.send("30 00") == "timeout")
        try await script.activate(wake: 0x26)
    }

    /// ACCESS, and how many wrong passwords there may be.
    @Test(arguments: [(UInt8(0x12), 2), (0x01, 1), (0x87, 7), (0x08, nil), (0x00, nil)] as [(UInt8, Int?)])
    func `AUTHLIM has three bits of ACCESS`(access: UInt8, limit: Int?) async throws {
        let (script, tag) = try await makeScript(.ntag213) {
            $0.memory[42 * 4] = access
            $0.memory.replaceSubrange(43 * 4..<44 * 4 + 2, with: [1, 2, 3, 4, 0xAA, 0x55])
        }
        for attempt in 0..<(limit ?? 9) {
            #expect(tag.contents.failedAuthentications == (limit == nil ? 0 : attempt))
            #expect(await script.send("1b 01 02 03 05") == "NAK 0")
            try await script.activate()
        }
        for password in ["04", "05"] {
            let answer = limit == nil ? (password == "04" ? "aa 55" : "NAK 0") : "NAK 4"
            #expect(await script.send("1b 01 02 03 \(password)") == answer)
            if password == "04", limit == nil { continue }
            try await script.activate()
        }
        #expect(tag.contents.failedAuthentications == limit ?? 0)
    }

    // MARK: Activation

    private static let first = "93 70 88 04 a1 b2 9f"
    private static let second = "95 70 c3 d4 e5 80 72"

    /// What comes in place of the second SELECT.
    @Test(arguments: ["95 70 c3 d4 e5 81 73", "95 70 c3 d4 e5 80 73", first, "97 70 c3 d4 e5 80 72", "50 00", "30 00"])
    func `Half selected, a tag rests again after anything else`(command: String) async throws {
        let tag = VirtualType2Tag(.ultralight, uid: Script.uid)
        let script = try Script(tag)
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.send(Self.first) == "04")
        #expect(await script.send(command) == "timeout")
        #expect(await script.send(Self.second) == "timeout")
        try await script.activate(wake: 0x26)
        // From HALT it goes back there.
        #expect(await script.send("50 00") == "timeout")
        #expect(await script.sendShort(0x52) == "44 00")
        #expect(await script.send(Self.first) == "04")
        #expect(await script.send(command) == "timeout")
        #expect(await script.sendShort(0x26) == "timeout")
        try await script.activate(wake: 0x52)
    }

    @Test func `Anticollision is for the level that is next`() async throws {
        let script = try Script(VirtualType2Tag(.ultralight, uid: Script.uid))
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendRaw("93 20") == "88 04 a1 b2 9f")
        #expect(await script.sendRaw("93 40 88 04") == "a1 b2 9f")
        #expect(await script.send(Self.first) == "04")
        #expect(await script.sendRaw("95 20") == "c3 d4 e5 80 72")
        #expect(await script.sendRaw("95 60 c3 d4 e5 80") == "72")
        #expect(await script.sendRaw("93 20") == "timeout")
        #expect(await script.sendRaw("95 20") == "timeout")
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendRaw("95 20") == "timeout")
        try await script.activate(wake: 0x26)
    }
}
