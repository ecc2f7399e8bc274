// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Type 1 tags` {
    private let echo = "01 02 03 04"

    private func makeScript(_ product: Type1Product) async throws -> (LinkScript, VirtualType1Tag) {
        let tag = VirtualType1Tag(product)
        var script = try LinkScript(.nfcA, tag)
        script.checksum = .crcB
        #expect(await script.exchange(Frame(bits: [0x26], validBitsInLastByte: 7)) == "00 0c")
        return (script, tag)
    }

    @Test(arguments: [(Type1Product.topaz96, "11 48"), (.topaz512, "12 4c")])
    func `RID gives the header and the UID, RALL all static memory`(product: Type1Product, header: String) async throws
    {
        let (script, tag) = try await makeScript(product)
        #expect(await script.send("78 00 00 00 00 00 00") == "\(header) 01 02 03 04")
        let all = hex(await script.send("00 00 00 \(echo)"))
        #expect(hexText(all.prefix(2)) == header)
        #expect(Array(all.dropFirst(2)) == Array(tag.contents.memory.prefix(120)))
        #expect(all.count == 122)
    }

    @Test func `READ, WRITE-E and WRITE-NE work on one byte`() async throws {
        let (script, _) = try await makeScript(.topaz96)
        #expect(await script.send("01 08 00 \(echo)") == "08 e1")
        #expect(await script.send("53 10 f0 \(echo)") == "10 f0")
        #expect(await script.send("1a 10 0f \(echo)") == "10 ff")
        #expect(await script.send("53 10 12 \(echo)") == "10 12")
        #expect(await script.send("01 10 00 \(echo)") == "10 12")
    }

    @Test func `The UID is the first seven bytes of the memory`() {
        let uid = hex("01 02 03 04 05 06 07")
        let tag = VirtualType1Tag(.topaz96, uid: uid)
        #expect(tag.identifier == uid && tag.contents.memory.prefix(7) == uid[...])
    }

    @Test func `Static memory has neither segments nor blocks of eight`() async throws {
        let (script, _) = try await makeScript(.topaz96)
        let zero = "00 00 00 00 00 00 00 00"
        for command in ["10 00", "02 01", "54 01", "1b 01"] {
            #expect(await script.send("\(command) \(zero) \(echo)") == "timeout", "\(command)")
        }
        #expect(await script.send("01 78 00 \(echo)") == "timeout")
    }

    @Test func `RSEG, READ8, WRITE-E8 and WRITE-NE8 work on dynamic memory`() async throws {
        let (script, tag) = try await makeScript(.topaz512)
        let zero = "00 00 00 00 00 00 00 00"
        #expect(await script.send("10 00 \(zero) \(echo)") == "00 " + hexText(tag.contents.memory[0..<128]))
        #expect(await script.send("10 10 \(zero) \(echo)") == "10 " + hexText(tag.contents.memory[128..<256]))
        #expect(await script.send("02 01 \(zero) \(echo)") == "01 e1 10 3f 00 01 03 f2 30")
        #expect(await script.send("54 3f 01 02 03 04 05 06 07 08 \(echo)") == "3f 01 02 03 04 05 06 07 08")
        #expect(await script.send("1b 3f 10 20 00 00 00 00 00 00 \(echo)") == "3f 11 22 03 04 05 06 07 08")
        // Behind the end everything is answered, and nothing stays.
        #expect(await script.send("02 40 \(zero) \(echo)") == "40 \(zero)")
        #expect(hex(await script.send("10 40 \(zero) \(echo)")).count == 129)
        let before = tag.contents
        #expect(await script.send("54 40 01 02 03 04 05 06 07 08 \(echo)") == "40 \(zero)")
        #expect(await script.send("1b ff 01 02 03 04 05 06 07 08 \(echo)") == "ff \(zero)")
        #expect(tag.contents == before)
    }

    @Test func `Blocks 0 and D are never written, E and F never erased`() async throws {
        let (script, tag) = try await makeScript(.topaz512)
        let before = tag.contents
        for command in ["53 00 ff", "1a 00 ff", "53 68 ff", "1a 68 ff", "53 70 00", "53 78 00"] {
            #expect(await script.send("\(command) \(echo)") == "timeout", "\(command)")
        }
        #expect(await script.send("54 0e 00 00 00 00 00 00 00 00 \(echo)") == "timeout")
        #expect(tag.contents == before)
        #expect(await script.send("1a 72 81 \(echo)") == "72 81")
        #expect(await script.send("1a 72 02 \(echo)") == "72 83")
    }

    @Test func `Lock bits bar their blocks for good`() async throws {
        let (script, _) = try await makeScript(.topaz512)
        #expect(await script.send("1a 70 04 \(echo)") == "70 05")
        #expect(await script.send("53 10 ff \(echo)") == "timeout")
        #expect(await script.send("53 18 ff \(echo)") == "18 ff")
        #expect(await script.send("1a 71 10 \(echo)") == "71 70")
        #expect(await script.send("53 60 ff \(echo)") == "timeout")
        #expect(await script.send("1a 7a 02 \(echo)") == "7a 02")
        #expect(await script.send("54 11 00 00 00 00 00 00 00 00 \(echo)") == "timeout")
        #expect(await script.send("54 10 00 00 00 00 00 00 00 00 \(echo)") == "10 00 00 00 00 00 00 00 00")
    }

    @Test func `Commands with another UID, CRC_A or a wrong length are not answered`() async throws {
        let (script, _) = try await makeScript(.topaz96)
        #expect(await script.send("01 08 00 01 02 03 05") == "timeout")
        #expect(await script.exchange(Frame(hex("01 08 00 \(echo)"))) == "timeout")
        #expect(await script.send("01 08 \(echo)") == "timeout")
        #expect(await script.send("01 08 00 \(echo)") == "08 e1")
    }

    @Test func `Before REQA nothing is answered, and power makes it forget`() async throws {
        let (script, tag) = try await makeScript(.topaz96)
        tag.losePower()
        #expect(await script.send("78 00 00 00 00 00 00") == "timeout")
        // Another short command wakes nothing.
        #expect(await script.exchange(Frame(bits: [0x35], validBitsInLastByte: 7)) == "timeout")
        #expect(await script.send("78 00 00 00 00 00 00") == "timeout")
        let request = Frame(hex("78 00 00 00 00 00 00"), checksum: .crcB)
        #expect(VirtualType1Tag(.topaz96).answer(request, disturbance: nil) == nil)
    }

    @Test func `RID has seven bytes, and its checksum may be the caller's`() async throws {
        let (script, _) = try await makeScript(.topaz96)
        #expect(await script.send("78 00 00") == "timeout")
        let bytes = hex("78 00 00 00 00 00 00")
        let sent = hexText(bytes + CyclicRedundancyCheck.b(bytes).littleEndianBytes)
        let answer = hex("11 48 01 02 03 04")
        #expect(await script.sendRaw(sent) == hexText(answer + CyclicRedundancyCheck.b(answer).littleEndianBytes))
    }

    @Test func `A header may be another one than the product's`() {
        #expect(Type1Contents(.topaz96, memory: [], header: [0x11, 0x49]).header == [0x11, 0x49])
        #expect(Type1Contents(.topaz96, memory: []).header == [0x11, 0x48])
    }

    @Test func `Erasing takes twice the time of programming`() async throws {
        let (script, _) = try await makeScript(.topaz96)
        _ = await script.send("53 10 f0 \(echo)")
        let erase = script.link.statistics.tagWorkTime
        _ = await script.send("1a 10 ff \(echo)")
        #expect(erase.microseconds == 5200)
        #expect((script.link.statistics.tagWorkTime - erase).microseconds == 2600)
    }

    @Test func `A torn write leaves the old byte, the new one, or bits of both`() async throws {
        let (script, tag) = try await makeScript(.topaz96)
        script.field.arm(.tear(duringWrite: 1, leaving: .old))
        #expect(await script.send("53 10 ff \(echo)") == "timeout")
        #expect(tag.contents.memory[16] == 0x00)
        let (next, other) = try await makeScript(.topaz96)
        next.field.arm(.tear(afterWrite: 1))
        #expect(await next.send("53 10 ff \(echo)") == "timeout")
        #expect(other.contents.memory[16] == 0xFF)
    }

    @Test func `READ and WRITE of one byte reach the first 128 bytes`() async throws {
        let (script, tag) = try await makeScript(.topaz512)
        let before = tag.contents
        #expect(await script.send("01 7f 00 \(echo)") == "7f \(hexText(before.memory[127..<128]))")
        for command in ["01 80 00", "53 80 ff", "1a 80 ff"] {
            #expect(await script.send("\(command) \(echo)") == "timeout", "\(command)")
        }
        #expect(tag.contents == before)
    }

    @Test func `A command that a fault refuses is not carried out`() async throws {
        let (script, tag) = try await makeScript(.topaz96)
        let before = tag.contents
        script.field.arm(FaultPlan([Fault(.refusal(5), at: .exchange(1)), Fault(.refusal(5), at: .exchange(2))]))
        #expect(await script.send("01 08 00 \(echo)") == "08 e1")
        #expect(await script.send("01 08 00 \(echo)") == "timeout")
        #expect(await script.send("53 10 f0 \(echo)") == "timeout")
        #expect(tag.contents == before)
        #expect(await script.send("01 08 00 \(echo)") == "08 e1")
    }

    @Test func `A write that a fault refuses is not answered, and leaves the memory as it was`() async throws {
        let (script, tag) = try await makeScript(.topaz96)
        let before = tag.contents
        script.field.arm(FaultPlan([Fault(.refusal(5), at: .write(1))]))
        #expect(await script.send("01 08 00 \(echo)") == "08 e1")
        #expect(await script.send("53 10 f0 \(echo)") == "timeout")
        #expect(tag.contents == before)
        #expect(await script.send("53 10 f0 \(echo)") == "10 f0")
    }

    @Test func `The last lock bit is for block 3F, and no other`() async throws {
        let (script, _) = try await makeScript(.topaz512)
        let data = "01 02 03 04 05 06 07 08"
        #expect(await script.send("1a 7f 80 \(echo)") == "7f 80")
        #expect(await script.send("54 3f \(data) \(echo)") == "timeout")
        #expect(await script.send("1b 3f \(data) \(echo)") == "timeout")
        #expect(await script.send("54 3e \(data) \(echo)") == "3e \(data)")
        #expect(await script.send("1a 7f 40 \(echo)") == "7f c0")
        #expect(await script.send("1b 3e ff ff ff ff ff ff ff ff \(echo)") == "timeout")
        #expect(await script.send("54 3d \(data) \(echo)") == "3d \(data)")
    }

    @Test func `Blocks 0 and D are not written as blocks either, and E and F gain bits alone`() async throws {
        let (script, tag) = try await makeScript(.topaz512)
        let before = tag.contents
        for command in ["54 00", "1b 00", "54 0d", "1b 0d", "54 0f"] {
            #expect(await script.send("\(command) ff ff ff ff ff ff ff ff \(echo)") == "timeout", "\(command)")
        }
        #expect(tag.contents == before)
        for (block, bytes) in [("0e", "00 00 00 00 00 00 81 00"), ("0f", "00 40 00 00 00 00 00 00")] {
            let start = Int(hex(block)[0]) * 8
            let old = tag.contents.memory[start..<start + 8]
            let new = hexText(zip(old, hex(bytes)).map { $0 | $1 })
            #expect(await script.send("1b \(block) \(bytes) \(echo)") == "\(block) \(new)")
            #expect(hexText(tag.contents.memory[start..<start + 8]) == new)
        }
    }
}
