// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Configuration of ST25DV` {
    private static let zero = "00 00 00 00 00 00 00 00"

    private func make(change: (inout Type5Contents) -> Void = { _ in }) throws -> (LinkScript, VirtualType5Tag) {
        var contents = Type5Contents(blank: .st25dv04K)
        change(&contents)
        let tag = VirtualType5Tag(contents)
        return (try LinkScript(.nfcV, tag), tag)
    }

    @Test func `A session is opened by a password of 64 bits, one at a time`() async throws {
        let (script, tag) = try make()
        #expect(await script.send("02 b1 02 00 01 02 03 04 05 06 07 08") == "01 12")
        #expect(await script.send("02 b3 02 00 01 02 03 04 05 06 07 08") == "01 0f")
        #expect(await script.send("02 b3 02 04 \(Self.zero)") == "01 10")
        #expect(await script.send("02 b3 02 00 00") == "01 02")
        #expect(await script.send("02 b3 02 00 \(Self.zero)") == "00")
        #expect(await script.send("02 b1 02 00 01 02 03 04 05 06 07 08") == "00")
        #expect(tag.contents.settings.passwords[0] == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(await script.send("02 a1 02 00 11") == "00")
        #expect(await script.send("02 b3 02 01 \(Self.zero)") == "00")
        #expect(await script.send("02 a1 02 00 12") == "01 12")
        #expect(await script.send("02 a0 02 00") == "00 11")
        #expect(await script.send("02 b3 02 00 01 02 03 04 05 06 07 08") == "00")
        #expect(await script.send("02 a1 02 0f 01") == "00")
        #expect(await script.send("02 a1 02 00 12") == "01 12")
    }

    @Test func `Areas end in order, and keep what their passwords guard`() async throws {
        let (script, _) = try make()
        #expect(await script.send("02 b3 02 00 \(Self.zero)") == "00")
        #expect(await script.send("02 a1 02 05 10") == "01 0f")
        #expect(await script.send("02 a1 02 05 03") == "00")
        #expect(await script.send("02 a1 02 07 03") == "01 0f")
        #expect(await script.send("02 a1 02 07 07") == "00")
        #expect(await script.send("02 a1 02 05 02") == "01 0f")
        // Area 1: writing with password 1. Area 2: both with password 2. Area 3: reading with password 3. Area 4: free.
        #expect(await script.send("02 a1 02 09 0b") == "00")
        #expect(await script.send("02 a1 02 04 09") == "00")
        #expect(await script.send("02 a1 02 06 0a") == "00")
        #expect(await script.send("02 a1 02 08 0f") == "00")
        let data = "01 02 03 04"
        let blocks = ["1f", "20", "40", "60"]
        let reads = ["00 00 00 00 00", "01 15", "01 15", "00 00 00 00 00"]
        for (block, answer) in zip(blocks, reads) {
            #expect(await script.send("02 20 \(block)") == answer, "\(block)")
            let isFree = block == "60"
            #expect(await script.send("02 21 \(block) \(data)") == (isFree ? "00" : "01 12"), "\(block)")
        }
        #expect(await script.send("02 23 1f 01") == "01 15")
        #expect(await script.send("02 c3 02 5f 01") == "01 15")
        #expect(await script.send("02 2c 1f 01") == "00 01 01")
        for (session, block) in [("01", "1f"), ("02", "20")] {
            #expect(await script.send("02 b3 02 \(session) \(Self.zero)") == "00")
            #expect(await script.send("02 21 \(block) \(data)") == "00", "\(block)")
            #expect(await script.send("02 20 \(block)") == "00 \(data)", "\(block)")
        }
        #expect(await script.send("02 b3 02 03 \(Self.zero)") == "00")
        #expect(await script.send("02 20 40") == "00 00 00 00 00")
        #expect(await script.send("02 21 40 \(data)") == "01 12")
        #expect(await script.send("02 20 20") == "01 15")
    }

    @Test func `Messages go through the mailbox one at a time`() async throws {
        let (script, tag) = try make { $0.settings.registers[0x0D] = 0x01 }
        #expect(await script.send("02 ad 02 0d") == "00 00")
        #expect(await script.send("02 aa 02 02 01 02 03") == "01 0f")
        #expect(!tag.putMessage([1]))
        #expect(await script.send("02 ae 02 0d 01") == "00")
        #expect(await script.send("02 ab 02") == "01 0f")
        #expect(await script.send("02 aa 02 02 01 02") == "01 02")
        #expect(await script.send("02 aa 02 02 01 02 03") == "00")
        #expect(await script.send("02 ad 02 0d") == "00 85")
        #expect(await script.send("02 aa 02 00 09") == "01 0f")
        #expect(!tag.putMessage([1]))
        // Who reads its own message has not taken it from the other side.
        #expect(await script.send("02 ac 02 00 02") == "00 01 02 03")
        #expect(await script.send("02 ad 02 0d") == "00 85")
        #expect(tag.takeMessage() == [1, 2, 3])
        #expect(tag.takeMessage() == nil)
        #expect(await script.send("02 cd 02 0d") == "00 81")

        #expect(tag.putMessage([4, 5, 6, 7]))
        #expect(await script.send("02 ad 02 0d") == "00 43")
        #expect(await script.send("02 ab 02") == "00 03")
        #expect(await script.send("02 ac 02 00 01") == "00 04 05")
        #expect(await script.send("02 ca 02 00 09") == "01 0f")
        #expect(await script.send("02 ac 02 02 02") == "01 0f")
        #expect(await script.send("02 cc 02 02 01") == "00 06 07")
        #expect(await script.send("02 ad 02 0d") == "00 41")
        #expect(await script.send("02 ca 02 00 09") == "00")
        #expect(tag.takeMessage() == [9])
        #expect(await script.send("02 ae 02 0d 00") == "00")
        #expect(await script.send("02 ad 02 0d") == "00 00")
    }

    @Test func `Without a supply there is no mailbox, and the register shows it`() async throws {
        let (script, _) = try make {
            $0.settings.registers[0x0D] = 0x01
            $0.settings.isSupplied = false
        }
        #expect(await script.send("02 ae 02 0d 01") == "01 0f")
        #expect(await script.send("02 ad 02 02") == "00 04")
        #expect(await script.send("02 ae 02 02 01") == "00")
        #expect(await script.send("02 ad 02 02") == "00 05")
        #expect(await script.send("02 ad 02 03") == "01 10")
    }

    @Test func `Fast reads have one- and two-byte numbers`() async throws {
        let (script, _) = try make()
        #expect(await script.send("02 c0 02 00") == "00 e1 40 3f 01")
        #expect(await script.send("02 c3 02 00 01") == "00 e1 40 3f 01 03 00 fe 00")
        #expect(await script.send("02 c4 02 7f 00") == "00 00 00 00 00")
        #expect(await script.send("02 c5 02 7e 00 01 00") == "00" + String(repeating: " 00", count: 8))
        #expect(await script.send("02 c5 02 7f 00 01 00") == "01 10")
        #expect(await script.send("02 c5 02 7f 00 01") == "01 02")
    }

    @Test func `A session ends with the power`() async throws {
        let (script, tag) = try make()
        #expect(await script.send("02 b3 02 00 \(Self.zero)") == "00")
        tag.losePower()
        #expect(await script.send("02 a1 02 00 11") == "01 12")
        #expect(await script.send("02 b3 02 00 \(Self.zero)") == "00")
        #expect(await script.send("02 a1 02 00 11") == "00")
    }

    @Test func `A wrong password ends the session, and none opens an area without a password`() async throws {
        let (script, tag) = try make { $0.settings.registers[4] = 0x04 }
        #expect(await script.send("02 b3 02 00 \(Self.zero)") == "00")
        #expect(await script.send("02 21 04 01 02 03 04") == "01 12")
        #expect(await script.send("02 b3 02 00 01 02 03 04 05 06 07 08") == "01 0f")
        #expect(await script.send("02 a1 02 00 11") == "01 12")
        #expect(await script.send("02 b1 02 00 01 02 03 04 05 06 07 08") == "01 12")
        #expect(tag.contents.settings.passwords[0] == hex(Self.zero))
    }

    @Test func `Each register keeps its own bits`() async throws {
        let (script, _) = try make()
        #expect(await script.send("02 b3 02 00 \(Self.zero)") == "00")
        // An area may end with the memory though the one before it does so as well.
        #expect(await script.send("02 a1 02 07 0f") == "00")
        let registers = [
            ("00", "ff", "ff"), ("01", "ff", "07"), ("02", "ff", "01"), ("03", "ff", "03"), ("04", "ff", "0f"),
            ("06", "ff", "0f"), ("08", "ff", "0f"), ("0a", "ff", "0f"), ("0d", "ff", "01"), ("0e", "ff", "07"),
            ("0f", "fe", "00"),
        ]
        for (pointer, value, kept) in registers {
            #expect(await script.send("02 a1 02 \(pointer) \(value)") == "00", "\(pointer)")
            #expect(await script.send("02 a0 02 \(pointer)") == "00 \(kept)", "\(pointer)")
        }
        for pointer in ["0b", "0c", "10"] {
            #expect(await script.send("02 a1 02 \(pointer) 00") == "01 10", "\(pointer)")
        }
    }

    @Test func `The dynamic registers, and MANAGE GPO`() async throws {
        let (script, tag) = try make()
        #expect(await script.send("02 ad 02 00") == "00 88")
        #expect(await script.send("02 a9 02 80") == "00")
        #expect(await script.send("02 a9 02") == "01 02")
        // Only one bit switches energy harvesting, and it is off again after a loss of power.
        #expect(await script.send("02 ae 02 02 01") == "00")
        #expect(await script.send("02 ad 02 02") == "00 0d")
        #expect(await script.send("02 ae 02 02 fe") == "00")
        #expect(await script.send("02 ad 02 02") == "00 0c")
        #expect(await script.send("02 ae 02 02 01") == "00")
        tag.losePower()
        #expect(await script.send("02 ad 02 02") == "00 0c")
    }

    @Test(arguments: [
        "a0 02", "a0 02 00 00", "a1 02 00", "a1 02 00 00 00", "a9 02 00 00", "ab 02 00", "ac 02 00", "ac 02 00 00 00",
        "ad 02", "ad 02 00 00", "ae 02 02", "ae 02 02 01 00",
    ])
    func `A command with other parameters than its own is refused, and changes nothing`(command: String) async throws {
        let (script, tag) = try make()
        let before = tag.contents
        #expect(await script.send("02 \(command)") == "01 02")
        #expect(tag.contents == before)
        // Energy harvesting is still off.
        #expect(await script.send("02 ad 02 02") == "00 0c")
    }

    @Test func `A message stays when the mailbox is switched on again and while the chip has a supply`() async throws {
        let (script, tag) = try make { $0.settings.registers[0x0D] = 0x01 }
        #expect(await script.send("02 ae 02 0d 01") == "00")
        #expect(await script.send("02 aa 02 01 07 08") == "00")
        #expect(await script.send("02 ae 02 0d 01") == "00")
        #expect(await script.send("02 ad 02 0d") == "00 85")
        tag.losePower()
        #expect(await script.send("02 ad 02 0d") == "00 85")
        #expect(tag.takeMessage() == [7, 8])
    }

    @Test func `A message has 1 to 256 bytes`() async throws {
        let (script, tag) = try make { $0.settings.registers[0x0D] = 0x01 }
        #expect(await script.send("02 ae 02 0d 01") == "00")
        #expect(!tag.putMessage([]))
        #expect(!tag.putMessage(Array(repeating: 9, count: 257)))
        #expect(await script.send("02 ab 02") == "01 0f")
        #expect(tag.putMessage(Array(repeating: 9, count: 256)))
        #expect(await script.send("02 ab 02") == "00 ff")
        #expect(await script.send("02 ac 02 00 ff") == "00" + String(repeating: " 09", count: 256))
        #expect(tag.putMessage([1]))
    }

    @Test(arguments: ["a1 02 00 11", "b1 02 00 01 02 03 04 05 06 07 08", "22 00"], [true, false])
    func `A power cut leaves the old state or the new one`(request: String, isOld: Bool) async throws {
        let (script, tag) = try make()
        #expect(await script.send("02 b3 02 00 \(Self.zero)") == "00")
        let before = tag.contents
        let start = script.link.statistics.tagWorkTime
        script.field.arm(.tear(duringWrite: 1, leaving: isOld ? .old : .new))
        #expect(await script.send("02 \(request)") == "timeout")
        #expect((tag.contents == before) == isOld)
        // Each of them programs one block.
        let time = script.link.statistics.tagWorkTime - start
        #expect(time >= .milliseconds(5) && time < .milliseconds(6))
    }

    @Test func `The registers of a new tag`() async throws {
        let (script, _) = try make()
        let registers = [
            ("00", "88"), ("01", "03"), ("02", "01"), ("03", "00"), ("04", "00"), ("05", "0f"), ("06", "00"),
            ("07", "0f"), ("08", "00"), ("09", "0f"), ("0a", "00"), ("0c", "00"), ("0d", "00"), ("0e", "07"),
            ("0f", "00"),
        ]
        for (pointer, value) in registers {
            #expect(await script.send("02 a0 02 \(pointer)") == "00 \(value)", "\(pointer)")
        }
    }

    @Test func `Several blocks of which one is locked are not written at all`() async throws {
        let (script, tag) = try make()
        #expect(await script.send("02 22 01") == "00")
        let before = tag.contents
        let data = "11 12 13 14 15 16 17 18"
        for first in ["00", "01"] {
            #expect(await script.send("02 24 \(first) 01 \(data)") == "01 12", "\(first)")
            #expect(tag.contents == before)
        }
        #expect(await script.send("02 24 02 01 \(data)") == "00")
        #expect(hexText(tag.contents.memory[8..<16]) == data)
    }
}
