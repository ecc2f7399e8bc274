// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// What a tag forgets when it is activated again, when its power goes and when a fault refuses a write, and what it keeps.
@Suite struct `What a tag forgets, and when` {
    // MARK: Type 2

    @Test func `A reading is counted once while there is power, however often the tag is activated`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.memory[42 * 4] = 0x10
        let script = try Script(VirtualType2Tag(contents))
        for count in ["01 00 00", "02 00 00"] {
            for _ in 0..<3 {
                try await script.activate()
                _ = await script.send("30 00")
                #expect(await script.send("39 02") == count)
                #expect(await script.send("50 00") == "timeout")
            }
            script.field.switchCarrier(false)
            script.field.switchCarrier(true)
        }
    }

    @Test func `No challenge of Ultralight C comes twice, after an activation or a loss of power`() async throws {
        let script = try Script(VirtualType2Tag(.ultralightC, uid: Script.uid))
        var challenges: Set<String> = []
        for isOff in [false, false, true, true] {
            try await script.activate()
            let challenge = await script.send("1a 00")
            #expect(challenge.hasPrefix("af"))
            challenges.insert(challenge)
            #expect(await script.send("af 00") == "NAK 0")
            if isOff {
                script.field.switchCarrier(false)
                script.field.switchCarrier(true)
            }
        }
        #expect(challenges.count == 4)
    }

    @Test func `A challenge that was sent is worth nothing after another activation`() async throws {
        let script = try Script(VirtualType2Tag(.ultralightC, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("1a 00").hasPrefix("af"))
        #expect(await script.sendShort(0x26) == "timeout")
        try await script.activate()
        #expect(await script.send("30 00").hasPrefix("04 a1 b2 9f"))
    }

    @Test func `The first part of SECTOR SELECT is forgotten with the power, and so is the sector`() async throws {
        let script = try Script(VirtualType2Tag(.ntagI2C2K, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("c2 ff") == "ACK")
        #expect(await script.send("01 00 00 00") == "timeout")
        #expect(await script.send("c2 ff") == "ACK")
        script.field.switchCarrier(false)
        script.field.switchCarrier(true)
        try await script.activate()
        #expect(await script.send("30 00").hasPrefix("04 a1 b2 c3"))
    }

    /// AUTH0 and ACCESS that are written after the password, and whether page 16 can be read and written afterwards.
    @Test(arguments: [("04 00 00 ff", "80 00 00 00", true, true), ("04 00 00 10", "00 00 00 00", true, false)])
    func `A protection that was taken back is over with the next activation`(
        start: String,
        access: String,
        isReadable: Bool,
        isWritable: Bool
    ) async throws {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.memory.replaceSubrange(41 * 4..<43 * 4, with: [0x04, 0, 0, 0x10, 0x80, 0, 0, 0])
        let script = try Script(VirtualType2Tag(contents))
        try await script.activate()
        #expect(await script.send("30 10") == "NAK 0")
        try await script.activate()
        #expect(await script.send("1b ff ff ff ff") == "00 00")
        #expect(await script.send("a2 2a \(access)") == "ACK")
        #expect(await script.send("a2 29 \(start)") == "ACK")
        #expect(await script.send("50 00") == "timeout")
        try await script.activate()
        #expect((await script.send("30 10") != "NAK 0") == isReadable)
        #expect(await script.send("a2 10 01 02 03 04") == (isWritable ? "ACK" : "NAK 0"))
    }

    @Test func `A protection of Ultralight C that was taken back is over with the next activation`() async throws {
        var contents = Type2Contents(blank: .ultralightC, uid: Script.uid)
        contents.memory[42 * 4] = 0x2B
        let script = try Script(VirtualType2Tag(contents))
        try await script.activate()
        #expect(await script.send("30 2b") == "NAK 0")
        try await script.activate()
        // AUTH0 itself is before the protected pages.
        #expect(await script.send("a2 2a 30 00 00 00") == "ACK")
        #expect(await script.send("30 2b") == "NAK 0")
        try await script.activate()
        #expect(await script.send("30 2b") != "NAK 0")
        #expect(await script.send("a2 2b 01 00 00 00") == "ACK")
    }

    // MARK: Type 5

    private let own = "44 33 22 11 10 01 04 e0"
    private let other = "45 33 22 11 10 01 04 e0"
    private let block = "00 e1 40 0d 01"

    private func makeScript() throws -> (LinkScript, VirtualType5Tag) {
        let tag = VirtualType5Tag(.icodeSLIX)
        return (try LinkScript(.nfcV, tag), tag)
    }

    @Test func `A selection ends with that of another tag, and not with another command for it`() async throws {
        let (script, _) = try makeScript()
        #expect(await script.send("22 25 \(own)") == "00")
        for command in ["22 20 \(other) 00", "22 26 \(other)", "22 02 \(other)"] {
            #expect(await script.send(command) == "timeout")
            #expect(await script.send("12 20 00") == block, "\(command)")
        }
        #expect(await script.send("22 25 \(other)") == "timeout")
        #expect(await script.send("12 20 00") == "timeout")
        #expect(await script.send("02 20 00") == block)
    }

    @Test func `A selection ends with RESET TO READY, with STAY QUIET and with the power`() async throws {
        let (script, tag) = try makeScript()
        #expect(await script.send("22 25 \(own)") == "00")
        #expect(await script.send("22 26 \(own)") == "00")
        #expect(await script.send("12 20 00") == "timeout")
        #expect(await script.send("02 20 00") == block)
        #expect(await script.send("22 25 \(own)") == "00")
        #expect(await script.send("22 02 \(own)") == "timeout")
        for command in ["12 20 00", "02 20 00", "26 01 00"] { #expect(await script.send(command) == "timeout") }
        // A quiet tag can be selected.
        #expect(await script.send("22 25 \(own)") == "00")
        #expect(await script.send("12 20 00") == block)
        tag.losePower()
        #expect(await script.send("12 20 00") == "timeout")
        #expect(await script.send("26 01 00") == "00 00 \(own)")
    }

    @Test func `A quiet tag stays so when another is selected, until its power goes`() async throws {
        let (script, tag) = try makeScript()
        #expect(await script.send("22 02 \(own)") == "timeout")
        #expect(await script.send("22 25 \(other)") == "timeout")
        #expect(await script.send("26 01 00") == "timeout")
        #expect(await script.send("02 20 00") == "timeout")
        tag.losePower()
        #expect(await script.send("26 01 00") == "00 00 \(own)")
    }

    @Test func `A write that a fault refuses does not take the password back that it needed`() async throws {
        let tag = VirtualType5Tag(.icodeSLIX2)
        let script = try LinkScript(.nfcV, tag)
        let uid = hexText(tag.identifier.reversed())
        // No number covers the password.
        #expect(await script.send("02 b3 04 04 0f 0f 0f 0f") == "00")
        script.field.arm(FaultPlan([Fault(.refusal(0x13), at: .write(1))]))
        #expect(await script.send("22 b4 04 \(uid) 04 01 02 03 04") == "01 13")
        #expect(tag.contents.passwords[0x04] == 0x0F0F_0F0F)
        #expect(await script.send("22 b4 04 \(uid) 04 01 02 03 04") == "00")
        #expect(tag.contents.passwords[0x04] == 0x0403_0201)
    }

    @Test func `A write that a fault refuses is not the one that ST25TV counts`() async throws {
        var contents = Type5Contents(blank: .st25tv02K)
        contents.settings.registers[3] = 0x01
        let script = try LinkScript(.nfcV, VirtualType5Tag(contents))
        script.field.arm(FaultPlan([Fault(.refusal(0x13), at: .write(1))]))
        #expect(await script.send("02 21 05 01 02 03 04") == "01 13")
        #expect(await script.send("02 a0 02 04") == "00 00 00")
        for _ in 0..<2 { #expect(await script.send("02 21 05 01 02 03 04") == "00") }
        #expect(await script.send("02 a0 02 04") == "00 01 00")
    }

    @Test func `An untraceable ST25TV stays so after any password but the one of that mode`() async throws {
        var contents = Type5Contents(blank: .st25tv02K)
        contents.settings.passwords = [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3], [4, 4, 4, 4]]
        contents.settings.isUntraceable = true
        let script = try LinkScript(.nfcV, VirtualType5Tag(contents))
        #expect(await script.send("02 b3 02 03 04 04 04 04") == "00")
        #expect(await script.send("02 20 00") == "timeout")
        #expect(await script.send("02 b3 02 00 01 01 01 02") == "01 0f")
        #expect(await script.send("02 20 00") == "timeout")
        #expect(await script.send("02 b3 02 00 01 01 01 01") == "00")
        #expect(await script.send("02 20 00") == "00 e1 40 1f 01")
    }

    // MARK: Type 4

    @Test func `A card that was deselected begins with the first block number, and with the CID of the next RATS`()
        async throws
    {
        let card = ScriptedCard([(hex("01"), hex("90 00"))])
        let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: hex("05 72 80 70 02"))
        let script = try LinkScript(.nfcA, VirtualType4Tag(card: card, frontEnd: frontEnd))
        await script.activateA()
        #expect(await script.send("e0 83") == "05 72 80 70 02")
        #expect(await script.send("0a 03 01") == "0a 03 90 00")
        #expect(await script.send("ca 03") == "ca 03")
        await script.activateA()
        #expect(await script.send("e0 80") == "05 72 80 70 02")
        #expect(await script.send("d3 11 00") == "timeout")
        #expect(await script.send("0a 03 01") == "timeout")
        #expect(await script.send("02 01") == "02 90 00")
    }

    @Test func `A chained command that was begun is no part of the first one after a loss of power`() async throws {
        var card = ScriptedCard(otherwise: CardAnswer([0x6A, 0x81]))
        card.answer(hex("01"), with: hex("90 00"))
        let frontEnd = Type4FrontEnd.nfcA(uid: VirtualType4Tag.defaultUID, ats: hex("05 72 80 70 02"))
        let script = try LinkScript(.nfcA, VirtualType4Tag(card: card, frontEnd: frontEnd))
        for _ in 0..<2 {
            await script.activateA()
            #expect(await script.send("e0 80") == "05 72 80 70 02")
            #expect(await script.send("02 01") == "02 90 00")
            #expect(await script.send("13 07") == "a3")
            script.field.switchCarrier(false)
            script.field.switchCarrier(true)
        }
    }
}
