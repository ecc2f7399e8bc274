// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Cards of applications: OATH, with the vectors of RFC 4226 and RFC 6238; PIV and EMV, whose signatures libcrypto verifies.
struct StoredApplicationTests {
    private func stage(_ values: [String: [String: [UInt8]]]) throws -> (stage: Stage, box: CardBox) {
        let frontEnd = Type4FrontEnd.nfcA(uid: Script.uid, ats: [0x05, 0x78, 0x80, 0x70, 0x02])
        let contents = Type4Contents(frontEnd: frontEnd, kind: .applications(StoredApplications(values)))
        let box = CardBox(VirtualType4Tag(contents).card)
        let names = ["OATH": "a0 00 00 05 27 21 01", "TIME": "74 08 00 00 00 00 00 00 00 01"]
        return (Stage(box, names: names), box)
    }

    /// Checks the exchanges of several lines with one card.
    private func check(_ stage: Stage, _ lines: String) async throws {
        for line in lines.split(separator: "\n") { try await stage.check(String(line)) }
    }

    /// What an image of the card would hold now.
    private func values(_ box: CardBox, _ name: String) -> [String: [UInt8]]? {
        guard case .applications(let applications)? = VirtualType4Tag(card: box.card).contents?.kind else { return nil }
        return applications.values[name]
    }

    // MARK: OATH

    private static let id = hex("01 02 03 04 05 06 07 08")
    private static let secret = Array("12345678901234567890".utf8)

    @Test func `OATH codes: those of RFC 4226 and RFC 6238 for each hash function, whole and truncated`() async throws {
        let long = (0..<64).map { Self.secret[$0 % 20] }
        // Type and algorithm, secret, code number or time step, and the code's decimal digits.
        let rows: [(UInt8, [UInt8], Int, String)] = [
            (0x11, Self.secret, 0, "84755224"), (0x11, Self.secret, 1, "94287082"), (0x11, Self.secret, 9, "45520489"),
            (0x21, Self.secret, 1, "94287082"), (0x22, Array(long[..<32]), 1, "46119246"), (0x23, long, 1, "90693936"),
            (0x21, Self.secret, 0x235_23ED, "14050471"),
        ]
        for (kind, secret, number, digits) in rows {
            var value = [0x73, UInt8(secret.count + 2), kind, 8] + secret
            if kind & 0x10 != 0 { value += [0x7A, 4] + [UInt8](bigEndian: number, count: 4) }
            let (stage, box) = try stage(["oath": ["id": Self.id, "account a": value]])
            try await stage.check("00 a4 04 00 07 OATH -> 79 03 05 01 00 71 08 \(hexText(Self.id)) 90 00")
            let answer = hex(
                try await stage.send("00 a2 00 01 0d 71 01 61 74 08 \(hexText([UInt8](bigEndian: number, count: 8)))")
            )
            #expect(answer.count == 9 && answer.starts(with: [0x76, 5, 8]))
            let code = answer[3..<7].reduce(0) { $0 << 8 | Int($1) }
            #expect(code % 100_000_000 == Int(digits), "\(kind) \(number)")
            // A code of HOTP is given once.
            let isCounting = kind & 0x10 != 0
            #expect(values(box, "oath")?["account a"]?.last == (isCounting ? UInt8(number + 1) : secret.last))
        }
    }

    @Test func `OATH accounts: put, listed, calculated, deleted, and kept in the image unless the write was torn`()
        async throws
    {
        let (stage, box) = try stage(["oath": ["id": Self.id]])
        let put = "00 01 00 00 0c 71 01 61 73 07 21 06 01 02 03 04 05"
        try await check(
            stage,
            """
            00 a1 00 00 -> 69 85; 00 a4 04 00 07 OATH -> ?; 00 a1 00 00 -> 90 00
            tear old; \(put) -> 90 00; power; tear none; 00 a4 04 00 07 OATH -> ?; 00 a1 00 00 -> 90 00
            tear new; \(put) -> 90 00; power; tear none; 00 a4 04 00 07 OATH -> ?
            00 a1 00 00 -> 72 02 21 61 90 00
            00 01 00 00 0e 71 01 62 73 07 21 06 01 02 03 04 05 78 02 -> 90 00
            00 01 00 00 12 71 01 63 73 07 11 06 01 02 03 04 05 7a 04 00 00 00 07 -> 90 00; work -> 0
            00 a4 00 01 0a TIME -> 71 01 61 76 05 06 41 38 18 f3 71 01 62 7c 01 06 71 01 63 77 01 06 90 00
            """
        )
        #expect(values(box, "oath")?.keys.sorted() == ["account a", "account b", "account c", "id"])
        #expect(values(box, "oath")?["account c"] == hex("73 07 11 06 01 02 03 04 05 7a 04 00 00 00 07"))
        try await check(
            stage,
            """
            00 02 00 00 03 71 01 61 -> 90 00; 00 02 00 00 03 71 01 61 -> 69 84; 00 a2 00 01 0d 71 01 61 TIME -> 69 84
            00 01 00 00 0c 71 01 ff 73 07 21 06 01 02 03 04 05 -> 6a 80; 00 01 00 00 03 71 01 61 -> 6a 80
            00 01 00 00 0c 71 01 61 73 07 24 06 01 02 03 04 05 -> 6a 80; 00 a1 01 00 -> 6a 86; 80 a1 00 00 -> 6e 00
            00 04 de ad -> 90 00; 00 a1 00 00 -> 90 00; 00 09 00 00 -> 6d 00
            00 01 00 00 0e 71 03 cc 81 41 73 07 21 06 01 02 03 04 05 -> 90 00; 00 a1 00 00 -> 72 04 21 cc 81 41 90 00
            00 04 de ad -> 90 00
            """
        )
        #expect(values(box, "oath")?.keys.sorted() == ["id"] && values(box, "oath")?["id"] != Self.id)
    }

    @Test func `OATH password: accounts need it until it is removed, and again after a loss of power`() async throws {
        // HMAC-SHA-1 with the key 00 to 0f of the reader's challenge.
        let key = "73 11 21 \(hexText(UInt8(0)...15))"
        let (stage, box) = try stage(["oath": ["id": Self.id, "account a": hex("73 07 21 06 01 02 03 04 05")]])
        let proof = try hexText(MessageDigest.sha1.hmac(hex("00 00 00 00 00 00 00 01"), key: Array(0...15)))
        try await check(
            stage,
            """
            00 a4 04 00 07 OATH -> ?; 00 03 00 00 33 \(key) TIME 75 14 00*20 -> 6a 80
            00 03 00 00 33 \(key) TIME 75 14 \(proof) -> 90 00; 00 a1 00 00 -> 72 02 21 61 90 00; power
            """
        )
        let answer = hex(try await stage.send("00 a4 04 00 07 OATH"))
        try #require(answer.count == 30)
        #expect(answer[15..<17] == [0x74, 8] && answer[25...] == [0x7B, 1, 0x21, 0x90, 0x00])
        let code = try hexText(MessageDigest.sha1.hmac(Array(answer[17..<25]), key: Array(0...15)))
        try await check(
            stage,
            """
            00 a1 00 00 -> 69 82; 00 02 00 00 03 71 01 61 -> 69 82; 00 a3 00 00 20 75 14 00*20 TIME -> 6a 80
            00 a1 00 00 -> 69 82; 00 a3 00 00 20 75 14 \(code) TIME -> 75 14 \(proof) 90 00
            00 a1 00 00 -> 72 02 21 61 90 00; 00 03 00 00 02 73 00 -> 90 00; power; 00 a4 04 00 07 OATH -> ?
            00 a1 00 00 -> 72 02 21 61 90 00; 00 a3 00 00 20 75 14 \(code) TIME -> 69 84
            """
        )
        #expect(values(box, "oath")?["code"] == nil)
    }

    @Test func `OATH list longer than an answer: the rest follows with SEND REMAINING, and is forgotten by others`()
        async throws
    {
        var accounts = ["id": Self.id]
        for number in 10..<15 {
            accounts["account \(number)" + String(repeating: "x", count: 60)] = hex("73 07 21 06 01 02 03 04 05")
        }
        let (stage, _) = try stage(["oath": accounts])
        let line = "72 3f 21 31"
        try await stage.check("00 a4 04 00 07 OATH -> ?; 00 a1 00 00 41 -> \(line) 30 78*60 61 00")
        let rest = "\(line) 31 78*60 \(line) 32 78*60 \(line) 33 78*60 \(line) 34"
        try await stage.check("00 a5 00 00 -> \(rest) 78*56 61 04; 00 a5 00 00 -> 78*4 90 00")
        try await stage.check("00 a1 00 00 41 -> ?; 00 02 00 00 -> 6a 80; 00 a5 00 00 -> 90 00")
    }

    // MARK: PIV

    /// A new PIV card that is selected.
    private func piv() async throws -> (stage: Stage, box: CardBox) {
        let tag = try #require(TagProduct(named: "PIV card")?.blank().makeTag() as? VirtualType4Tag)
        let box = CardBox(tag.card)
        let names = [
            "SELECT": "00 a4 04 00 09 a0 00 00 03 08 00 00 10 00", "VERIFY": "00 20 00 80 08 31 32 33 34 35 36 ff ff",
            "WRONG": "00 20 00 80 08 31 32 33 34 35 37 ff ff", "HASH": "26 7c 24 82 00 81 20 \(hexText(UInt8(1)...32))",
        ]
        let stage = Stage(box, names: names)
        try await stage.check(
            "SELECT -> 61 11 4f 06 00 00 10 00 01 00 79 07 4f 05 a0 00 00 03 08 90 00",
            "SELECT"
        )
        return (stage, box)
    }

    @Test func `PIV PIN: three tries, counted across losses of power and power cuts, then blocked`() async throws {
        let (stage, box) = try await piv()
        try await check(
            stage,
            """
            00 20 00 80 -> 63 c3; WRONG -> 63 c2; work -> 0; power; SELECT -> ?; 00 20 00 80 -> 63 c2
            VERIFY -> 90 00; 00 20 00 80 -> 90 00; 00 20 ff 80 -> 90 00; 00 20 00 80 -> 63 c3
            tear old; WRONG -> ?; power; tear none; SELECT -> ?; 00 20 00 80 -> 63 c3
            tear new; WRONG -> ?; power; tear none; SELECT -> ?; 00 20 00 80 -> 63 c2; VERIFY -> 90 00; power
            SELECT -> ?; 00 20 00 80 -> 63 c3; 00 20 00 80 02 31 32 -> 6a 80; 00 20 00 81 -> 6a 88
            WRONG -> 63 c2; WRONG -> 63 c1; WRONG -> 63 c0; VERIFY -> 69 83; 00 20 00 80 -> 69 83
            """
        )
        #expect(values(box, "piv")?["tries"] == [3, 0])
    }

    @Test func `PIV objects: found by their tags, long ones in parts, and not changed by a host`()
        async throws
    {
        let (stage, box) = try await piv()
        let certificate = try #require(values(box, "piv")?["5fc105"])
        try await check(
            stage,
            """
            00 cb 3f ff 03 5c 01 7e -> 7e 12 4f 0b a0 00 00 03 08 00 00 10 00 01 00 5f 2f 02 40 00 90 00
            00 cb 3f ff 05 5c 03 5f c1 05 00 -> \(hexText(certificate[..<256])) 61 \(hexText([UInt8(certificate.count - 256)]))
            00 c0 00 00 00 -> \(hexText(certificate[256...])) 90 00; 00 c0 00 00 -> 90 00
            00 cb 3f ff 05 5c 03 5f c1 03 -> 6a 82; 00 cb 3f ff -> 6a 80; 00 cb 3f 00 03 5c 01 7e -> 6a 86
            00 db 3f ff 03 5c 01 7e -> 69 82; 00 47 00 9a -> 69 82; 00 a5 00 00 -> 6d 00
            """
        )
    }

    @Test func `PIV signatures: verified by the slot's certificate, with the PIN that the slot needs`() async throws {
        let (stage, box) = try await piv()
        /// The value inside of nested objects, each given by its index.
        func value(_ bytes: [UInt8], _ path: Int...) -> [UInt8] {
            path.reduce(bytes) { bytes, index in
                let objects = DataObject.sequence(bytes) ?? []
                return objects.indices.contains(index) ? objects[index].value : []
            }
        }
        /// The key of a certificate: the seventh field of its body (RFC 5280, 4.1).
        func key(_ name: String) -> VerifyingKey {
            VerifyingKey(encoded: DataObject(0x30, value(values(box, "piv")?[name] ?? [], 0, 0, 0, 0, 6)).bytes)
        }
        try await stage.check("00 87 11 9a HASH -> 69 82; 00 87 07 9e HASH -> 6a 86; 00 87 11 9e 02 7c 00 -> 6a 80")
        for (slot, name) in [("9e", "5fc101"), ("9a", "5fc105")] {
            let answer = hex(try await stage.send("00 87 11 \(slot) HASH"))
            let numbers = [0, 1].map { value(answer.dropLast(2), 0, 0, 0, $0) }
            let pair = numbers.flatMap { ([UInt8](repeating: 0, count: 32) + $0).suffix(32) }
            #expect(try key(name).verifies(pair, of: Array(1...32)), "\(slot)")
            try await stage.check("VERIFY -> 90 00")
        }
        // A block of PKCS #1, in a chain of two commands.
        let block = [0x00, 0x01] + [UInt8](repeating: 0xFF, count: 221) + [0x00] + Array(1...32)
        let data = [0x7C, 0x82, 0x01, 0x06, 0x82, 0x00, 0x81, 0x82, 0x01, 0x00] + block
        for (slot, name, isAlwaysAsked) in [("9c", "5fc10a", true), ("9d", "5fc10b", false)] {
            let first = "10 87 07 \(slot) ff \(hexText(data[..<255]))"
            let last = "00 87 07 \(slot) 0b \(hexText(data[255...]))"
            try await stage.check("VERIFY -> 90 00; \(first) -> 90 00")
            let start = hex(try await stage.send(last))
            #expect(start.suffix(2) == [0x61, 0x08])
            let power = value(start.dropLast(2) + hex(try await stage.send("00 c0 00 00 08")).dropLast(2), 0, 0)
            #expect(try key(name).recovered(power) == block, "\(slot)")
            try await stage.check("\(first) -> 90 00; \(last) -> \(isAlwaysAsked ? "69 82" : "7c 82 ..")")
        }
        try await stage.check("power; SELECT -> ?; 00 87 11 9a HASH -> 69 82")
    }

    // MARK: EMV

    /// A new test card, and the same card with other values.
    private func emv(_ change: (inout [String: [UInt8]]) -> Void = { _ in }) throws -> (stage: Stage, box: CardBox) {
        let tag = try #require(TagProduct(named: "EMV test card")?.blank().makeTag() as? VirtualType4Tag)
        var values = try #require(self.values(CardBox(tag.card), "emv"))
        change(&values)
        let box = CardBox(try stage(["emv": values]).box.card)
        let names = [
            "SELECT": "00 a4 04 00 06 f0 4f 43 4e 46 01", "OPTIONS": "80 a8 00 00 02 83 00",
            "NAME": "f0 4f 43 4e 46 01",
            "PPSE": "32 50 41 59 2e 53 59 53 2e 44 44 46 30 31", "PSE": "31 50 41 59 2e 53 59 53 2e 44 44 46 30 31",
            "LABEL": "50 09 54 45 53 54 20 43 41 52 44", "DYNAMIC": "00 88 00 00 04 01 02 03 04",
            // Amount 5.00, country 999, currency XTS, 30 November 2026.
            "DATA": "00 00 00 00 05 00 00 00 00 00 00 00 09 99 00 00 00 00 00 09 63 26 11 30 00 01 02 03 04",
        ]
        return (Stage(box, names: names), box)
    }

    @Test func `EMV test card: found through both directories, and read in a terminal's order`() async throws {
        let (stage, _) = try emv()
        try await check(
            stage,
            """
            00 a4 04 00 0e PPSE 00 -> 6f 2d 84 0e PPSE a5 1b bf 0c 18 61 16 4f 06 NAME LABEL 87 01 01 90 00
            80 ca 9f 36 00 -> 6d 00; 00 a4 04 00 0e PSE 00 -> 6f 15 84 0e PSE a5 03 88 01 01 90 00
            00 b2 01 0c 00 -> 70 18 61 16 4f 06 NAME LABEL 87 01 01 90 00; 00 b2 02 0c 00 -> 6a 83; OPTIONS -> 6d 00
            SELECT -> 6f ..; 00 b2 01 0c 00 -> 69 85; DYNAMIC -> 69 85; 80 ae 40 00 1d DATA -> 69 85
            80 ca 9f 36 -> 9f 36 02 00 00 90 00
            OPTIONS -> 77 0e 82 02 70 00 94 08 08 01 02 01 10 01 03 00 90 00; OPTIONS -> 69 85; 00 b2 01 0c 00 -> 70 81 86 ..
            00 b2 04 14 00 -> 6a 83; 00 b2 00 5c 00 -> 6a 86; 00 88 00 00 03 01 02 03 -> 67 00; 90 ca 9f 17 -> 90 00
            80 ca 9f 17 -> 9f 17 01 03 90 00
            80 ca 9f 36 -> 9f 36 02 00 01 90 00; 80 ca 9f 13 -> 9f 13 02 00 00 90 00; 80 ca 9f 10 -> 6a 88; 40 ca 9f 17 -> 6e 00
            """
        )
        let (spent, _) = try emv { $0["9f36"] = [0xFF, 0xFF] }
        try await spent.check("SELECT -> ?; OPTIONS -> 69 85; 80 ca 9f 36 -> 9f 36 02 ff ff 90 00")
    }

    /// The public key of the authority that the guide documents.
    private static let authority = """
        bff11c11326a0269c2edc9b696d879baf8703be9b0809f3a6eeb00a2bf31e9a877a7347d320339babe495033c0d50f222b8ca52c
        a6015f5f82f3825213d5e9d4590a3bba2b1143597eaa339efbfc6021471e78ea0943690cb163d2e67bb42948ff888c31931bf646
        8675bbbb6d5f48da4fdd422913358bc47f0f7d2782dfb4685b491e240a9347717e1e21c3334c1ee985ce389b88a11c53e5a30193
        73b20285f6ecfc97043feeb3d232ac99ffefc065
        """

    /// What a signature of EMV holds, without its frame, if it is that of the key (EMV 4.3, Book 2, A2.1).
    private func recovered(_ signature: [UInt8], _ modulus: [UInt8], appended: [UInt8]) throws -> [UInt8] {
        let number = DataObject(0x30, DataObject(0x02, [0] + modulus).bytes + [0x02, 0x01, 0x03]).bytes
        let algorithm = hex("30 0d 06 09 2a 86 48 86 f7 0d 01 01 01 05 00")
        let key = VerifyingKey(encoded: DataObject(0x30, algorithm + DataObject(0x03, [0] + number).bytes).bytes)
        let block = try #require(try key.recovered(signature))
        let signed = Array(block[1..<(block.count - 21)])
        #expect(block.first == 0x6A && block.last == 0xBC && block.count == modulus.count)
        #expect(try MessageDigest.sha1.hash(signed + appended) == Array(block.suffix(21).dropLast()))
        return signed
    }

    @Test func `EMV test card's certificates: lead from the documented authority to its static and dynamic signature`()
        async throws
    {
        let (stage, box) = try emv()
        let values = try #require(self.values(box, "emv"))
        var objects: [UInt16: [UInt8]] = [:]
        for record in ["record 1 1", "record 2 1", "record 2 2", "record 2 3"] {
            let template = try #require(DataObject.sequence(values[record] ?? [])?.first?.value)
            for object in DataObject.sequence(template) ?? [] { objects[object.tag] = object.value }
        }
        // The records of file 1 that the locator marks, and the profile.
        let data = try #require(DataObject.sequence(values["record 1 1"] ?? [])?.first?.value) + [0x70, 0x00]
        #expect(objects[0x8F] == [1] && objects[0x9F4A] == [0x82] && objects[0x9F32] == [3] && objects[0x9F47] == [3])

        let authority = try #require([UInt8](hexadecimal: Self.authority.utf8.filter { $0 != 0x0A }))
        let issuer = try recovered(objects[0x90] ?? [], authority, appended: (objects[0x92] ?? []) + [3])
        #expect(issuer[..<14] == [2, 0x41, 0x11, 0x11, 0xFF, 0x12, 0x49, 0, 0, 1, 1, 1, 144, 1])
        let issuerModulus = issuer[14...] + (objects[0x92] ?? [])

        let fixed = try recovered(objects[0x93] ?? [], Array(issuerModulus), appended: data)
        #expect(fixed == [3, 1, 0, 0] + [UInt8](repeating: 0xBB, count: 118))

        let remainder = objects[0x9F48] ?? []
        let card = try recovered(objects[0x9F46] ?? [], Array(issuerModulus), appended: remainder + [3] + data)
        #expect(card[..<11] == [4] + (objects[0x5A] ?? []) + [0xFF, 0xFF])
        #expect(card[11..<20] == [0x12, 0x49, 0, 0, 1, 1, 1, 128, 1])

        try await stage.check("SELECT -> ?; OPTIONS -> ?")
        let answer = hex(try await stage.send("DYNAMIC"))
        #expect(answer.starts(with: [0x80, 0x81, 0x80]) && answer.suffix(2) == [0x90, 0x00])
        let dynamic = try recovered(Array(answer[3..<131]), card[20...] + remainder, appended: [1, 2, 3, 4])
        #expect(dynamic[..<6] == [5, 1, 3, 2, 0, 1])
    }

    @Test func `EMV test card's cryptograms: those of pyemv; transactions are counted and logged in the image`()
        async throws
    {
        let (stage, box) = try emv()
        try await check(
            stage,
            """
            SELECT -> ?; OPTIONS -> ?; 80 ae 40 00 02 01 02 -> 67 00; 80 ae c0 00 1d DATA -> 6a 86; 00 b2 01 5c 00 -> 6a 83
            80 ae 40 00 1d DATA -> 77 14 9f 27 01 40 9f 36 02 00 01 9f 26 08 fa c2 40 ee 64 ec 4c 9d 90 00; 80 ae 00 00 1d DATA -> 69 85
            power; SELECT -> ?; OPTIONS -> ?; 80 ae 80 00 1d DATA -> 77 14 9f 27 01 80 9f 36 02 00 02 9f 26 08 e7 a8 6d 9c 6f 25 85 48 90 00
            80 ae 80 00 1f DATA 30 30 -> 69 85; 80 ae 40 00 1d DATA -> 67 00
            80 ae 40 00 1f DATA 30 30 -> 77 14 9f 27 01 40 9f 36 02 00 02 9f 26 08 fa c8 98 db 0c 15 27 22 90 00
            00 b2 01 5c 00 -> DATA 00 02 90 00; 00 b2 02 5c 00 -> DATA 00 01 90 00; 00 b2 03 5c 00 -> 6a 83
            power; tear old; SELECT -> ?; OPTIONS -> ?; power; tear none; SELECT -> ?; 80 ca 9f 36 -> 9f 36 02 00 02 90 00
            """
        )
        #expect(values(box, "emv")?["9f36"] == [0, 2])
        for _ in 0..<12 { try await stage.check("power; SELECT -> ?; OPTIONS -> ?; 80 ae 40 00 1d DATA -> 77 ..") }
        try await stage.check("00 b2 0a 5c 00 -> DATA 00 05 90 00; 00 b2 0b 5c 00 -> 6a 83")
        // Without keys, as in a dump, there are no signatures and no cryptograms.
        let (dump, _) = try emv { ($0["key"], $0["master key"], $0["9f36"]) = (nil, nil, nil) }
        try await dump.check("SELECT -> ?; OPTIONS -> 77 ..; DYNAMIC -> 6d 00; 80 ae 40 00 1d DATA -> 6d 00")
    }
}
