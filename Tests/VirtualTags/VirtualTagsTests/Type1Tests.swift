// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Type 1 tags (NFC Forum T1T; Broadcom Topaz 512).
struct Type1Tests {
    /// A tag that has answered REQA. `ECHO` is the UID at the end of each command.
    private func make(_ text: String) async throws -> Stage {
        let line = TagLine(text, otherwise: "Topaz 512")
        let tag = VirtualType1Tag(try #require(Type1Product(named: line.name)))
        let before = tag.contents
        let verbs: [String: Stage.Verb] = [
            "byte": { hexText([tag.contents.memory[Int(hex($0)[0])]]) },
            "changed": { _ in tag.contents == before ? "no" : "yes" },
        ]
        let stage = try Stage(.nfcA, [tag], checksum: .crcB, names: ["ECHO": "01 02 03 04"], verbs: verbs)
        try await stage.check("26' -> 00 0c")
        return stage
    }

    @Test func `Type 1 commands: reads and writes are answered within the memory that they reach, and not beyond`()
        async throws
    {
        try await play(
            """
            == RID and RALL of static memory (T1T, 5.5)
            tag Topaz 96
            78 00*6 -> 11 48 ECHO; 00 00 00 ECHO -> 11 48 ..; 00 00 00 ECHO -> #122; 78 00 00 -> -
            == RID and RALL of dynamic memory
            78 00*6 -> 12 4c ECHO; 00 00 00 ECHO -> 12 4c 01 02 03 04 05 06 ..; 00 00 00 ECHO -> #122
            == READ, WRITE-E and WRITE-NE work on one byte
            tag Topaz 96
            01 08 00 ECHO -> 08 e1; 53 10 f0 ECHO -> 10 f0; 1a 10 0f ECHO -> 10 ff; 53 10 12 ECHO -> 10 12
            01 10 00 ECHO -> 10 12
            == READ and WRITE of one byte reach the first 128 bytes
            01 7f 00 ECHO -> 7f 00; 01 80 00 ECHO -> -; 53 80 ff ECHO -> -; 1a 80 ff ECHO -> -; changed -> no
            == Static memory has neither segments nor blocks of eight
            tag Topaz 96
            10 00 00*8 ECHO -> -; 02 01 00*8 ECHO -> -; 54 01 00*8 ECHO -> -; 1b 01 00*8 ECHO -> -; 01 78 00 ECHO -> -
            == RSEG, READ8, WRITE-E8 and WRITE-NE8 work on dynamic memory
            10 00 00*8 ECHO -> 00 01 02 03 04 05 06 ..; 10 00 00*8 ECHO -> #129; 10 10 00*8 ECHO -> 10 00*128
            02 01 00*8 ECHO -> 01 e1 10 3f 00 01 03 f2 30
            54 3f 01 02 03 04 05 06 07 08 ECHO -> 3f 01 02 03 04 05 06 07 08
            1b 3f 10 20 00*6 ECHO -> 3f 11 22 03 04 05 06 07 08
            == Behind the end everything is answered, and nothing stays
            02 40 00*8 ECHO -> 40 00*8; 10 40 00*8 ECHO -> #129; 54 40 01*8 ECHO -> 40 00*8
            1b ff 01*8 ECHO -> ff 00*8; changed -> no
            == Another UID, CRC_A or a wrong length is not answered
            01 08 00 01 02 03 05 -> -; raw 01 08 00 ECHO 00 00 -> -; 01 08 ECHO -> -; 01 08 00 ECHO -> 08 e1
            == Before REQA nothing is answered, and another short frame wakes nothing
            power; 78 00*6 -> -; 35' -> -; 78 00*6 -> -; 26' -> 00 0c; 78 00*6 -> 12 4c ECHO
            """,
            on: make
        )
    }

    @Test func `Type 1 locks: header, UID and lock blocks can't be erased, and lock bits bar their blocks`()
        async throws
    {
        try await play(
            """
            == Blocks 0 and D are never written, E and F never erased (Topaz 512, 4)
            53 00 ff ECHO -> -; 1a 00 ff ECHO -> -; 53 68 ff ECHO -> -; 1a 68 ff ECHO -> -; 53 70 00 ECHO -> -
            53 78 00 ECHO -> -; 54 00 ff*8 ECHO -> -; 1b 00 ff*8 ECHO -> -; 54 0d ff*8 ECHO -> -; 1b 0d ff*8 ECHO -> -
            54 0e 00*8 ECHO -> -; 54 0f ff*8 ECHO -> -; changed -> no; 1a 72 81 ECHO -> 72 81; 1a 72 02 ECHO -> 72 83
            == Blocks E and F gain bits alone
            1b 0e 00*6 81 00 ECHO -> 0e 01 60 00*4 81 00; byte 76 -> 81; 1b 0f 00 40 00*6 ECHO -> 0f 00 40 00*6
            1b 0f 01 00*7 ECHO -> 0f 01 40 00*6
            == Lock bits bar their blocks for good
            1a 70 04 ECHO -> 70 05; 53 10 ff ECHO -> -; 53 18 ff ECHO -> 18 ff; 1a 71 10 ECHO -> 71 70
            53 60 ff ECHO -> -; 1a 7a 02 ECHO -> 7a 02; 54 11 00*8 ECHO -> -; 54 10 00*8 ECHO -> 10 00*8
            == The last lock bit is for block 3F
            1a 7f 80 ECHO -> 7f 80; 54 3f 01*8 ECHO -> -; 1b 3f 01*8 ECHO -> -; 54 3e 01*8 ECHO -> 3e 01*8
            1a 7f 40 ECHO -> 7f c0; 1b 3e ff*8 ECHO -> -; 54 3d 01*8 ECHO -> 3d 01*8
            == A write with erase takes twice the time of one without
            work -> 0; 53 10 f0 ECHO -> 10 f0; work -> 5200; 1a 10 ff ECHO -> 10 ff; work -> 2600
            == A torn write leaves the old byte or the new one
            tag Topaz 96
            arm write 1 tear old; 53 10 ff ECHO -> -; byte 10 -> 00
            tag Topaz 96
            arm write 1 tear new; 53 10 ff ECHO -> -; byte 10 -> ff
            == A fault refuses a command by silence, and nothing is written
            arm exchange 1 refuse 05 + exchange 2 refuse 05; 01 08 00 ECHO -> 08 e1; 01 08 00 ECHO -> -
            53 10 f0 ECHO -> -; changed -> no; 01 08 00 ECHO -> 08 e1; arm write 1 refuse 05; 01 08 00 ECHO -> 08 e1
            53 10 f0 ECHO -> -; changed -> no; 53 10 f0 ECHO -> 10 f0
            """,
            on: make
        )
    }
}
