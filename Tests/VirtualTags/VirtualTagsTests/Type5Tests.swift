// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Type 5 tags of all products (ISO/IEC 15693-3, NFC Forum T5T).
struct Type5Tests {
    /// Product, its capability container, the rest of its system information, and the UID as a reader gets it.
    static let products = """
        ICODE SLIX  | e1 40 0d 01             | 0f UID 00 00 1b 03 01 | 44 33 22 11 10 01 04 e0
        ICODE SLIX2 | e1 40 27 01             | 0f UID 00 00 4f 03 01 | 44 33 22 11 08 01 04 e0
        ICODE DNA   | e1 40 1f 01             | 0f UID 00 00 3f 03 01 | 44 33 22 11 18 01 04 e0
        ICODE SLIX-S | e1 40 13 01            | 0f UID 00 00 27 03 02 | 44 33 22 11 10 02 04 e0
        ICODE SLIX-L | e1 40 03 01            | 0f UID 00 00 07 03 03 | 44 33 22 11 10 03 04 e0
        ST25TV512   | e1 40 07 01             | 0f UID 00 00 0f 03 23 | 44 33 22 11 00 23 02 e0
        ST25TV02K   | e1 40 1f 01             | 0f UID 00 00 3f 03 23 | 44 33 22 11 00 23 02 e0
        ST25DV04K   | e1 40 3f 01             | 0f UID 00 00 7f 03 24 | 44 33 22 11 00 24 02 e0
        ST25DV16K   | e2 40 00 01 00 00 00 ff | 0b UID 00 00 26       | 44 33 22 11 00 26 02 e0
        ST25DV64K   | e2 40 00 01 00 00 03 ff | 0b UID 00 00 26       | 44 33 22 11 00 26 02 e0
        """

    @Test func `Type 5 product: UID, container and system information are those of its data sheet`() async throws {
        #expect(Self.products.split(separator: "\n").count == Type5Product.all.count)
        for row in Self.products.split(separator: "\n") {
            let cells = row.split(separator: "|").map { $0.trimmingSpaces() }
            let product = try #require(Type5Product.all.first { $0.name == cells[0] })
            var contents = Type5Contents(blank: product)
            let whole = contents.memory
            #expect(hexText(contents.uid.reversed()) == cells[3])
            #expect(whole.count == product.dataBlockCount * product.blockSize)
            contents.memory.removeLast(whole.count - 12)
            #expect(VirtualType5Tag(contents).contents.memory == whole, "A short memory is filled with zeros.")
            let start = cells[1].hasPrefix("e1") ? cells[1] + " 03 00 fe 00" : cells[1]
            try await play("== \(cells[0])\n02 23 00 01 -> 00 \(start); 02 2b -> 00 \(cells[2])") { _ in
                try type5(cells[0])
            }
        }
    }

    @Test func `Type 5 request: only an addressed, selected or ready tag answers, a quiet one if it is addressed`()
        async throws
    {
        try await play(
            """
            == To all, to one by its UID, or to the selected one
            22 20 UID 00 -> 00 e1 40 0d 01; 22 20 45 33 22 11 10 01 04 e0 00 -> -; 12 20 00 -> -; 22 25 UID -> 00
            12 20 00 -> 00 e1 40 0d 01; 32 20 UID 00 -> -; 22 25 45 33 22 11 10 01 04 -> -; 12 20 00 -> 00 e1 40 0d 01
            22 25 45 33 22 11 10 01 04 e0 -> -; 12 20 00 -> -; 02 25 -> -
            == STAY QUIET: only addressed requests are answered, until RESET TO READY or a loss of power
            02 02 -> -; 02 20 00 -> 00 e1 40 0d 01; 22 02 UID -> -; 02 20 00 -> -; 26 01 00 -> -
            22 20 UID 00 -> 00 e1 40 0d 01; 22 25 45 33 22 11 10 01 04 e0 -> -; 26 01 00 -> -; 22 26 UID -> 00
            26 01 00 -> 00 00 UID; 22 02 UID -> -; power; 26 01 00 -> 00 00 UID
            == A selection ends with RESET TO READY, STAY QUIET and the power
            22 25 UID -> 00; 22 26 UID -> 00; 12 20 00 -> -; 02 20 00 -> 00 e1 40 0d 01; 22 25 UID -> 00
            22 02 UID -> -; 12 20 00 -> -; 02 20 00 -> -; 26 01 00 -> -; 22 25 UID -> 00; 12 20 00 -> 00 e1 40 0d 01
            power; 12 20 00 -> -; 26 01 00 -> 00 00 UID
            ** Damaged frames, later protocols and commands of another manufacturer are not answered
            raw 02 20 00 00 00 -> -
            0a 20 00 -> -
            02 -> -
            02 b2 02 -> -
            26 20 00 -> -
            22 20 01 -> -
            ** Codes A0 to DF belong to manufacturers, and no others do
            02 9f 02 -> 01 01
            02 a0 02 -> -
            02 df 02 -> -
            02 e0 02 -> 01 01
            """
        ) { try type5($0) }
    }

    @Test func `Type 5 inventory: mask, family and slots choose who answers`() async throws {
        try await play(
            """
            == The mask has the lowest bits of the UID, and nothing behind it
            26 01 08 44 -> 00 00 UID; 26 01 08 45 -> -; 26 01 04 04 -> 00 00 UID; 26 01 40 UID -> 00 00 UID
            26 01 41 UID 00 -> -; 26 01 08 -> -; 26 01 00 -> 00 00 UID; 26 01 00 00 -> -
            == A family of 0 in either half stands for all (ISO/IEC 15693-3, 7.3.2)
            36 01 21 00 -> -; 22 27 UID 21 -> 00; 36 01 21 00 -> 00 00 UID; 36 01 20 00 -> 00 00 UID
            36 01 01 00 -> 00 00 UID; 36 01 00 00 -> 00 00 UID; 36 01 22 00 -> -; 36 01 10 00 -> -
            == Sixteen slots: the tag answers in that of its UID, once
            06 01 00 -> -; end 4 -> 00 00 UID; end 12 -> -
            == A mask of 60 bits leaves the last four for the slot, and one of 64 leaves none
            06 01 3c 44 33 22 11 10 01 04 00 -> -; end 14 -> 00 00 UID; 06 01 40 UID -> -; end 15 -> -
            == Another request ends the inventory, and so does a loss of power
            06 01 04 04 -> -; end 4 -> 00 00 UID; 06 01 04 04 -> -; 22 20 UID 00 -> ?; end 15 -> -; 06 01 00 -> -
            power; end 15 -> -
            """
        ) { try type5($0) }
        let other = "51 33 22 11 10 01 04 e0"
        try await play(
            """
            == Two tags answer in their own slots
            06 01 00 -> -; end -> 00 00 OTHER; end 3 -> 00 00 UID; end 12 -> -
            """
        ) { _ in
            try type5(.init(.icodeSLIX), beside: .init(.icodeSLIX, uid: Array(hex(other).reversed())))
        }
    }

    @Test func `Type 5 option flag: reads carry the security status, and a write is answered after the next EOF`()
        async throws
    {
        try await play(
            """
            == Security bytes with the blocks
            02 22 02 -> 00; 42 20 02 -> 00 01 00*4; 42 23 01 01 -> 00 00 03 00 fe 00 01 00*4
            == A write waits for the end of a frame, and counts once
            42 21 03 01 02 03 04 -> -; block 03 -> 01 02 03 04; writes -> 1; end -> 00; end -> -; writes -> 1
            02 22 02 -> 00; 42 21 02 01 02 03 04 -> 01 12
            == The next command and a loss of power forget the answer that waits
            42 21 03 01 02 03 04 -> -; 02 20 03 -> 00 01 02 03 04; end -> -; 42 21 03 01 02 03 04 -> -; power
            end -> -
            """
        ) { try type5($0) }
    }

    @Test func `Type 5 refusal: wrong lengths, blocks and states get their code and change nothing`() async throws {
        let slix = """
            20 1c 10 | 20 02 | 20 00 00 02 | 21 1c 00 00 00 00 10 | 21 00 00 00 00 02 | 23 00 1c 10 | 2c 1b 01 10
            24 00 00 00 00 00 00 01 | 30 00 00 01 | 22 1c 10 | 27 02 | 2b 00 02 | 3b 00 01 | 7f 01 | a7 04 00 00 01
            ab 04 01 | bd 04 01 | b6 04 00 00 01 | b9 04 00 00 00 00 01 | ba 04 00 00 00 00 01 | a6 04 0f | 2c 1c 00 10
            b5 04 10 0f | b4 04 10 00 00 00 00 0f | b2 04 00 02 | b3 04 10 02
            """
        let slix2 = """
            ab 04 00 02 | bd 04 00 02 | b2 04 00 02 | b4 04 10 00 00 00 02 | b5 04 02 | b6 04 00 02 | b7 04 02
            b7 04 00 00 02 | bb 04 00 02 | b9 04 00 00 00 02 | ba 04 00 00 00 02 | a2 04 00 02 | a6 04 00 02
            a7 04 00 02 | 22 00 00 02 | 28 00 02 | b6 04 28 21 0f | b7 04 00 0f | bb 04 0f
            """
        let st25dv = """
            a0 02 02 | a0 02 00 00 02 | a1 02 00 02 | a1 02 00 00 00 02 | a9 02 00 00 02 | ab 02 00 02 | ac 02 00 02
            ac 02 00 00 00 02 | ad 02 02 | ad 02 00 00 02 | ae 02 02 02 | ae 02 02 01 00 02 | a9 02 02
            a0 02 10 10 | a1 02 00 00 12 | ad 02 03 10 | 22 02 10 | c5 02 7f 00 01 00 10 | c5 02 7f 00 01 02
            """
        for (product, rows) in [("ICODE SLIX", slix), ("ICODE SLIX2", slix2), ("ST25DV04K", st25dv)] {
            for row in rows.split(whereSeparator: { "|\n".contains($0) }).map({ $0.trimmingSpaces() }) {
                let step = "mark; 02 \(row.dropLast(3)) -> 01 \(row.suffix(2)); changed -> no"
                try await type5(product).check(step, "\(product)")
            }
        }
    }

    @Test func `Type 5 locks: blocks, DSFID and AFI are locked for good`() async throws {
        try await play(
            """
            == ICODE SLIX locks any block
            02 22 05 -> 00; 02 22 05 -> 01 11; 02 21 05 00*4 -> 01 12; 02 2c 04 02 -> 00 00 01 00
            02 2c 1b 00 -> 00 00; 02 29 ab -> 00; 02 2a -> 00; 02 2a -> 01 11; 02 29 00 -> 01 12; 02 28 -> 00
            02 27 00 -> 01 12; 02 2b -> 00 0f UID ab 00 1b 03 01
            == ST25DV locks its first two blocks alone
            tag ST25DV64K
            02 22 01 -> 00; 02 22 02 -> 01 10; 02 2c 00 02 -> 00 00 01 00
            == ST25DV reports the lock in its register
            tag ST25DV04K
            02 a0 02 0c -> 00 00; 02 22 00 -> 00; 02 a0 02 0c -> 00 01; 02 3c 00 00 01 00 -> 00 01 00
            == Several blocks of which one is locked are not written at all
            tag ST25DV04K
            02 22 01 -> 00; mark; 02 24 00 01 11*8 -> 01 12; 02 24 01 01 11*8 -> 01 12; changed -> no
            02 24 02 01 11*8 -> 00; block 02 -> 11*4; block 03 -> 11*4
            """
        ) { try type5($0) }
        // The flags of other programs' files.
        #expect(
            Type5Contents.blocks(lockedBy: [0, 1, 0, 0xFF]) == [1, 3] && Type5Contents.blocks(lockedBy: []).isEmpty
        )
    }

    @Test func `Type 5 generic tag: its size decides on container, read limit and extended commands`() async throws {
        try await play(
            """
            == Blocks of eight bytes, and at most 32 in an answer
            tag generic Type 5; size = 8; limit = 32
            02 20 00 -> 00 e1 40 3f 01 03 00 fe 00; 02 23 00 1f -> #257; 02 23 00 20 -> 01 0f
            02 21 01 01 02 03 04 -> 01 02
            == 16 blocks have no extended commands
            tag generic Type 5; blocks = 16
            02 20 00 -> #5; 02 30 00 00 -> 01 01
            == 256 blocks: a container of four bytes, and no extended commands
            tag generic Type 5; blocks = 256
            02 23 00 01 -> 00 e1 40 7f 01 03 00 fe 00; 02 30 00 00 -> 01 01; 02 2b -> 00 0f UID 00 00 ff 03 00
            == 257 blocks: a container of eight bytes, and the size in the extended information alone
            tag generic Type 5; blocks = 257
            02 23 00 01 -> 00 e2 40 00 01 00 00 00 7f; 02 30 00 00 -> #5; 02 2b -> 00 0b UID 00 00 00
            02 3b 3f -> 00 3f UID 00 00 00 01 03 00 ff 3f 3f 00
            == More than 2040 bytes: a container of eight bytes
            tag generic Type 5; blocks = 256; size = 32
            02 20 00 -> 00 e1 40 00 01 00 00 03 ff 03 00 fe 00*21
            == 65536 blocks
            tag generic Type 5; blocks = 65536
            02 23 00 01 -> 00 e2 40 00 01 00 00 7f ff; 02 30 ff ff -> 00 00*4; 02 3b 04 -> 00 04 UID ff ff 03
            """
        ) { try type5($0) }
    }

    @Test func `Type 5 write: takes its time in steps of 4096 carrier periods, one for each block`() async throws {
        for count in 1...4 {
            let tag = VirtualType5Tag(.st25dv04K)
            let script = try LinkScript(.nfcV, tag)
            let data = [UInt8](repeating: 0x77, count: 4 * count)
            #expect(await script.send("02 24 10 \(hexText([UInt8(count - 1)])) \(hexText(data))") == "00")
            #expect(Array(tag.contents.memory[64..<(64 + 4 * count)]) == data)
            let time = script.link.statistics.tagWorkTime
            let least = Airtime.milliseconds(5) * count
            #expect(time >= least && time < least + Airtime(carrierPeriods: 4096) && time.carrierPeriods % 4096 == 0)
        }
    }

    @Test func `Type 5 faults: a refusal has its error code, and a torn block is old or new`() async throws {
        try await play(
            """
            == Refusals of an exchange and of a write, and a power cut
            arm write 1 refuse 13 + write 2 tear old + exchange 0 refuse 0f; 02 20 00 -> 01 0f; 02 21 04 ff*4 -> 01 13
            02 21 04 ff*4 -> -; block 04 -> 00*4; arm none; bring; 02 21 04 ff*4 -> 00; block 04 -> ff*4
            """
        ) { try type5($0) }
    }
}
