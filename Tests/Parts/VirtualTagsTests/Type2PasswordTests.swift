// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Passwords and configuration` {
    /// An NTAG213 with the password 01020304 and the acknowledgement AA55.
    private func script(auth0: UInt8, access: UInt8) throws -> (Script, VirtualType2Tag) {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.memory.replaceSubrange(
            164..<180,
            with: [0x04, 0, 0, auth0, access, 0, 0, 0, 1, 2, 3, 4, 0xAA, 0x55, 0, 0]
        )
        let tag = VirtualType2Tag(contents)
        return (try Script(tag), tag)
    }

    @Test func `The right password is answered by PACK, the wrong one is refused`() async throws {
        let (script, _) = try script(auth0: 0x04, access: 0x00)
        try await script.activate()
        #expect(await script.send("1b 01 02 03 04") == "aa 55")
        #expect(await script.send("1b 01 02 03 05") == "NAK 0")
        #expect(await script.send("30 00") == "timeout")
    }

    @Test func `The password and PACK are never read`() async throws {
        let (script, _) = try script(auth0: 0x04, access: 0x00)
        try await script.activate()
        #expect(await script.send("1b 01 02 03 04") == "aa 55")
        #expect(await script.send("30 29") == "04 00 00 04 00 00 00 00 00 00 00 00 00 00 00 00")
        #expect(await script.send("3a 2b 2c") == "00 00 00 00 00 00 00 00")
    }

    @Test func `Writing behind AUTH0 needs the password, until the next activation`() async throws {
        let (script, _) = try script(auth0: 0x10, access: 0x00)
        try await script.activate()
        #expect(await script.send("a2 0f 01 02 03 04") == "ACK")
        #expect(await script.send("a2 10 01 02 03 04") == "NAK 0")
        try await script.activate()
        #expect(await script.send("1b 01 02 03 04") == "aa 55")
        #expect(await script.send("a2 10 01 02 03 04") == "ACK")
        #expect(await script.send("50 00") == "timeout")
        try await script.activate()
        #expect(await script.send("a2 10 00 00 00 00") == "NAK 0")
        try await script.activate()
        #expect(await script.send("30 10").hasPrefix("01 02 03 04"))
    }

    @Test func `With PROT reading behind AUTH0 needs the password, and READ rolls over before it`() async throws {
        let (script, _) = try script(auth0: 0x06, access: 0x80)
        try await script.activate()
        #expect(await script.send("30 04") == "01 03 a0 0c 34 03 00 fe 04 a1 b2 9f c3 d4 e5 80")
        #expect(await script.send("30 06") == "NAK 0")
        try await script.activate()
        #expect(await script.send("3a 04 06") == "NAK 0")
        try await script.activate()
        #expect(await script.send("1b 01 02 03 04") == "aa 55")
        #expect(await script.send("3a 04 06") == "01 03 a0 0c 34 03 00 fe 00 00 00 00")
    }

    @Test func `After AUTHLIM wrong passwords none is taken any more, power or not`() async throws {
        let (script, tag) = try script(auth0: 0x04, access: 0x02)
        for _ in 0..<2 {
            try await script.activate()
            #expect(await script.send("1b 00 00 00 00") == "NAK 0")
        }
        #expect(tag.contents.failedAuthentications == 2)
        script.field.switchCarrier(false)
        script.field.switchCarrier(true)
        try await script.activate()
        #expect(await script.send("1b 01 02 03 04") == "NAK 4")
    }

    @Test func `A right password resets the count`() async throws {
        let (script, tag) = try script(auth0: 0x04, access: 0x02)
        try await script.activate()
        #expect(await script.send("1b 00 00 00 00") == "NAK 0")
        try await script.activate()
        #expect(await script.send("1b 01 02 03 04") == "aa 55")
        #expect(tag.contents.failedAuthentications == 0)
    }

    @Test func `CFGLCK locks the configuration after the next power-up, but not the password`() async throws {
        let (script, _) = try script(auth0: 0xFF, access: 0x00)
        try await script.activate()
        #expect(await script.send("a2 2a 40 00 00 00") == "ACK")
        #expect(await script.send("a2 29 04 00 00 ff") == "ACK")
        script.field.switchCarrier(false)
        script.field.switchCarrier(true)
        for page in ["29", "2a"] {
            try await script.activate()
            #expect(await script.send("a2 \(page) 00 00 00 00") == "NAK 0")
        }
        try await script.activate()
        #expect(await script.send("a2 2b 09 09 09 09") == "ACK")
        #expect(await script.send("1b 09 09 09 09") == "aa 55")
    }

    @Test(arguments: [true, false])
    func `Ultralight C protects from AUTH0 on, as AUTH1 says`(_ isReadable: Bool) async throws {
        let script = try Script(VirtualType2Tag(.ultralightC, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a2 2b 0\(isReadable ? 1 : 0) 00 00 00") == "ACK")
        #expect(await script.send("a2 2a 10 00 00 00") == "ACK")
        // Effective with the next activation.
        #expect(await script.send("a2 10 01 02 03 04") == "ACK")
        #expect(await script.send("50 00") == "timeout")
        try await script.activate()
        #expect(await script.send("a2 10 01 02 03 04") == "NAK 0")
        try await script.activate()
        #expect(await script.send("30 0f").hasSuffix("04 a1 b2 9f c3 d4 e5 80 72 48 00 00") == !isReadable)
        #expect(await script.send("30 10").hasPrefix("01 02 03 04") == isReadable)
    }
}

@Suite struct `Ultralight C with its key` {
    /// The factory key of the tags, in the byte order of the cipher.
    private static let transportKey = hex("49 45 4d 4b 41 45 52 42 21 4e 41 43 55 4f 59 46")
    private let challenge = hex("01 02 03 04 05 06 07 08")
    private let zero = BlockCipher.Mode.blockChaining(vector: [0, 0, 0, 0, 0, 0, 0, 0])

    /// Authenticates as a reader does.
    private func authenticate(_ script: Script, _ key: [UInt8] = transportKey) async throws -> Bool {
        let cipher = try BlockCipher.des(key)
        let first = hex(await script.send("1a 00"))
        guard first.first == 0xAF, first.count == 9 else { return false }
        let theirs = try cipher.decrypt(Array(first[1...]), zero)
        let proof = challenge + theirs.dropFirst() + theirs.prefix(1)
        let sent = try cipher.encrypt(proof, .blockChaining(vector: Array(first[1...])))
        let second = hex(await script.send("af " + hexText(sent)))
        guard second.first == 0x00, second.count == 9 else { return false }
        let answer = try cipher.decrypt(Array(second[1...]), .blockChaining(vector: Array(sent.suffix(8))))
        return answer == Array(challenge.dropFirst() + challenge.prefix(1))
    }

    private func protectedScript() async throws -> (Script, VirtualType2Tag) {
        var contents = Type2Contents(blank: .ultralightC, uid: Script.uid)
        contents.memory[42 * 4] = 0x10
        let tag = VirtualType2Tag(contents)
        return (try Script(tag), tag)
    }

    @Test func `The key opens pages behind AUTH0, until the next activation`() async throws {
        let (script, _) = try await protectedScript()
        try await script.activate()
        #expect(await script.send("30 10") == "NAK 0")
        try await script.activate()
        #expect(try await authenticate(script))
        #expect(await script.send("a2 10 01 02 03 04") == "ACK")
        #expect(await script.send("30 10").hasPrefix("01 02 03 04"))
        // The key itself is never read.
        #expect(await script.send("30 2c") == "NAK 0")
        try await script.activate()
        #expect(await script.send("30 10") == "NAK 0")
    }

    @Test func `A wrong key is refused`() async throws {
        let (script, _) = try await protectedScript()
        try await script.activate()
        #expect(try await !authenticate(script, Array(repeating: 0x11, count: 16)))
        try await script.activate()
        #expect(await script.send("1a 01") == "NAK 0")
        try await script.activate()
        #expect(await script.send("1a 00").hasPrefix("af"))
        #expect(await script.send("af 00") == "NAK 0")
        try await script.activate()
        #expect(await script.send("30 10") == "NAK 0")
    }

    @Test func `A new key is written from its end, and counts from the next activation on`() async throws {
        let (script, _) = try await protectedScript()
        try await script.activate()
        #expect(try await authenticate(script))
        for page in ["2c 07 06 05 04", "2d 03 02 01 00", "2e 0f 0e 0d 0c", "2f 0b 0a 09 08"] {
            #expect(await script.send("a2 \(page)") == "ACK")
        }
        #expect(try await authenticate(script))
        #expect(await script.send("50 00") == "timeout")
        try await script.activate()
        #expect(try await authenticate(script, Array(0..<16)))
    }

    @Test func `Challenges are the same in every run`() async throws {
        var runs: [[String]] = []
        for _ in 0..<2 {
            let (script, _) = try await protectedScript()
            try await script.activate()
            runs.append([await script.send("1a 00"), await script.send("1a 00")])
        }
        #expect(runs[0] == runs[1])
    }
}

@Suite struct `Counters` {
    @Test func `NTAG213 counts the first reading after power-up, if it is configured to`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.memory[168] = 0x10
        contents.counters[2] = 0x0102FF
        let script = try Script(VirtualType2Tag(contents))
        try await script.activate()
        #expect(await script.send("39 02") == "ff 02 01")
        _ = await script.send("30 00")
        _ = await script.send("3a 00 01")
        #expect(await script.send("39 02") == "00 03 01")
        script.field.switchCarrier(false)
        script.field.switchCarrier(true)
        try await script.activate()
        _ = await script.send("3a 00 01")
        #expect(await script.send("39 02") == "01 03 01")
        #expect(await script.send("39 00") == "NAK 0")
    }

    @Test func `The counter is refused while it is off, and without the password where it needs one`() async throws {
        let off = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        try await off.activate()
        #expect(await off.send("39 02") == "NAK 0")
        var contents = Type2Contents(blank: .ntag215, uid: Script.uid)
        contents.memory[132 * 4] = 0x18
        let script = try Script(VirtualType2Tag(contents))
        try await script.activate()
        #expect(await script.send("39 02") == "NAK 4")
        try await script.activate()
        #expect(await script.send("1b ff ff ff ff") == "00 00")
        #expect(await script.send("39 02") == "00 00 00")
    }

    @Test func `A counter of Ultralight EV1 ends at FFFFFF`() async throws {
        let script = try Script(VirtualType2Tag(.ultralightEV1UL11, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a5 00 ff ff ff 00") == "ACK")
        #expect(await script.send("39 00") == "ff ff ff")
        #expect(await script.send("a5 00 00 00 00 00") == "ACK")
        #expect(await script.send("a5 00 01 00 00 00") == "NAK 4")
        try await script.activate()
        #expect(await script.send("39 00") == "ff ff ff")
    }

    @Test func `Ultralight EV1 has three counters that never run over`() async throws {
        let script = try Script(VirtualType2Tag(.ultralightEV1UL11, uid: Script.uid))
        try await script.activate()
        #expect(await script.send("a5 01 02 01 00 00") == "ACK")
        #expect(await script.send("39 01") == "02 01 00")
        #expect(await script.send("39 00") == "00 00 00")
        #expect(await script.send("3e 01") == "bd")
        #expect(await script.send("a5 01 fe fe ff 00") == "NAK 4")
        try await script.activate()
        #expect(await script.send("39 01") == "02 01 00")
        #expect(await script.send("a5 03 01 00 00 00") == "NAK 0")
        try await script.activate()
        #expect(await script.send("3e 03") == "NAK 0")
    }

    @Test func `The counter in page 41 is set once and then adds`() async throws {
        for product in [Type2Product.ultralightC, .ntag203] {
            let script = try Script(VirtualType2Tag(product, uid: Script.uid))
            try await script.activate()
            #expect(await script.send("a2 29 f0 ff 00 00") == "ACK")
            #expect(await script.send("a2 29 0f 00 00 00") == "ACK")
            #expect(await script.send("30 29").hasPrefix("ff ff 00 00"))
            #expect(await script.send("a2 29 00 00 00 00") == "ACK")
            #expect(await script.send("a2 29 01 00 00 00") == "NAK 0")
        }
    }

    @Test func `UID and counter are laid over the pages in ASCII`() async throws {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        // Both, from byte 1 of page 8.
        contents.memory.replaceSubrange(164..<172, with: [0xD4, 0, 0x08, 0xFF, 0x10, 0, 0, 0])
        contents.counters[2] = 0x00ABCD
        let script = try Script(VirtualType2Tag(contents))
        try await script.activate()
        let mirror = "04A1B2C3D4E580x00ABCE"
        #expect(await script.send("3a 08 0d") == hexText([0] + Array(mirror.utf8) + [0, 0]))
        #expect(await script.send("30 0a") == hexText(Array(mirror.utf8)[7..<21] + [0, 0]))
        #expect(await script.send("30 08") == hexText([0] + Array(mirror.utf8.prefix(15))))
    }
}
