// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Commands of Type 2 tags, by the data sheets of NXP.
struct Type2Tests {
    /// Product; GET_VERSION; page 3 and what follows at delivery; last page that is read; bytes for data; counters;
    /// pages of passwords and keys; first page of the configuration; dynamic lock bytes when all bits are set.
    static let products = """
        Ultralight      | -                       | e1 10 06 00 03 00 fe 00             | 0f | 48   |       |             |     | -
        Ultralight C    | -                       | e1 10 12 00 03 00 fe 00             | 2b | 144  |       | 44 45 46 47 | 42  | ff ff 00 00
        UL11            | 00 04 03 01 01 00 0b 03 | e1 10 06 00 03 00 fe 00             | 13 | 48   | 0 1 2 | 18 19       | 16  | -
        UL21            | 00 04 03 01 01 00 0e 03 | e1 10 10 00 03 00 fe 00             | 28 | 128  | 0 1 2 | 39 40       | 37  | ff 03 1f bd
        Ultralight AES  | 00 04 03 01 04 00 0f 03 | e1 10 12 00 03 00 fe 00             | 2f | 144  |       | 48 49 50 51 52 53 54 55 | 41 | ff 0f 3f bd
        NTAG203         | -                       | e1 10 12 00 01 03 a0 10 44 03 00 fe | 29 | 144  |       |             |     | ff 11 00 00
        NTAG210         | 00 04 04 01 01 00 0b 03 | e1 10 06 00 03 00 fe 00             | 13 | 48   |       | 18 19       | 16  | -
        NTAG212         | 00 04 04 01 01 00 0e 03 | e1 10 10 00 01 03 90 0a 34 03 00 fe | 28 | 128  |       | 39 40       | 37  | ff 03 1f bd
        NTAG213         | 00 04 04 02 01 00 0f 03 | e1 10 12 00 01 03 a0 0c 34 03 00 fe | 2c | 144  | 2     | 43 44       | 41  | ff 0f 3f bd
        NTAG215         | 00 04 04 02 01 00 11 03 | e1 10 3e 00 03 00 fe 00             | 86 | 504  | 2     | 133 134     | 131 | ff 00 0f bd
        NTAG216         | 00 04 04 02 01 00 13 03 | e1 10 6d 00 03 00 fe 00             | e6 | 888  | 2     | 229 230     | 227 | ff 3f 7f bd
        NTAG 223 DNA    | 00 04 04 02 04 00 0f 03 | e1 10 12 00 01 03 a0 0c 34 03 00 fe | 2f | 144  | 2     | 43 44 48 49 50 51 52 53 54 55 | 41 | ff 0f 3f bd
        NTAG 224 DNA    | 00 04 04 02 05 00 10 03 | e1 10 1a 00 01 03 e0 0a 44 03 00 fe | 3f | 208  | 2     | 64 65 66 67 68 69 70 71 | 57 | ff 03 1f bd
        NTAG I2C 1K     | 00 04 04 05 02 01 13 03 | e1 10 6d 00 03 00 fe 00             | e9 | 888  |       |             |     | ff 3f 7f 00
        NTAG I2C 2K     | 00 04 04 05 02 01 15 03 | e1 10 ea 00 03 00 fe 00             | -  | 1904 |       |             |     | -
        NTAG I2C plus 1K | 00 04 04 05 02 02 13 03 | e1 10 6d 00 03 00 fe 00            | e9 | 888  |       |             | 227 | ff 3f 7f 00
        NTAG I2C plus 2K | 00 04 04 05 02 02 15 03 | e1 10 6d 00 03 00 fe 00            | -  | 888  |       |             | 227 | ff 3f 7f 00
        """

    @Test func `Type 2 product: version, memory and limits are those of its data sheet`() async throws {
        #expect(Self.products.split(separator: "\n").count == Type2Product.all.count)
        for row in Self.products.split(separator: "\n") {
            let cells = row.split(separator: "|").map { $0.trimmingSpaces() }
            let (name, version, start, last) = (cells[0], cells[1], cells[2], cells[3])
            let product = try #require(Type2Product(named: name))
            let hasSectors = name.contains("I2C")
            let head = hasSectors ? "04 a1 b2 c3 d4 e5 80 00 44 00" : "04 a1 b2 9f c3 d4 e5 80 72 48"
            let refused = name == "Ultralight" ? "-" : "NAK 0"
            try await play(
                """
                == \(name)
                60 -> \(version == "-" ? refused : version); 30 00 -> \(version == "-" ? "-" : "?")
                \(version == "-" ? "wake" : "again"); 30 03 -> \(start) ..; 30 00 -> \(head) 00 00 \(start.prefix(11))
                a2 05 de ad be ef -> ACK; 30 05 -> de ad be ef ..; page 04 -> ?; page 05 -> de ad be ef
                a2 00 00 00 00 00 -> NAK 0; wake; a2 05 00 00 00 -> NAK 0; wake; page 05 -> de ad be ef
                """
            ) { _ in try await type2(name) }
            if let last = hex(last).first {
                let end = hasSectors ? "00*8" : "04 a1 b2 9f c3 d4 e5 80"
                let pages = [last - 1, last + 1].map { hexText([$0]) }
                try await play("== \(name)\n30 \(pages[0]) -> .. \(end); 30 \(pages[1]) -> NAK 0") { _ in
                    try await type2(name)
                }
            }
            let contents = Type2Contents(blank: product, uid: Script.uid)
            #expect(product.userPages.lowerBound == 4 && product.userPages.count * 4 == Int(cells[4]), "\(name)")
            #expect(contents.countersOfProduct == cells[5].split(separator: " ").compactMap { Int($0) }, "\(name)")
            #expect(contents.secretPages == cells[6].split(separator: " ").compactMap { Int($0) }, "\(name)")
            #expect(product.firstConfigurationPage == Int(cells[7]), "\(name)")
            let readable = ["Ultralight C": 44, "Ultralight AES": 48, "NTAG 223 DNA": 48, "NTAG 224 DNA": 64][name]
            #expect(product.readablePageCount == readable ?? product.pageCount)
            guard let page = product.dynamicLockPage, cells[8] != "-" else { continue }
            let lock = hexText([UInt8(page)])
            try await play("== \(name)\na2 \(lock) ff ff ff ff -> ACK; page \(lock) -> \(cells[8])") { _ in
                try await type2(name)
            }
        }
    }

    @Test func `Type 2 commands: each product answers only its own, and a wrong length or address gets NAK 0`()
        async throws
    {
        try await play(
            """
            == FAST_READ: any range, none that is reversed, cut or runs past the end (NTAG213/215/216, 10.3)
            3a 00 02 -> 04 a1 b2 9f c3 d4 e5 80 72 48 00 00; 3a 00 2c -> #180; 3a 01 01 -> c3 d4 e5 80
            3a 05 04 -> NAK 0; wake; 3a 00 2d -> NAK 0; wake; 3a 00 -> NAK 0
            == COMPATIBILITY_WRITE: sixteen bytes arrive and four are written (MF0ICU1, 9.4)
            tag Ultralight
            a0 06 -> ACK; 01 02 03 04 00*12 -> ACK; 30 06 -> 01 02 03 04 00*12; a0 01 -> NAK 0; wake; a0 10 -> NAK 0
            wake; work -> 4100; a0 06 -> ACK; 30 06 -> NAK 0; work -> 0
            == READ_SIG: the signature, which is zero unless given (NTAG213/215/216, 10.8)
            3c 00 -> 00*32; 3c 01 -> NAK 0
            tag NTAG216; signature = 5a
            3c 00 -> 5a*32
            == A wrong checksum: NAK 1, and the tag falls back to IDLE
            raw 30 00 00 00 -> NAK 1; 30 00 -> -; wake 26
            == VCSL: the identifier of the configuration, a new one from the next activation on (MF0ULX1, 10.10)
            tag UL11
            4b 00*20 -> 05; a2 11 00 77 00 00 -> ACK; 4b 00*20 -> 05; again; 4b 00*20 -> 77
            ** A known command with another length: NAK 0, and the tag falls back
            tag Ultralight
            a0 -> NAK 0; 30 00 -> -; wake 26
            a0 06 00 -> NAK 0; 30 00 -> -; wake 26
            a2 06 00 00 00 -> NAK 0; 30 00 -> -; wake 26
            30 -> NAK 0; 30 00 -> -; wake 26
            30 04 00 -> NAK 0; 30 00 -> -; wake 26
            ** NTAG I2C: no COMPATIBILITY_WRITE, signature or password
            tag NTAG I2C 1K
            a0 06 -> NAK 0
            3c 00 -> NAK 0
            1b ff ff ff ff -> NAK 0
            """,
            on: type2
        )
        for (product, answer) in [("Ultralight", "-"), ("Ultralight C", "NAK 0"), ("NTAG203", "NAK 0")] {
            try await play(
                """
                ** \(product): no FAST_READ, signature, password, counter, sector or VCSL
                3a 00 02 -> \(answer)
                3c 00 -> \(answer)
                1b ff ff ff ff -> \(answer)
                39 02 -> \(answer)
                c2 ff -> \(answer)
                a5 00 01 00 00 00 -> \(answer)
                3e 00 -> \(answer)
                """
            ) { _ in try await type2(product) }
        }
    }

    @Test func `NTAG I2C sectors: chosen by SECTOR_SELECT until the next activation, each with its own end`()
        async throws
    {
        try await play(
            """
            == SECTOR_SELECT: silence acknowledges it, and it lasts until the next activation (NT3H1101, 9.9)
            tag NTAG I2C 2K
            a2 04 01 02 03 04 -> ACK; c2 ff -> ACK; 01 00 00 00 -> -; a2 04 05 06 07 08 -> ACK
            30 04 -> 05 06 07 08 ..; a2 00 09 09 09 09 -> ACK; again; 30 04 -> 01 02 03 04 ..; 30 00 -> 04 a1 b2 c3 ..
            == SECTOR_SELECT: NAK 0 for a missing sector or another length
            tag NTAG I2C 2K
            c2 ff -> ACK; 02 00 00 00 -> NAK 0; 30 00 -> -; wake; c2 ff -> ACK; 01 -> NAK 0; wake; c2 00 -> NAK 0
            tag NTAG I2C 1K
            c2 ff -> ACK; 01 00 00 00 -> NAK 0
            ** Sector 3: pages F8 and F9 are the session registers, and nothing is written
            tag NTAG I2C 1K
            c2 ff -> ACK; 03 00 00 00 -> -; 30 f8 -> 00*16
            c2 ff -> ACK; 03 00 00 00 -> -; 30 f9 -> 00*16
            c2 ff -> ACK; 03 00 00 00 -> -; 30 f7 -> NAK 0
            c2 ff -> ACK; 03 00 00 00 -> -; 30 04 -> NAK 0
            c2 ff -> ACK; 03 00 00 00 -> -; a2 f8 00 00 00 00 -> NAK 0
            == READ: ends with the memory of the sector
            tag NTAG I2C 2K
            3a f0 ff -> #64; c2 ff -> ACK; 01 00 00 00 -> -; 3a 00 df -> #896; 30 e8 -> 01 00 f8 48 08 01 00*10
            30 ea -> NAK 0
            == Lock bits: those of the second sector lock both
            tag NTAG I2C 2K
            c2 ff -> ACK; 01 00 00 00 -> -; a2 e0 01 40 00 00 -> ACK; 30 e0 -> 01 40 00 00 ..
            a2 d0 01 02 03 04 -> NAK 0; wake; a2 10 01 02 03 04 -> NAK 0; wake; a2 30 01 02 03 04 -> ACK
            """,
            on: type2
        )
    }

    @Test func `Type 2 mirror: UID and counter appear in the pages as ASCII, and only where they fit`() async throws {
        let uid = hexText("04A1B2C3D4E580".utf8)
        try await play(
            """
            == UID and counter from byte 1 of page 8 (NTAG213/215/216, 8.7)
            tag NTAG213; 29 = d4 00 08 ff 10; counter 2 = 00 ab cd
            3a 08 0d -> 00 \(uid) 78 30 30 41 42 43 45 00 00; 30 08 -> 00 \(uid) 78 ..; 30 0a -> .. 00 00
            == A mirror may end with the user memory
            tag NTAG213; 29 = 60 00 24
            3a 24 27 -> 00 00 \(uid)
            == A mirror that ends behind the user memory is not shown
            tag NTAG213; 29 = 70 00 24
            3a 24 27 -> 00*16
            == Page 3 is never mirrored
            tag NTAG213; 29 = 40 00 03
            30 03 -> e1 10 12 00 01 03 a0 0c ..
            == The counter alone: six digits, counted before they are shown
            tag NTAG213; 29 = 80 00 08; 2a = 10; counter 2 = 00 ab cd
            3a 08 09 -> 30 30 41 42 43 45 00 00
            == NTAG212: no counter, so the UID alone
            tag NTAG212; 25 = 80 00 08
            3a 08 0b -> 00*16
            tag NTAG212; 25 = c0 00 08
            3a 08 0b -> \(uid) 00 00
            == Mirror and counter begin with the next activation
            a2 29 44 00 04 ff -> ACK; a2 2a 10 00 00 00 -> ACK; 30 04 -> 01 03 a0 0c ..; 39 02 -> NAK 0; wake
            30 04 -> \(uid) 00 00; 39 02 -> 01 00 00
            """,
            on: type2
        )
    }

    @Test func `NTAG 22x DNA: UID, counter and code appear in the pages, and the keys are never read`() async throws {
        // The text after the UID, with a key of zeros, and with the key 00 to 0F, which is stored in reverse.
        let texts = ["x000000x07D358EFC5E2FD2F", "x000006x262B06250EE6AD17", "x000006xD50DBFEC75902978"]
        let codes = texts.map { hexText("04A1B2C3D4E580\($0)".utf8) }
        let key = ["0f 0e 0d 0c", "0b 0a 09 08", "07 06 05 04", "03 02 01 00"]
        for (name, page, guarded) in [("NTAG 223 DNA", 41, "2b 2c"), ("NTAG 224 DNA", 57, "40 47")] {
            let pages = (0..<15).map { hexText([UInt8(page + $0)]) }
            try await play(
                """
                == \(name): from byte 3 of page 8; the counter is off
                tag \(name); \(pages[0]) = 98 00 08 ff
                3a 08 12 -> 00 00 00 \(codes[0]) 00*3; 30 \(pages[6]) -> .. 04 a1 b2 9f c3 d4 e5 80 72 48 00 00
                == \(name): counted, and with another key, until its pages are locked
                tag \(name); \(pages[0]) = 80 00 08 ff; \(pages[1]) = 10; counter 2 = 00 00 05
                3a 08 11 -> \(codes[1]) 00 00; a2 \(pages[11]) \(key[0]) -> ACK; a2 \(pages[12]) \(key[1]) -> ACK
                a2 \(pages[13]) \(key[2]) -> ACK; a2 \(pages[14]) \(key[3]) -> ACK; 3a 08 11 -> \(codes[2]) 00 00
                a2 \(pages[4]) 80 00 00 00 -> ACK; a2 \(pages[14]) 00*4 -> NAK 0; wake; 30 \(pages[7]) -> NAK 0
                == \(name): switched off, or without room
                tag \(name); \(pages[0]) = 18 00 08 ff
                3a 08 08 -> 00*4
                tag \(name); \(pages[0]) = 80 00 \(hexText([UInt8(page - 10)])) ff
                3a \(hexText([UInt8(page - 10)])) \(hexText([UInt8(page - 8)])) -> 00*12
                """,
                on: type2
            )
            let last = guarded.suffix(2)
            let read = name == "NTAG 223 DNA" ? "00*8" : "NAK 0"
            try await play("== \(name)\ntag \(name); \(last) = 01 02\n3a \(guarded) -> \(read)", on: type2)
        }
    }

    @Test func `Type 2 contents: a short memory is completed with that of a new tag`() {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.memory.replaceSubrange(16..<24, with: [1, 2, 3, 4, 5, 6, 7, 8])
        contents.memory.removeLast(contents.memory.count - 22)
        contents.counters = [5]
        let whole = contents.completed
        #expect(whole.memory.count == 180 && whole.counters == [5, 0, 0])
        #expect(whole.memory.prefix(20) == contents.memory.prefix(20))
        #expect(whole.memory[20..<24].elementsEqual([0x34, 0x03, 0x00, 0xFE]))
    }
}
