// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import TestThreads
import Testing
import VirtualTags

/// Activation of NFC-A tags (ISO/IEC 14443-3, 6), and MIFARE Classic, which can only be activated.
struct NFCATests {
    @Test func `NFC-A activation: UIDs of 4, 7 and 10 bytes take one to three cascade levels`() async throws {
        try await play(
            """
            == Seven bytes: two levels
            tag asleep
            26' -> 44 00; raw 93 20 -> 88 04 a1 b2 9f; raw 93 40 88 04 -> a1 b2 9f; 93 70 88 04 a1 b2 9f -> 04
            raw 95 20 -> c3 d4 e5 80 72; raw 95 60 c3 d4 e5 80 -> 72; raw 93 20 -> -; raw 95 20 -> -; 26' -> 44 00
            raw 95 20 -> -; 26' -> 44 00; 93 70 88 04 a1 b2 9f -> 04; 95 70 c3 d4 e5 80 72 -> 00
            60 -> 00 04 04 02 01 00 0f 03
            == A halted tag hears WUPA alone, and goes back to HALT after an error
            tag asleep
            wake 26; 50 00 -> -; 26' -> -; wake 52; ff -> NAK 0; 26' -> -; 52' -> 44 00; raw ff -> -; 26' -> -
            wake 52
            == REQA and WUPA in the middle are errors
            tag asleep
            26' -> 44 00; 26' -> -; wake 26; 52' -> -; 30 00 -> -; 35' -> -; wake 26
            == Nothing is answered before the tag is woken
            tag asleep
            raw 93 20 -> -; 30 00 -> -; 50 00 -> -; wake 26
            ** SELECT with a wrong checksum or check byte is not answered
            tag asleep
            26' -> 44 00; raw 93 70 88 04 a1 b2 9f 00 00 -> -; 26' -> 44 00; 93 70 88 04 a1 b2 9e -> -
            """
        ) { try await type2("NTAG213; " + $0) }
        let silent = ["93 40 88 05", "93 28", "93 80", "93 41 88 04", "95 20", "93", ""]
        for request in silent {
            let step = "26' -> 44 00; raw \(request) -> -; raw 93 20 -> -; wake 26"
            try await type2("NTAG213; asleep").check(step, "\(request)")
        }
        // Half selected, a tag rests again after anything else, in IDLE or in HALT.
        let first = "93 70 88 04 a1 b2 9f"
        for request in [
            "95 70 c3 d4 e5 81 73", "95 70 c3 d4 e5 80 73", first, "97 70 c3 d4 e5 80 72", "50 00", "30 00",
        ] {
            let step = """
                26' -> 44 00; \(first) -> 04; \(request) -> -; 95 70 c3 d4 e5 80 72 -> -; wake 26; 50 00 -> -; 52' -> 44 00; \
                \(first) -> 04; \(request) -> -; 26' -> -; wake 52
                """
            try await type2("NTAG213; asleep").check(step, "\(request)")
        }
        var four = Type2Contents(blank: .ultralight, uid: hex("12 34 56 78"))
        four.atqa = 0x0004
        let ten = Type2Contents(blank: .ultralight, uid: hex("04 01 02 03 04 05 06 07 08 09"))
        try await play(
            """
            == Four bytes: one level
            tag 4
            26' -> 04 00; raw 93 20 -> 12 34 56 78 08; 93 70 12 34 56 78 08 -> 00; 30 00 -> 12 34 56 78 08 ..
            == Ten bytes: three levels
            tag 10
            26' -> 44 00; 93 70 88 04 01 02 8f -> 04; 95 70 88 03 04 05 8a -> 04; raw 97 20 -> 06 07 08 09 00
            97 70 06 07 08 09 00 -> 00; 30 00 00 -> NAK 0
            """
        ) { try Stage(.nfcA, [VirtualType2Tag($0 == "4" ? four : ten)]) }
    }

    @Test func `NFC-A anticollision: the tag sends the bits that the reader does not know`() async throws {
        let own = hex("88 04 a1 b2 9f")
        for count in 0..<40 {
            let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
            #expect(await script.sendShort(0x26) == "44 00")
            let (bytes, rest) = (count / 8, count % 8)
            var known = Array(own.prefix(bytes))
            if rest > 0 { known.append(own[bytes] & (1 << rest - 1)) }
            let request = [0x93, UInt8(2 + bytes) << 4 | UInt8(rest)] + known
            let frame = rest == 0 ? Frame(request, checksum: .none) : Frame(bits: request, validBitsInLastByte: rest)
            let answer = try await script.link.transceive(frame, timeout: .milliseconds(1))
            let expected = bits(own)[count...]
            #expect(bits(answer.bytes).prefix(40 - count) == expected && answer.bitCount == 40 - count, "\(count)")
        }
    }

    // MARK: Several tags

    @Test func `NFC-A collision: the first bit on which tags differ is reported, with those before it`() async throws {
        let script = try Script(
            VirtualType2Tag(.ntag213, uid: [0x04, 0b1010_0001, 0, 1, 2, 3, 4]),
            VirtualType2Tag(.ntag213, uid: [0x04, 0b1011_0001, 9, 1, 2, 3, 4])
        )
        #expect(await script.sendShort(0x26) == "44 00", "Equal answers are heard as one.")
        let found = await collision(script.link, Frame([0x93, 0x20], checksum: .none))
        #expect(found == LinkError.Collision(bitIndex: 20, bits: [0x88, 0x04, 0b0001]))
        // 21 bits are known: the tag that has them answers the other 19.
        let frame = Frame(bits: [0x93, 0x45, 0x88, 0x04, 0b1_0001], validBitsInLastByte: 5)
        let answer = try await script.link.transceive(frame, timeout: .milliseconds(1))
        #expect(answer.bitCount == 19 && answer.bytes[0] & 0b111 == 0b101)
        var contents = Type2Contents(blank: .ultralight, uid: [1, 2, 3, 4])
        contents.atqa = 0x0004
        let mixed = try Script(VirtualType2Tag(contents), VirtualType2Tag(.ntag213, uid: Script.uid))
        let request = await collision(mixed.link, Frame(bits: [0x26], validBitsInLastByte: 7))
        #expect(request == LinkError.Collision(bitIndex: 6, bits: [0x04]), "ATQA of UIDs of 4 and 7 bytes differ.")
    }

    /// The collision that an exchange ends in.
    private func collision(_ link: any FrameLink, _ frame: Frame) async -> LinkError.Collision? {
        do {
            _ = try await link.transceive(frame, timeout: .milliseconds(1))
            return nil
        } catch {
            return error.collision
        }
    }

    private func bits(_ bytes: [UInt8]) -> [Bool] { bytes.flatMap { byte in (0..<8).map { byte >> $0 & 1 == 1 } } }

    // MARK: Tags that can only be activated

    @Test func `NFC-A tag without commands: answers none after its selection, and goes back to IDLE`() async throws {
        try await play(
            """
            == Commands, damaged frames and bits that are no request
            wake; 30 00 -> -; wake 26; 60 -> -; wake 26; e0 80 -> -; wake 26; raw 30 00 00 00 -> -; 27' -> -; wake 26
            == HALT, until WUPA or a loss of power
            wake; again; 50 00 -> -; 26' -> -; 52' -> 44 00; power; wake 26
            """
        ) { _ in try Stage(.nfcA, [NFCATag(NFCAContents(uid: Script.uid, atqa: 0x0044, sak: 0x00))]) }
    }

    @Test func `NFC-A tag without ISO-DEP: the SAK's ISO-DEP bit is off, so that readers send no RATS`() async throws {
        // A payment card, and a MIFARE Classic on a smart card, as dumps have them (flipperzero-firmware #1472).
        for (sak, answered): (UInt8, UInt8) in [(0x20, 0x00), (0x28, 0x08), (0x00, 0x00), (0x60, 0x40)] {
            let script = try Script(NFCATag(NFCAContents(uid: [0x34, 0x19, 0x6D, 0x41], atqa: 0x0004, sak: sak)))
            try await script.activate([0x34, 0x19, 0x6D, 0x41], atqa: 0x0004, sak: answered)
        }
        var classic = ClassicContents(blank: .classic1K, uid: [0x34, 0x19, 0x6D, 0x41])
        classic.sak = 0x28
        try await Script(ClassicTag(classic)).activate(classic.uid, atqa: classic.atqa, sak: 0x08)
    }

    private func classic() throws -> Stage {
        try Stage(.nfcA, [ClassicTag(ClassicContents(blank: .classic1K, uid: hex("9c 0c 37 01")))])
    }

    @Test func `MIFARE Classic: authentication gets a nonce and then silence, any other command a NAK`() async throws {
        try await play(
            """
            == A nonce without a checksum, another each time (MF1S50YYX, 10.1)
            wake; raw 60 04 d1 3d -> #4; 01 02 03 04 05 06 07 08 -> -; 30 04 -> -; wake 26; raw 61 3f 59 ab -> #4
            power; wake 26
            == A damaged frame: NAK 5, and the card goes back to IDLE
            wake; raw 30 00 00 00 -> NAK 5; 60 04 -> -; wake
            == A fault refuses an authentication
            wake; arm exchange 0 refuse 01; 60 04 -> NAK 1
            """
        ) { _ in try classic() }
        for command in ["30 00", "a0 04", "60 40", "60", "c1 04", "1b ff ff ff ff"] {
            try await classic().check("wake; \(command) -> NAK 4; 60 00 -> -; wake", "\(command)")
        }
    }

    @Test(arguments: ClassicProduct.allCases)
    func `MIFARE Classic product: has its ATQA, SAK and sector trailers, and its dump shows no keys`(
        product: ClassicProduct
    ) async throws {
        let expected: [ClassicProduct: (atqa: UInt16, sak: UInt8)] = [
            .mini: (0x0004, 0x09), .classic1K: (0x0004, 0x08), .plus2K: (0x0004, 0x08), .classic4K: (0x0002, 0x18),
        ]
        for length in [4, 7] {
            let contents = ClassicContents(blank: product, uid: Array(hex("04 11 22 33 44 55 66").prefix(length)))
            #expect(contents.atqa == expected[product].map { length == 7 ? $0.atqa | 0x40 : $0.atqa })
            #expect(contents.sak == expected[product]?.sak && contents.memory.count == product.memorySize)
            #expect(ClassicContents(product, memory: contents.memory) == contents)
            try await Stage(.nfcA, [ClassicTag(contents)]).check("wake 26")
            for sector in 0..<product.sectorCount {
                let block = ClassicProduct.trailer(ofSector: sector)
                #expect(ClassicProduct.sector(ofTrailer: block) == sector)
                #expect(contents.memory[block * 16] == 0xFF && contents.memory[block * 16 + 6] == 0xFF)
            }
            #expect(ClassicProduct.trailer(ofSector: product.sectorCount - 1) == product.blockCount - 1)
        }
        // A print or dump shows zeros for the keys, and all else as it is.
        let memory = (0..<product.memorySize).map { UInt8($0 % 251 | 1) }
        let contents = ClassicContents(product, memory: memory, uid: [1, 2, 3, 4])
        #expect(contents.description == "\(product), UID 01020304, \(product.memorySize) bytes")
        let shown = Mirror(reflecting: contents).children.first { $0.label == "memory" }?.value as? [UInt8]
        let keys = (0..<product.sectorCount).flatMap { sector in
            let trailer = ClassicProduct.trailer(ofSector: sector) * 16
            return Array(trailer..<trailer + 6) + Array(trailer + 10..<trailer + 16)
        }
        #expect(shown == memory.indices.map { Set(keys).contains($0) ? 0 : memory[$0] })
    }

    @Test func `MIFARE Classic memory: the UID of 4 or 7 bytes is taken from its beginning`() {
        let uids: [(String, Int)] = [
            ("9c 0c 37 01 a6 88 04 00", 4), ("04 11 22 33 44 55 66 08 44 00", 7), ("04 11 22 33 04 55 66 08 84 00", 4),
        ]
        for (memory, count) in uids {
            let contents = ClassicContents(.classic1K, memory: hex(memory))
            #expect(contents.uid == Array(hex(memory).prefix(count)), "\(memory)")
            #expect(contents.memory.count == 1024 && contents.memory.starts(with: hex(memory)))
        }
        #expect(ClassicProduct(memorySize: 1000) == nil && ClassicProduct(named: "MIFARE Classic 4K") == .classic4K)
    }

    @Test(.ownThreads) func `Impossible tag: a UID of five bytes or a short ATQB ends the program`() async {
        await #expect(processExitsWith: .failure) { _ = VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 5]) }
        await #expect(processExitsWith: .failure) {
            _ = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: .nfcB(pupi: [1, 2, 3]))
        }
        await #expect(processExitsWith: .failure) {
            let frontEnd = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x81])
            _ = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: frontEnd)
        }
    }
}
