// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Cards of applications: OATH, with the vectors of RFC 4226 and RFC 6238; PIV, whose signatures libcrypto verifies.
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
}
