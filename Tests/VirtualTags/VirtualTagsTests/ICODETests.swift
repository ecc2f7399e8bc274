// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// NXP's commands of ICODE SLIX and SLIX2 (SL2S2602, 8.5).
struct ICODETests {
    /// A SLIX2 with the passwords 01020304 to read, 05060708 to write and 11121314 for surveillance, or another tag.
    private func make(_ text: String) throws -> Stage {
        let line = text.isEmpty ? "ICODE SLIX2" : text
        let passwords = line.hasPrefix("ICODE SLIX2") ? "; pass 01 = 01 02 03 04; pass 02 = 05 06 07 08" : ""
        return try type5(line + passwords + "; pass 10 = 11 12 13 14")
    }

    @Test
    func
        `ICODE passwords: needed after each power-up, a wrong one silences the tag, 64-bit protection needs two`()
        async throws
    {
        try await play(
            """
            == SET, WRITE and LOCK PASSWORD, only with the address
            cover 02 b3 04 01 / 01 02 03 04 -> 01 0f; 22 b5 04 UID 01 -> 01 0f; give 01 01 02 03 04 -> 00
            22 b4 04 UID 01 aa bb cc dd -> 00; 22 b4 04 UID 01 00*4 -> 01 0f; give 01 aa bb cc dd -> 00
            02 b5 04 01 -> 01 0f; 22 b5 04 UID 01 -> 00; 22 b5 04 UID 01 -> 01 11; 22 b4 04 UID 01 00*4 -> 01 12
            password 01 -> aa bb cc dd; power; 22 b5 04 UID 01 -> 01 0f
            == After a wrong password the tag is silent until it loses its power
            give 01 01 02 03 05 -> -; 26 01 00 -> -; 22 b5 04 UID 01 -> -; power; 26 01 00 -> 00 00 UID
            22 b5 04 UID 01 -> 01 0f; give 01 01 02 03 04 -> 00; 22 b5 04 UID 01 -> 00
            == An emulated tag may take every password for the right one
            tag ICODE SLIX2; accepting
            give 02 99 99 99 99 -> 00; 22 b4 04 UID 02 aa bb cc dd -> 00; password 02 -> aa bb cc dd
            == 64-BIT PASSWORD PROTECTION needs both passwords
            tag ICODE SLIX2; condition = 10
            give 01 01 02 03 04 -> 00; 02 20 00 -> 00 e1 40 27 01; give 02 05 06 07 08 -> 00; 22 bb 04 UID -> 00
            power; give 01 01 02 03 04 -> 00; 02 20 00 -> 01 0f; give 02 05 06 07 08 -> 00; 02 20 00 -> 00 e1 40 27 01
            """,
            on: make
        )
    }

    @Test func `ICODE SLIX2 page protection: on each side of the pointer, reads and writes need their passwords`()
        async throws
    {
        try await play(
            """
            == PROTECT PAGE needs both passwords, and a page that is there
            22 b6 04 UID 28 21 -> 01 0f; give 01 01 02 03 04 -> 00; 22 b6 04 UID 28 21 -> 01 0f
            22 b7 04 UID 00 -> 01 0f; 22 bb 04 UID -> 01 0f; give 02 05 06 07 08 -> 00; 22 b6 04 UID 4f 21 -> 01 10
            22 b6 04 UID 28 ff -> 00; 22 ab 04 UID -> 00 28 33 00 7f 35 00 00
            == Read password below the pointer, write password from it on
            give 01 01 02 03 04 -> 00; give 02 05 06 07 08 -> 00; 22 b6 04 UID 28 21 -> 00
            22 ab 04 UID -> 00 28 21 00 7f 35 00 00; 02 20 27 -> 00 00*4; power; 02 20 27 -> 01 0f
            02 20 28 -> 00 00*4; 02 23 26 02 -> 01 0f; 02 21 27 01 02 03 04 -> 01 0f; 02 21 28 01 02 03 04 -> 01 0f
            02 22 28 -> 01 0f; 02 20 4f -> 00 00*4; give 01 01 02 03 04 -> 00; 02 21 27 01 02 03 04 -> 00
            02 21 28 01 02 03 04 -> 01 0f; give 02 05 06 07 08 -> 00; 02 21 28 01 02 03 04 -> 00
            22 b7 04 UID 27 -> 01 0f; 22 b7 04 UID 28 -> 00; 22 b7 04 UID 28 -> 01 11; 22 b6 04 UID 00 00 -> 01 12
            22 ab 04 UID -> 00 28 21 08 7f 35 00 00
            == A page with both passwords is written with the one for writing alone
            tag ICODE SLIX2; pointer = 28; condition = 30
            give 02 05 06 07 08 -> 00; 02 21 28 01 02 03 04 -> 00; 02 20 28 -> 01 0f; give 01 01 02 03 04 -> 00
            02 20 28 -> 00 01 02 03 04
            == Protected blocks are not in an INVENTORY READ, and the counter is never protected by its page
            tag ICODE SLIX2; pointer = 04; condition = 10
            26 a0 04 00 03 00 -> 00 00*4; 26 a0 04 00 03 01 -> -; 02 20 4e -> 01 0f; 02 20 4f -> 00 00*4
            """,
            on: make
        )
    }

    @Test func `ICODE SLIX2 states: private, destroyed and quiet tags stay silent; the counter needs its passwords`()
        async throws
    {
        try await play(
            """
            == ENABLE PRIVACY: only the random number and its password are heard, power or not
            cover 22 ba 04 UID / 0f 0f 0f 0f -> 00; power; 26 01 00 -> -; 02 20 00 -> -; 22 2b UID -> -; 02 bd 04 -> -
            02 b3 04 01 00*4 -> -; cover 02 b3 04 04 / 0f 0f 0f 0f -> 00; 26 01 00 -> 00 00 UID; power
            26 01 00 -> 00 00 UID; cover 22 ba 04 UID / 0f 0f 0f 0e -> -; 26 01 00 -> -
            == DESTROY: the tag never answers again; without the address it looks at no password
            cover 02 b9 04 / 00*4 -> 01 0f; 26 01 00 -> 00 00 UID; cover 22 b9 04 UID / 00 00 00 00 -> -; power
            26 01 00 -> 00 00 UID; cover 22 b9 04 UID / 0f 0f 0f 0f -> 00; power; 26 01 00 -> -; 02 b2 04 -> -
            == STAY QUIET PERSISTENT: quiet also after a loss of power, until RESET TO READY
            02 bc 04 -> -; 26 01 00 -> 00 00 UID; 22 bc 04 UID -> -; 26 01 00 -> -; power; 26 01 00 -> -
            22 20 UID 00 -> 00 e1 40 27 01; 22 26 UID -> 00; power; 26 01 00 -> 00 00 UID
            == Counter: presetting takes the write password, counting the read password
            02 21 4f ff ff 00 00 -> 01 0f; give 02 05 06 07 08 -> 00; 02 21 4f fe ff 00 01 -> 00
            02 20 4f -> 00 fe ff 00 01; 02 21 4f 01 00 00 00 -> 01 0f; give 01 01 02 03 04 -> 00
            02 21 4f 01 00 00 00 -> 00; 02 21 4f 01 00 00 00 -> 01 0f; 02 20 4f -> 00 ff ff 00 01
            == Counter: adds one, and is neither preset nor locked without a password
            02 21 4f 01 00 00 00 -> 00; 02 21 4f 01 00 00 00 -> 00; 02 20 4f -> 00 02 00 00 00
            02 21 4f 05 01 00 00 -> 01 0f; 02 20 4f -> 00 02 00 00 00; 02 22 4f -> 01 10
            == READ SIGNATURE, and NXP's system information with each lock
            tag ICODE SLIX2; signature = 5a
            02 bd 04 -> 00 5a*32; 02 ab 02 -> -; 02 ab 04 -> 00 00 00 00 7f 35 00 00; 02 28 -> 00
            02 ab 04 -> 00 00 00 01 7f 35 00 00; 02 a4 04 -> 00; 02 ab 04 -> 00 00 00 03 7f 35 00 00; 02 2a -> 00
            02 ab 04 -> 00 00 00 07 7f 35 00 00
            == ICODE DNA: the signature and the counter, and no passwords
            tag ICODE DNA; signature = 5a
            02 bd 04 -> 00 5a*32; 02 ab 04 -> 01 01; 02 b2 04 -> 01 01; 02 a2 04 -> 01 01
            02 21 3f 01 00 00 00 -> 00; 02 20 3f -> 00 01 00 00 00; 02 20 40 -> 01 10
            """,
            on: make
        )
    }

    @Test func `ICODE SLIX-L and SLIX-S: privacy and destruction with the delivered passwords, and no pages`()
        async throws
    {
        for product in ["ICODE SLIX-L", "ICODE SLIX-S"] {
            // SL2S5302 data sheet, 8.4.3; Flipper Zero's model of both products; the passwords of tags as delivered.
            try await play(
                """
                == \(product): private, only the random number and the privacy password are heard
                cover 22 ba 04 UID / 0f 0f 0f 0f -> 00; power; 26 01 00 -> -; 02 20 00 -> -; 22 2b UID -> -
                cover 02 b3 04 04 / 0f 0f 0f 0f -> 00; 26 01 00 -> 00 00 UID; power; 26 01 00 -> 00 00 UID
                == \(product): after a wrong password it is silent until it loses its power
                cover 22 ba 04 UID / 0f 0f 0f 0e -> -; 26 01 00 -> -; power; 26 01 00 -> 00 00 UID
                == \(product): the privacy password is changed and locked
                give 04 0f 0f 0f 0f -> 00; 22 b4 04 UID 04 aa bb cc dd -> 00; give 04 aa bb cc dd -> 00
                22 b5 04 UID 04 -> 00; 22 b4 04 UID 04 00*4 -> 01 12; password 04 -> aa bb cc dd
                == \(product): destroyed
                cover 22 b9 04 UID / 0f 0f 0f 0f -> 00; power; 26 01 00 -> -; 02 b2 04 -> -
                == \(product): no commands of SLIX2
                02 ab 04 -> 01 01; 22 b6 04 UID 00 00 -> 01 01; 22 bb 04 UID -> 01 01; 02 bd 04 -> 01 01
                02 a7 04 34 12 -> 01 01
                """
            ) { _ in try make(product) }
        }
        try await play(
            """
            == A SLIX has neither, and SLIX-L no passwords of the memory
            tag ICODE SLIX
            cover 22 ba 04 UID / 0f 0f 0f 0f -> 01 01; cover 22 b9 04 UID / 0f 0f 0f 0f -> 01 01
            tag ICODE SLIX-L
            give 01 00 00 00 00 -> 01 0f
            tag ICODE SLIX-S
            give 01 00 00 00 00 -> 00; give 02 00 00 00 00 -> 00
            """,
            on: make
        )
    }

    @Test func `ICODE EAS: can be set, reset, protected and locked, and selects tags by an identifier on SLIX2`()
        async throws
    {
        let alarm =
            "2f b3 62 70 d5 a7 90 7f e8 b1 80 38 d2 81 49 76 82 da 9a 86 6f af 8b b0 f1 9c d1 12 a5 72 37 ef"
        for product in ["ICODE SLIX", "ICODE SLIX2"] {
            try await play(
                """
                == \(product): EAS ALARM, and its password for EAS and the family
                02 a5 04 -> 00 \(alarm); 02 a3 04 -> 00; 02 a5 04 -> -; give 10 11 12 13 14 -> 00; 02 a6 04 -> 00
                42 a6 04 -> 00; power; 02 a2 04 -> 01 0f; 02 a4 04 -> 01 0f; 02 27 55 -> 01 0f; 02 28 -> 01 0f
                02 29 55 -> 00; give 10 11 12 13 14 -> 00; 02 27 55 -> 00; 02 a2 04 -> 00; 02 a4 04 -> 00
                02 a3 04 -> 01 12; 02 a5 04 -> 00 \(alarm)
                == \(product): protecting EAS leaves the family free
                give 10 11 12 13 14 -> 00; 02 a6 04 -> 00; power; 02 a2 04 -> 01 0f; 02 27 55 -> 00
                == \(product): protecting the family leaves EAS free
                give 10 11 12 13 14 -> 00; 42 a6 04 -> 00; power; 02 a2 04 -> 00; 02 27 55 -> 01 0f
                == \(product): INVENTORY READ returns blocks, and the rest of the UID with the option flag
                26 a0 04 00 00 01 -> 00 e1 40 ..; 26 a0 04 00 00 01 -> #9; 26 a1 04 08 44 00 01 -> #9
                66 a0 04 08 44 00 01 -> 00 33 22 11 ..; 66 a0 04 08 44 00 01 -> #16; 66 a0 04 0c 44 03 00 01 -> #16
                36 a0 04 55 00 00 01 -> -; 26 a0 02 00 00 01 -> -; 26 a0 04 00 00 f0 -> -; 26 a0 04 00 00 -> -
                46 a0 04 04 04 00 00 -> -; end 4 -> 00 33 22 11 ..
                """
            ) { _ in try make(product) }
        }
        try await play(
            """
            == SLIX: no selective surveillance; the option flag changes nothing
            tag ICODE SLIX
            42 a5 04 -> 00 \(alarm); 42 a5 04 00 -> -
            == SLIX2: selective surveillance by an identifier, of 0, 8 or 16 bits
            42 a5 04 00 -> 00 00 00; 02 a7 04 34 12 -> 00; 42 a5 04 00 -> 00 34 12; 42 a5 04 08 34 -> 00 \(alarm)
            42 a5 04 10 34 12 -> 00 \(alarm); 42 a5 04 10 35 12 -> -; 42 a5 04 -> -; 42 a5 04 04 34 -> -
            02 a5 04 00 -> -; give 10 11 12 13 14 -> 00; 02 a6 04 -> 00; power; 02 a7 04 35 12 -> 01 0f
            42 a5 04 00 -> 00 34 12
            == SLIX2: the identifier is locked with EAS
            02 a7 04 34 12 -> 00; 02 a4 04 -> 00; 02 a7 04 35 12 -> 01 12; 42 a5 04 00 -> 00 34 12
            == SLIX2: extended INVENTORY READ chooses tags by EAS, and what they send
            tag ICODE SLIX2; surveillance = off
            26 a0 04 88 12 44 -> 00 UID; 26 a0 04 88 02 44 00 00 -> 00 UID e1 40 27 01; 26 a0 04 80 11 -> -
            26 a0 04 88 10 44 -> 00 33 22 11 08 01 04 e0; 26 a0 04 80 12 00 00 -> -; 26 a0 04 80 32 -> 00 UID
            26 01 00 -> -; power; 26 a0 04 80 72 -> 00 UID; power; 26 01 00 -> -
            tag ICODE SLIX2
            26 a0 04 80 11 -> 00 UID
            """,
            on: make
        )
    }

    @Test func `ICODE power cut: a command that writes leaves the old state or the new one`() async throws {
        try await expectTearing(
            """
            22 21 UID 05 01 02 03 04
            22 21 UID 4f 01 00 00 00
            22 22 UID 05
            22 27 UID 55
            22 a3 04 UID
            22 a6 04 UID
            22 a7 04 UID 34 12
            22 b4 04 UID 01 aa bb cc dd
            22 b6 04 UID 28 21
            22 b7 04 UID 00
            cover 22 b9 04 UID / 0f 0f 0f 0f
            cover 22 ba 04 UID / 0f 0f 0f 0f
            22 bb 04 UID
            """,
            milliseconds: 4..<5
        ) {
            let stage = try make("")
            let given = "give 01 01 02 03 04 -> 00; give 02 05 06 07 08 -> 00; give 10 11 12 13 14 -> 00"
            try await stage.check(given)
            return stage
        }
    }
}
