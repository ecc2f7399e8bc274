// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// ST's commands of ST25TV (DS11489) and ST25DV (DS10925).
struct ST25Tests {
    // MARK: ST25TV

    /// An ST25TV02K with the passwords 01…, 02…, 03… and 04….
    private func tv(_ text: String) throws -> Stage {
        let passwords = (0..<4).map { "; password \($0) = " + String(repeating: "0\($0 + 1)", count: 4) }.joined()
        return try type5("ST25TV02K" + passwords + "; " + text)
    }

    @Test func `ST25TV passwords: registers, areas, KILL and untraceable mode need their own password each`()
        async throws
    {
        try await play(
            """
            == Registers are read by all, and written in a session until they are locked (5.2)
            02 a0 02 00 -> 00 00; 02 a0 02 04 -> 00 00 00; 02 a0 02 05 -> 00 01; 02 a0 02 08 -> 01 10
            02 a1 02 00 01 -> 01 12; present 03 04 04 04 05 -> 01 0f; 02 a1 02 00 01 -> 01 12
            present 03 04 04 04 04 -> 00; 02 a1 02 04 00 -> 01 10; 02 a1 02 05 00 -> 01 10; 02 a1 02 07 00 -> 01 10
            02 a1 02 08 00 -> 01 10; 02 a1 02 00 ff -> 00; 02 a0 02 00 -> 00 07; 02 a1 02 01 ff -> 00
            02 a0 02 01 -> 00 03; 02 a1 02 02 ff -> 00; 02 a0 02 02 -> 00 01; 02 a1 02 03 fd -> 00
            02 a0 02 03 -> 00 01; 02 a1 02 06 fe -> 00; 02 a0 02 06 -> 00 00; 02 a1 02 06 01 -> 00
            02 a1 02 00 00 -> 01 12
            == One area has a password of 64 bits, and block 0 none (5.3)
            tag register 0 = 02
            02 20 00 -> 00 e1 40 1f 01; 02 20 01 -> 01 15; 02 23 00 01 -> 01 15; 02 21 3f 00*4 -> 01 12
            present 01 02 02 02 02 -> 01 02; present 01 02 02 02 02 03 03 03 03 -> 00
            02 23 00 3f -> 00 e1 40 1f 01 ..; 02 21 3f 00*4 -> 00; 02 b1 02 02 09 09 09 09 -> 00
            password 02 -> 09 09 09 09
            == Two areas have a password each
            tag register 0 = 05; register 1 = 03
            02 20 1f -> 00 00*4; 02 21 1f 01 02 03 04 -> 01 12; 02 20 20 -> 01 15; present 01 02 02 02 02 -> 00
            02 21 1f 01 02 03 04 -> 00; 02 20 20 -> 01 15; present 02 03 03 03 03 -> 00; 02 20 20 -> 00 00*4
            02 21 20 01 02 03 04 -> 01 12; 02 b1 02 01 00*4 -> 01 12
            == There are four passwords, and that for KILL is changed in its own session
            present 04 01 01 01 01 -> 01 10; 02 b1 02 04 09 09 09 09 -> 01 10; 02 b1 02 00 09 09 09 09 -> 01 12
            present 00 01 01 01 01 -> 00; 02 b1 02 00 09 09 09 09 -> 00; password 00 -> 09 09 09 09
            == KILL: with its password and without the option flag, and never again an answer
            cover 02 a6 02 00 / 01 01 01 00 -> 01 0f; cover 42 a6 02 00 / 01 01 01 01 -> 01 03; 02 b2 02 00 01 -> 00
            02 b2 02 00 01 -> 01 11; present 00 01 01 01 01 -> 00; 02 b1 02 00 00*4 -> 01 12
            cover 02 a6 02 00 / 01 01 01 01 -> 00; power; 26 01 00 -> -
            == KILL and its relatives take the right parameters alone
            mark; cover 02 a6 02 01 / 01 01 01 01 -> 01 02; cover 02 ba 02 01 / 01 01 01 01 -> 01 02
            02 b2 02 00 00 -> 01 02; 02 b2 02 01 01 -> 01 02; 02 b2 02 00 -> 01 02; changed -> no
            == Untraceable mode: silence until its own password is given
            cover 02 ba 02 00 / 01 01 01 01 -> 00; power; 26 01 00 -> -; 02 20 00 -> -; present 03 04 04 04 04 -> 00
            02 20 00 -> -; present 00 01 01 01 02 -> 01 0f; 02 20 00 -> -; present 00 01 01 01 01 -> 00
            02 20 00 -> 00 e1 40 1f 01
            """,
            on: tv
        )
        // A wrong password ends the session, and that of an area opens no other one.
        let requests = ["02 a2 02", "02 a3 02", "02 a7 02 34 12", "02 a8 02 01", "02 21 f8 41 42 43 44", "02 a4 02"]
        func all(_ answer: String) -> String { requests.map { "\($0) -> \(answer)" }.joined(separator: "; ") }
        try await play(
            """
            == Session
            tag register 2 = 01
            mark; present 03 04 04 04 04 -> 00; present 01 02 02 02 02 03 03 03 03 -> 00; \(all("01 12"))
            changed -> no; present 03 04 04 04 04 -> 00; present 03 00*4 -> 01 0f; \(all("01 12"))
            02 a1 02 00 01 -> 01 12; changed -> no; present 03 04 04 04 04 -> 00; \(all("00"))
            """,
            on: tv
        )
    }

    @Test func `ST25TV counter: counts the first write after each power-up, up to FFFF`() async throws {
        try await play(
            """
            == Once while there is power, and reset by its register
            tag register 3 = 01
            02 21 05 01*4 -> 00; 02 21 05 01*4 -> 00; power; 02 21 05 01*4 -> 00; 02 a0 02 04 -> 00 02 00
            present 03 04 04 04 04 -> 00; 02 a1 02 03 03 -> 00; 02 a0 02 04 -> 00 00 00; 02 a0 02 03 -> 00 00
            == Stays at FFFF
            tag register 3 = 01; counter = fe ff
            02 21 05 01*4 -> 00; 02 a0 02 04 -> 00 ff ff; power; 02 21 05 01*4 -> 00; 02 a0 02 04 -> 00 ff ff
            == Neither a refused write nor one without the counter counts
            tag register 0 = 01; register 3 = 01
            02 21 05 01*4 -> 01 12; 02 a0 02 04 -> 00 00 00; 02 21 00 01*4 -> 00; 02 a0 02 04 -> 00 01 00
            """,
            on: tv
        )
    }

    @Test func `ST25TV EAS and inventory: telegram, identifier, INITIATE and INVENTORY READ are answered`() async throws
    {
        try await play(
            """
            == SET, RESET and LOCK EAS, and the telegram or the identifier (6.4.26 to 6.4.30)
            02 a5 02 -> -; 02 a2 02 -> 00; 42 a5 02 -> 00 00 00; 02 a3 02 -> 00; 02 a5 02 -> -; 02 a2 02 -> 00
            02 21 f8 41 42 43 44 -> 00; 02 20 f8 -> 01 10; 02 a8 02 03 -> 00; 02 a5 02 -> 00 41 42 43 44
            02 a7 02 34 12 -> 00; 42 a5 02 -> 00 34 12; 02 a4 02 -> 00; 02 a3 02 -> 01 12; 02 a7 02 00 00 -> 01 12
            02 21 f8 00*4 -> 01 12; 02 a5 02 -> 00 41 42 43 44
            == The telegram has the blocks F8 to FF
            02 a2 02 -> 00; 02 21 f8 01*4 -> 00; 02 21 f9 02*4 -> 00; 02 21 fe 07*4 -> 00; 02 21 ff 08*4 -> 00
            02 21 f7 01*4 -> 01 10; 02 a5 02 -> 00 01*4 02*4 00*16 07*4 08*4
            ** The lowest two bits choose the length of the telegram
            02 a2 02 -> 00; 02 a8 02 00 -> 00; 02 a5 02 -> #33
            02 a2 02 -> 00; 02 a8 02 01 -> 00; 02 a5 02 -> #17
            02 a2 02 -> 00; 02 a8 02 02 -> 00; 02 a5 02 -> #9
            02 a2 02 -> 00; 02 a8 02 03 -> 00; 02 a5 02 -> #5
            == Fast reads and INVENTORY READ
            02 c0 02 00 -> 00 e1 40 1f 01; 42 c3 02 00 01 -> 00 00 e1 40 1f 01 00 03 00 fe 00; 02 c4 02 00 00 -> 01 01
            26 d3 02 00 00 01 -> 00 e1 40 1f 01 03 00 fe 00; 66 d3 02 00 00 00 -> 00 UID e1 40 1f 01
            26 d4 02 00 00 01 -> 00 e1 40 1f 01 03 00 fe 00; 66 d4 02 00 00 00 -> 00 UID e1 40 1f 01
            26 d3 02 80 12 -> -; 26 d3 02 00 40 00 -> -
            ** INITIATE opens the inventory of initiated tags until the power goes, fast or not
            02 d2 02 00 -> 01 02; 26 d1 02 00 -> -; 02 d2 02 -> 00 00 UID; 26 d1 02 00 -> 00 00 UID; power; 26 d1 02 00 -> -
            02 c2 02 00 -> 01 02; 26 c1 02 00 -> -; 02 c2 02 -> 00 00 UID; 26 c1 02 00 -> 00 00 UID; power; 26 c1 02 00 -> -
            """,
            on: tv
        )
    }

    @Test func `ST25TV power cut: a command that writes leaves the old state or the new one`() async throws {
        try await expectTearing(
            """
            02 a1 02 00 07
            02 a2 02
            cover 02 a6 02 00 / 01 01 01 01
            02 a8 02 01
            02 b1 02 03 09 09 09 09
            cover 02 ba 02 00 / 01 01 01 01
            02 21 05 01 02 03 04
            02 21 f8 41 42 43 44
            02 29 55
            """,
            milliseconds: 5..<6
        ) {
            let stage = try tv("register 3 = 01")
            try await stage.check("present 03 04 04 04 04 -> 00")
            return stage
        }
    }

    // MARK: ST25DV

    private func dv(_ text: String) throws -> Stage {
        try type5("ST25DV04K; " + text)
    }

    @Test func `ST25DV registers: have the values of delivery, change only their own bits, and protect the areas`()
        async throws
    {
        let delivered: [(String, String)] = [
            ("00", "88"), ("01", "03"), ("02", "01"), ("03", "00"), ("04", "00"), ("05", "0f"), ("06", "00"),
            ("07", "0f"), ("08", "00"), ("09", "0f"), ("0a", "00"), ("0c", "00"), ("0d", "00"), ("0e", "07"),
            ("0f", "00"),
        ]
        let values = delivered.map { "02 a0 02 \($0) -> 00 \($1)" }.joined(separator: "\n")
        let kept: [(String, String, String)] = [
            ("00", "ff", "ff"), ("01", "ff", "07"), ("02", "ff", "01"), ("03", "ff", "03"), ("04", "ff", "0f"),
            ("06", "ff", "0f"), ("08", "ff", "0f"), ("0a", "ff", "0f"), ("0d", "ff", "01"), ("0e", "ff", "07"),
            ("0f", "fe", "00"),
        ]
        let bits = kept.map { "02 a1 02 \($0) \($1) -> 00; 02 a0 02 \($0) -> 00 \($2)" }.joined(separator: "\n")
        try await play(
            """
            == Registers of a new tag (table 12)
            \(values)
            == Each register keeps its own bits, and some are not written
            02 b3 02 00 00*8 -> 00; 02 a1 02 07 0f -> 00
            \(bits)
            02 a1 02 0b 00 -> 01 10; 02 a1 02 0c 00 -> 01 10; 02 a1 02 10 00 -> 01 10
            == Areas end in order (5.1)
            02 b3 02 00 00*8 -> 00; 02 a1 02 05 10 -> 01 0f; 02 a1 02 05 03 -> 00; 02 a1 02 07 03 -> 01 0f
            02 a1 02 07 07 -> 00; 02 a1 02 05 02 -> 01 0f
            # Area 1: writing with password 1; area 2: both with password 2; area 3: reading with password 3; area 4: free.
            02 a1 02 09 0b -> 00; 02 a1 02 04 09 -> 00; 02 a1 02 06 0a -> 00; 02 a1 02 08 0f -> 00
            02 20 1f -> 00 00*4; 02 20 20 -> 01 15; 02 20 40 -> 01 15; 02 20 60 -> 00 00*4; 02 21 1f 01*4 -> 01 12
            02 21 20 01*4 -> 01 12; 02 21 40 01*4 -> 01 12; 02 21 60 01*4 -> 00; 02 23 1f 01 -> 01 15
            02 c3 02 5f 01 -> 01 15; 02 2c 1f 01 -> 00 01 01; 02 b3 02 01 00*8 -> 00; 02 21 1f 01*4 -> 00
            02 20 1f -> 00 01*4; 02 b3 02 02 00*8 -> 00; 02 21 20 01*4 -> 00; 02 20 20 -> 00 01*4
            02 b3 02 03 00*8 -> 00; 02 20 40 -> 00 00*4; 02 21 40 01*4 -> 01 12; 02 20 20 -> 01 15
            == Dynamic registers and MANAGE GPO: energy harvesting is one bit, off again without power
            02 ad 02 00 -> 00 88; 02 a9 02 80 -> 00; 02 ae 02 02 01 -> 00; 02 ad 02 02 -> 00 0d; 02 ae 02 02 fe -> 00
            02 ad 02 02 -> 00 0c; 02 ae 02 02 01 -> 00; power; 02 ad 02 02 -> 00 0c
            == Fast reads have one- and two-byte numbers
            02 c0 02 00 -> 00 e1 40 3f 01; 02 c3 02 00 01 -> 00 e1 40 3f 01 03 00 fe 00; 02 c4 02 7f 00 -> 00 00*4
            02 c5 02 7e 00 01 00 -> 00 00*8
            == Four blocks are written at once, by one- and two-byte numbers
            02 24 10 01 01*4 02*4 -> 00; 02 33 10 00 01 00 -> 00 01*4 02*4; 02 24 10 04 00*20 -> 01 0f
            02 34 7f 00 01 00 00*8 -> 01 10
            """,
            on: dv
        )
    }

    @Test func `ST25DV extended information: the list of features only with two-byte addresses`() async throws {
        try await play(
            """
            == Addresses of one byte
            tag ST25DV04K
            02 3b 0f -> 00 0f UID 00 00 7f 00 03 24; 02 3b 10 -> 00 00 UID
            == Addresses of two bytes
            tag ST25DV64K
            02 3b 14 -> 00 14 UID ff 07 03; 02 30 ff 07 -> 00 00*4; 02 30 00 08 -> 01 10; 02 20 ff -> 00 00*4
            """
        ) { try type5($0) }
    }

    @Test func `ST25DV sessions: one password at a time, until the power or a wrong one ends it`() async throws {
        try await play(
            """
            == PRESENT and WRITE PASSWORD (7.6.34)
            02 b1 02 00 01 02 03 04 05 06 07 08 -> 01 12; 02 b3 02 00 01 02 03 04 05 06 07 08 -> 01 0f
            02 b3 02 04 00*8 -> 01 10; 02 b3 02 00 00 -> 01 02; 02 b3 02 00 00*8 -> 00
            02 b1 02 00 01 02 03 04 05 06 07 08 -> 00; password 00 -> 01 02 03 04 05 06 07 08; 02 a1 02 00 11 -> 00
            02 b3 02 01 00*8 -> 00; 02 a1 02 00 12 -> 01 12; 02 a0 02 00 -> 00 11
            02 b3 02 00 01 02 03 04 05 06 07 08 -> 00; 02 a1 02 0f 01 -> 00; 02 a1 02 00 12 -> 01 12
            == A session ends with the power
            02 b3 02 00 00*8 -> 00; power; 02 a1 02 00 11 -> 01 12; 02 b3 02 00 00*8 -> 00; 02 a1 02 00 11 -> 00
            == A wrong password ends the session, and none opens an area without a password
            tag register 4 = 04
            02 b3 02 00 00*8 -> 00; 02 21 04 01*4 -> 01 12; 02 b3 02 00 01 02 03 04 05 06 07 08 -> 01 0f
            02 a1 02 00 11 -> 01 12; 02 b1 02 00 01 02 03 04 05 06 07 08 -> 01 12; password 00 -> 00*8
            """,
            on: dv
        )
        try await expectTearing(
            """
            02 a1 02 00 11
            02 b1 02 00 01 02 03 04 05 06 07 08
            02 22 00
            """,
            milliseconds: 5..<6
        ) {
            let stage = try dv("")
            try await stage.check("02 b3 02 00 00*8 -> 00")
            return stage
        }
    }

    @Test func `ST25DV mailbox: one message at a time, in either direction`() async throws {
        try await play(
            """
            == From the reader to the chip's other side (5.1.2)
            tag register d = 01
            02 ad 02 0d -> 00 00; 02 aa 02 02 01 02 03 -> 01 0f; put 01 -> refused; 02 ae 02 0d 01 -> 00
            02 ab 02 -> 01 0f; 02 aa 02 02 01 02 -> 01 02; 02 aa 02 02 01 02 03 -> 00; 02 ad 02 0d -> 00 85
            02 aa 02 00 09 -> 01 0f; put 01 -> refused; 02 ac 02 00 02 -> 00 01 02 03; 02 ad 02 0d -> 00 85
            take -> 01 02 03; take -> none; 02 cd 02 0d -> 00 81
            == From the other side to the reader
            tag register d = 01
            02 ae 02 0d 01 -> 00; put 04 05 06 07; 02 ad 02 0d -> 00 43; 02 ab 02 -> 00 03; 02 ac 02 00 01 -> 00 04 05
            02 ca 02 00 09 -> 01 0f; 02 ac 02 02 02 -> 01 0f; 02 cc 02 02 01 -> 00 06 07; 02 ad 02 0d -> 00 41
            02 ca 02 00 09 -> 00; take -> 09; 02 ae 02 0d 00 -> 00; 02 ad 02 0d -> 00 00
            == A message has 1 to 256 bytes
            tag register d = 01
            02 ae 02 0d 01 -> 00; put -> refused; put 09*257 -> refused; 02 ab 02 -> 01 0f; put 09*256
            02 ab 02 -> 00 ff; 02 ac 02 00 ff -> 00 09*256; put 01
            == Without a supply there is no mailbox, and the register shows it
            tag register d = 01; unsupplied
            02 ae 02 0d 01 -> 01 0f; 02 ad 02 02 -> 00 04; 02 ae 02 02 01 -> 00; 02 ad 02 02 -> 00 05
            """,
            on: dv
        )
    }
}
