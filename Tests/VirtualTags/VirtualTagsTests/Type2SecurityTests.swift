// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Locks, passwords, keys and counters of Type 2 tags.
struct Type2SecurityTests {
    // MARK: Locks

    @Test func `Type 2 lock bits: can only be set, lock their pages, and are frozen by block-lock bits`() async throws {
        try await play(
            """
            == Page 3 only gains bits (MF0ICU1, 7.5.3)
            tag Ultralight; 03 = 00 00 00 00
            a2 03 ff fc 05 07 -> ACK; a2 03 ff 00 39 80 -> ACK; 30 03 -> ff fc 3d 87 ..
            == A write to page 2 sets lock bits, and leaves the two bytes before them
            a2 02 ff ff 10 80 -> ACK; 30 02 -> 72 48 10 80 ..; a2 02 00 00 00 00 -> ACK; 30 02 -> 72 48 10 80 ..
            == BL-OTP freezes the lock bit of page 3 alone
            a2 02 00 00 01 00 -> ACK; a2 02 00 00 08 00 -> ACK; page 02 -> 72 48 01 00; a2 02 00 00 f0 ff -> ACK
            page 02 -> 72 48 f1 ff
            == BL 9-4 freezes the lock bits of pages 4 to 9
            a2 02 00 00 02 00 -> ACK; a2 02 00 00 f0 03 -> ACK; page 02 -> 72 48 02 00; a2 02 00 00 08 fc -> ACK
            page 02 -> 72 48 0a fc
            == BL 15-10 freezes the lock bits of pages 10 to 15
            a2 02 00 00 04 00 -> ACK; a2 02 00 00 00 fc -> ACK; page 02 -> 72 48 04 00; a2 02 00 00 f8 03 -> ACK
            page 02 -> 72 48 fc 03
            == Dynamic block-lock bits of NTAG213 freeze two lock bits each, and reserved bits stay 0
            a2 28 00 00 02 00 -> ACK; a2 28 ff ff ff ff -> ACK; page 28 -> f3 0f 3f bd
            == Block-lock bits of Ultralight C freeze three lock bits, or one behind the data (MF0ICU2, 7.5.4)
            tag Ultralight C
            a2 28 01 01 00 00 -> ACK; a2 28 ee f0 00 00 -> ACK; page 28 -> e1 e1 00 00
            == Lock bits that the tag has from the start are in effect
            tag NTAG213; 02 = 72 48 10 00; 28 = 02
            a2 04 01 02 03 04 -> NAK 0; wake; a2 12 01 02 03 04 -> NAK 0; wake; a2 13 01 02 03 04 -> NAK 0; wake
            a2 11 01 02 03 04 -> ACK
            """,
            on: type2
        )
        for product in ["Ultralight C", "NTAG203"] {
            try await play(
                """
                == \(product): lock bits are in effect from the next REQA or WUPA on
                a2 02 00 00 10 00 -> ACK; a2 28 02 00 00 00 -> ACK; a2 04 01 02 03 04 -> ACK; a2 10 01 02 03 04 -> ACK
                again; a2 04 00 00 00 00 -> NAK 0; wake; a2 10 00 00 00 00 -> NAK 0; wake; a2 14 00 00 00 00 -> ACK
                """
            ) { _ in try await type2(product) }
        }
    }

    @Test func `Type 2 static lock bit: its page is locked, and its neighbours are not`() async throws {
        for page in 3...15 {
            let bits = page < 8 ? [UInt8(1 << page), 0] : [0, UInt8(1 << (page - 8))]
            let stage = try await type2("NTAG216")
            try await stage.check("a2 02 00 00 \(hexText(bits)) -> ACK")
            for other in max(3, page - 1)...page + 1 {
                let step = "a2 \(hexText([UInt8(other)])) 00 00 00 00 -> "
                try await stage.check(step + (other == page ? "NAK 0; wake" : "ACK"), "\(page)")
            }
            try await stage.check("a0 \(hexText([UInt8(page)])) -> NAK 0", "\(page)")
        }
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        #expect(contents.lockedPages.isEmpty)
        (contents.memory[10], contents.memory[160]) = (0x10, 0x02)
        #expect(contents.lockedPages == [4, 18, 19])
    }

    /// Product, page of the lock bytes, what is written, and the first and last page that it locks.
    @Test(
        arguments: [
            "NTAG212 24 010000 16 17", "NTAG212 24 000200 34 35", "UL21 24 800000 30 31", "NTAG213 28 010000 16 17",
            "NTAG213 28 000800 38 39", "NTAG215 82 010000 16 31", "NTAG215 82 800000 128 129",
            "NTAG216 e2 020000 32 47", "NTAG216 e2 002000 224 225", "NTAGI2C1K e2 002000 224 225",
            "UltralightC 28 200000 28 31", "UltralightC 28 001000 41 41", "NTAG203 28 800000 36 39",
        ]
    ) func `Type 2 dynamic lock bit: its block is locked, and its neighbours are not`(row: String) async throws {
        let cells = row.split(separator: " ").map(String.init)
        let (first, last) = try (#require(Int(cells[3])), #require(Int(cells[4])))
        let stage = try await type2(cells[0])
        try await stage.check("a2 \(cells[1]) \(cells[2]) 00 -> ACK; again")
        let end = try #require(Type2Product(named: cells[0])).pageCount
        for page in [first - 1, first, last, last + 1] where page < end && page != hex(cells[1])[0] {
            let step = "a2 \(hexText([UInt8(page)])) 01 00 00 00 -> "
            let isLocked = (first...last).contains(page)
            try await stage.check(step + (isLocked ? "NAK 0; wake" : "ACK"), "page \(page)")
        }
    }

    // MARK: Passwords

    @Test func `NTAG21x password: guards pages by AUTH0, PROT, AUTHLIM and CFGLCK, from the next activation on`()
        async throws
    {
        let password = "2b = 01 02 03 04; 2c = aa 55"
        try await play(
            """
            == PWD_AUTH: PACK for the right password, NAK 0 and IDLE for a wrong one (NTAG213/215/216, 10.7)
            tag NTAG213; 29 = 04 00 00 04; \(password)
            1b 01 02 03 04 -> aa 55; 1b 01 02 03 05 -> NAK 0; 30 00 -> -
            == Password and PACK read as zero
            tag NTAG213; 29 = 04 00 00 04; \(password)
            1b 01 02 03 04 -> aa 55; 30 29 -> 04 00 00 04 00*12; 3a 2b 2c -> 00*8
            == AUTH0: pages from it on are written with the password, until the next activation
            tag NTAG213; 29 = 04 00 00 10; \(password)
            a2 0f 01 02 03 04 -> ACK; a2 10 01 02 03 04 -> NAK 0; wake; 1b 01 02 03 04 -> aa 55
            a2 10 01 02 03 04 -> ACK; again; a2 10 00*4 -> NAK 0; wake; 30 10 -> 01 02 03 04 ..
            == PROT: reading needs the password too, and READ rolls over before AUTH0
            tag NTAG213; 29 = 04 00 00 06; 2a = 80; \(password)
            30 04 -> 01 03 a0 0c 34 03 00 fe 04 a1 b2 9f c3 d4 e5 80; 30 06 -> NAK 0; wake; 3a 04 06 -> NAK 0; wake
            1b 01 02 03 04 -> aa 55; 3a 04 06 -> 01 03 a0 0c 34 03 00 fe 00*4
            == AUTHLIM: after so many wrong passwords none is taken, power or not
            tag NTAG213; 29 = 04 00 00 04; 2a = 02; \(password)
            1b 00*4 -> NAK 0; wake; 1b 00*4 -> NAK 0; failures -> 2; power; wake; 1b 01 02 03 04 -> NAK 4
            == AUTHLIM: a right password resets the count
            tag NTAG213; 29 = 04 00 00 04; 2a = 02; \(password)
            1b 00*4 -> NAK 0; failures -> 1; wake; 1b 01 02 03 04 -> aa 55; failures -> 0
            == AUTHLIM: counts from the next activation on
            a2 2a 01 00 00 00 -> ACK; 1b 00*4 -> NAK 0; failures -> 0; wake; 1b 00*4 -> NAK 0; wake; 1b 00*4 -> NAK 4
            == CFGLCK: configuration is locked after the next power-up, the password is not
            tag NTAG213; \(password)
            a2 2a 40 00 00 00 -> ACK; again; a2 29 04 00 00 ff -> ACK; power; wake; a2 29 00*4 -> NAK 0; wake
            a2 2a 00*4 -> NAK 0; wake; a2 2b 09 09 09 09 -> ACK; 1b 09 09 09 09 -> aa 55
            == A new password and PACK count at once
            tag NTAG215
            a2 85 09 08 07 06 -> ACK; a2 86 be ef 00 00 -> ACK; 1b 09 08 07 06 -> be ef
            == Protection that is taken back is over with the next activation
            tag NTAG213; 29 = 04 00 00 10; 2a = 80; 2b = ff ff ff ff
            30 10 -> NAK 0; wake; 1b ff ff ff ff -> 00 00; a2 2a 80 00 00 00 -> ACK; a2 29 04 00 00 ff -> ACK; again
            30 10 -> 00 ..; a2 10 01 02 03 04 -> ACK
            """,
            on: type2
        )
        // ACCESS and the limit of wrong passwords in its three lowest bits.
        for (access, limit) in [("12", 2), ("01", 1), ("87", 7), ("08", 0), ("00", 0)] {
            let stage = try await type2("NTAG213; 2a = \(access); \(password)")
            for attempt in 0..<(limit == 0 ? 9 : limit) {
                let failures = limit == 0 ? 0 : attempt
                try await stage.check("failures -> \(failures); 1b 01 02 03 05 -> NAK 0; wake", "\(access)")
            }
            let end = limit == 0 ? "1b 01 02 03 04 -> aa 55" : "1b 01 02 03 04 -> NAK 4; wake; failures -> \(limit)"
            try await stage.check(end, "\(access)")
        }
    }

    @Test func `Ultralight C key: opens the pages from AUTH0 on, and is never read`() async throws {
        // The factory key, in the byte order of the cipher.
        let key = "49 45 4d 4b 41 45 52 42 21 4e 41 43 55 4f 59 46"
        try await play(
            """
            == AUTHENTICATE with the key, until the next activation (MF0ICU2, 7.5.5)
            tag Ultralight C; 2a = 10
            30 10 -> NAK 0; wake; key \(key); a2 10 01 02 03 04 -> ACK; 30 10 -> 01 02 03 04 ..; 30 2c -> NAK 0; wake
            30 10 -> NAK 0
            == A wrong key, key number or length is refused
            tag Ultralight C; 2a = 10
            key 11*16 -> refused; wake; 1a 01 -> NAK 0; wake; 1a 00 -> #9; af 00 -> NAK 0; wake; 30 10 -> NAK 0
            == A proof of zeros is refused
            tag Ultralight C
            1a 00 -> #9; af 00*16 -> NAK 0
            == A new key is written from its end, and counts from the next activation on
            tag Ultralight C; 2a = 10
            key \(key); a2 2c 07 06 05 04 -> ACK; a2 2d 03 02 01 00 -> ACK; a2 2e 0f 0e 0d 0c -> ACK
            a2 2f 0b 0a 09 08 -> ACK; key \(key); again; key 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f
            == The key is written and not read
            tag Ultralight C
            30 2a -> 30 00*7 04 a1 b2 9f c3 d4 e5 80; a2 2c 01 02 03 04 -> ACK; page 2c -> 01 02 03 04; 30 2c -> NAK 0
            == AUTH1 0: reading and writing are protected, from the next activation on
            tag Ultralight C
            a2 2b 00*4 -> ACK; a2 2a 10 00 00 00 -> ACK; a2 10 01 02 03 04 -> ACK; again; a2 10 01 02 03 04 -> NAK 0
            wake; 30 0f -> .. 04 a1 b2 9f c3 d4 e5 80 72 48 00 00; 30 10 -> NAK 0
            == AUTH1 1: only writing is protected
            tag Ultralight C
            a2 2b 01 00 00 00 -> ACK; a2 2a 10 00 00 00 -> ACK; again; a2 10 01 02 03 04 -> NAK 0; wake
            30 0f -> .. 00*12; 30 10 -> 00*16
            == AUTH0 below 3 protects from page 3 on
            tag Ultralight C; 2a = 00
            30 00 -> 04 a1 b2 9f c3 d4 e5 80 72 48 00 00 04 a1 b2 9f; 30 03 -> NAK 0
            """,
            on: type2
        )
    }

    // MARK: Counters

    @Test func `Type 2 counters: count up to their limit, also through a power cut, and ask for the password`()
        async throws
    {
        try await play(
            """
            == NTAG213 counts the first READ or FAST_READ after power-up (NTAG213/215/216, 8.6)
            tag NTAG213; 2a = 10; counter 2 = 01 02 ff
            39 02 -> ff 02 01; 30 00 -> #16; 3a 00 01 -> #8; 39 02 -> 00 03 01; again; 30 00 -> #16; 39 02 -> 00 03 01
            power; wake; 3a 00 01 -> #8; 39 02 -> 01 03 01; 39 00 -> NAK 0
            == NTAG213 stays at FFFFFF
            tag NTAG213; 2a = 10; counter 2 = ff ff fe
            30 00 -> ?; 39 02 -> ff ff ff; power; wake; 30 00 -> ?; 39 02 -> ff ff ff; counter 2 -> ff ff ff
            == READ_CNT: refused while the counter is off
            39 02 -> NAK 0
            == READ_CNT: NAK 4 without the password where it needs one
            tag NTAG215; 84 = 18
            39 02 -> NAK 4; wake; 1b ff ff ff ff -> 00 00; 39 02 -> 00 00 00
            ** A READ that is refused is not counted
            tag NTAG213; 29 = 04 00 00 20; 2a = 90
            30 2d -> NAK 0; counter 2 -> 00 00 00
            3a 20 21 -> NAK 0; counter 2 -> 00 00 00
            30 00 -> #16; counter 2 -> 00 00 01
            == EV1: three counters, each with its tearing flag (MF0ULX1, 10.8 to 10.10)
            tag UL11; flag 0 = 01
            a5 02 03 02 01 00 -> ACK; 39 02 -> 03 02 01; 39 00 -> 00 00 00; 3e 00 -> 01; 3e 01 -> bd; 3e 02 -> bd
            a5 01 02 01 00 00 -> ACK; a5 01 fe fe ff 00 -> NAK 4; wake; 39 01 -> 02 01 00; a5 03 01 00 00 00 -> NAK 0
            wake; 39 03 -> NAK 0; wake; 3e 03 -> NAK 0
            == EV1: a counter ends at FFFFFF
            tag UL11
            a5 00 ff ff ff 00 -> ACK; 39 00 -> ff ff ff; a5 00 00*4 -> ACK; a5 00 01 00 00 00 -> NAK 4; wake
            39 00 -> ff ff ff
            == EV1: a power cut leaves the counter as it was, or counted
            tag UL11
            arm write 1 tear old; a5 00 01 00 00 00 -> -; counter 0 -> 00 00 00; arm write 1 tear new; bring; wake
            a5 00 01 00 00 00 -> -; counter 0 -> 00 00 01
            == Ultralight C: page 41 is set once, and then adds the lowest four bits (MF0ICU2, 7.5.11)
            tag Ultralight C
            a2 29 f0 ff 00 00 -> ACK; a2 29 0f 00 00 00 -> ACK; 30 29 -> ff ff 00 00 ..; a2 29 00*4 -> ACK
            a2 29 01 00 00 00 -> NAK 0
            tag Ultralight C
            a2 29 05 00 00 00 -> ACK; a2 29 13 00 00 00 -> ACK; page 29 -> 08 00 00 00
            == NTAG203: page 41 is set once, and then adds up to 15
            tag NTAG203
            a2 29 f0 ff 00 00 -> ACK; a2 29 0f 00 00 00 -> ACK; 30 29 -> ff ff 00 00 ..; a2 29 00*4 -> ACK
            a2 29 01 00 00 00 -> NAK 0
            """,
            on: type2
        )
    }
}
