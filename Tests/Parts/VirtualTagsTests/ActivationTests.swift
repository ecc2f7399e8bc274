// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Activation of NFC-A tags` {
    @Test func `A tag with seven bytes of UID goes through two cascade levels`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendRaw("93 20") == "88 04 a1 b2 9f")
        #expect(await script.send("93 70 88 04 a1 b2 9f") == "04")
        #expect(await script.sendRaw("95 20") == "c3 d4 e5 80 72")
        #expect(await script.send("95 70 c3 d4 e5 80 72") == "00")
        #expect(await script.send("60") == "00 04 04 02 01 00 0f 03")
    }

    @Test func `A tag with four bytes of UID needs one cascade level`() async throws {
        var contents = Type2Contents(blank: .ultralight, uid: [0x12, 0x34, 0x56, 0x78])
        contents.atqa = 0x0004
        let script = try Script(VirtualType2Tag(contents))
        #expect(await script.sendShort(0x26) == "04 00")
        #expect(await script.sendRaw("93 20") == "12 34 56 78 08")
        #expect(await script.send("93 70 12 34 56 78 08") == "00")
        #expect(await script.send("30 00").hasPrefix("12 34 56 78 08"))
    }

    @Test func `A tag with ten bytes of UID goes through three cascade levels`() async throws {
        let script = try Script(VirtualType2Tag(Type2Contents(blank: .ultralight, uid: hex("04010203040506070809"))))
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.send("93 70 88 04 01 02 8f") == "04")
        #expect(await script.send("95 70 88 03 04 05 8a") == "04")
        #expect(await script.sendRaw("97 20") == "06 07 08 09 00")
        #expect(await script.send("97 70 06 07 08 09 00") == "00")
        #expect(await script.send("30 00 00") == "NAK 0")
    }

    @Test func `A tag that knows some bits already answers the others`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        // Two bytes are known.
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendRaw("93 40 88 04") == "a1 b2 9f")
        // Eleven bits are known: 29 come, packed from the lowest bit.
        let frame = Frame(bits: hex("93 33 88 04"), validBitsInLastByte: 3)
        let answer = try await script.link.transceive(frame, timeout: .milliseconds(1))
        #expect(answer.bitCount == 29)
        #expect(answer.bytes == hex("20 54 f6 13"))
        #expect(answer.validBitsInLastByte == 5)
    }

    @Test(arguments: 0..<40) func `A tag answers what is missing, however many bits are known`(count: Int) async throws
    {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        #expect(await script.sendShort(0x26) == "44 00")
        let own = hex("88 04 a1 b2 9f")
        let (bytes, rest) = (count / 8, count % 8)
        var known = Array(own.prefix(bytes))
        if rest > 0 { known.append(own[bytes] & (1 << rest - 1)) }
        let request = [0x93, UInt8(2 + bytes) << 4 | UInt8(rest)] + known
        let frame =
            rest == 0 ? Frame(request, checksum: .none) : Frame(bits: request, validBitsInLastByte: rest)
        let answer = try await script.link.transceive(frame, timeout: .milliseconds(1))
        #expect(answer.bitCount == 40 - count)
    }

    @Test(arguments: ["93 40 88 05", "93 28", "93 80", "93 41 88 04", "95 20", "93", ""])
    func `A tag that is not meant, or is asked wrongly, falls back`(_ request: String) async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendRaw(request) == "timeout")
        #expect(await script.sendRaw("93 20") == "timeout")
        #expect(await script.sendShort(0x26) == "44 00")
    }

    @Test func `SELECT with a wrong checksum or check byte is not answered`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendRaw("93 70 88 04 a1 b2 9f 00 00") == "timeout")
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.send("93 70 88 04 a1 b2 9e") == "timeout")
    }

    @Test func `A tag that is halted hears WUPA only, and falls back to HALT from there`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        try await script.activate(wake: 0x26)
        #expect(await script.send("50 00") == "timeout")
        #expect(await script.sendShort(0x26) == "timeout")
        try await script.activate(wake: 0x52)
        #expect(await script.send("ff") == "NAK 0")
        #expect(await script.sendShort(0x26) == "timeout")
        #expect(await script.sendShort(0x52) == "44 00")
        #expect(await script.sendRaw("ff") == "timeout")
        #expect(await script.sendShort(0x26) == "timeout")
    }

    @Test func `REQA and WUPA in the middle of an activation are errors`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendShort(0x26) == "timeout")
        try await script.activate(wake: 0x26)
        #expect(await script.sendShort(0x52) == "timeout")
        #expect(await script.send("30 00") == "timeout")
        #expect(await script.sendShort(0x35) == "timeout")
    }

    @Test func `A tag answers nothing before it is woken`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        #expect(await script.sendRaw("93 20") == "timeout")
        #expect(await script.send("30 00") == "timeout")
        #expect(await script.send("50 00") == "timeout")
    }
}
