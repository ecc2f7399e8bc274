// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Remarks about images, and what comes back from another format.
struct RemarkTests {
    private func remarks(_ name: String, _ original: String = "", _ other: String = "") throws -> [TagImageRemark] {
        let text = try Files.text(name)
        #expect(text.contains(original) || original.isEmpty)
        let changed = original.isEmpty ? text : text.replacing(original, with: other, maxReplacements: 1)
        return try TagImage(parsing: Array(changed.utf8)).remarks
    }

    @Test func `Remark: contradiction when the file's UID differs from the UID in the memory`() throws {
        // The file, its UID, another one, and the UID of the memory.
        let rows = """
            ntag215-uri.nfc | UID: 04 5E 2B 8A D1 6F 81 | UID: 04 5E 2B 8A D1 6F 82 | 045e2b8ad16f81
            ntag215-uri.nfc | UID: 04 5E 2B 8A D1 6F 81 | UID: 04 5E 2B 8A | 045e2b8ad16f81
            classic-unknown.nfc | UID: 9C 0C 37 01 | UID: 9C 0C 37 02 | 9c0c3701
            desfire.nfc | UID: 04 2F 19 0A CD 66 80 | UID: 04 2F 19 0A CD 66 81 | 042f190acd6680
            hf-mfu-ul11-dump.json | "UID": "04A1B2C3D4E580" | "UID": "04A1B2C3D4E581" | 04a1b2c3d4e580
            hf-mf-1k-dump.json | "UID": "9C0C3701" | "UID": "9C0C3702" | 9c0c3701
            felica-standard.nfc | UID: 01 2E 3D 12 | UID: 01 2E 3D 13 | 012e3d123456789a
            """
        for row in rows.split(separator: "\n") {
            let cells = row.split(separator: "|").map { $0.trimmingSpaces() }
            #expect(try !remarks(cells[0]).contains { $0.kind == .contradiction }, "\(row)")
            let remark = try #require(try remarks(cells[0], cells[1], cells[2]).first)
            #expect(remark.kind == .contradiction && remark.text.contains(cells[3]), "\(row)")
        }
        // Only where all of its place was read.
        let block = "Block 0: 9C 0C 37 01"
        let text = try Files.text("classic-unknown.nfc").replacing("UID: 9C 0C 37 01", with: "UID: 9C 0C 38 01")
        for (known, isCompared) in [
            (block, true), ("Block 0: ?? 0C 37 01", false), ("Block 0: 9C 0C 37 ??", false),
        ] {
            let image = try TagImage(parsing: Array(text.replacing(block, with: known).utf8))
            #expect(image.remarks.contains { $0.kind == .contradiction } == isCompared, "\(known)")
        }
    }

    @Test func `Remark: missing when pages, sectors, data or the product's signature were not read`() throws {
        #expect(try remarks("ntag215-uri.nfc", "Pages read: 135", "Pages read: 4").map(\.kind) == [.missing, .leftOut])
        let data = try remarks("desfire.nfc").map(\.text)
        #expect(data.contains { $0.contains("application 123456 file 4") })
        #expect(try remarks("classic-unknown.nfc").map(\.text).contains { $0.contains("902 bytes in 15 sectors") })
        var card = ClassicContents(blank: .classic4K, uid: [1, 2, 3, 4])
        card.unknownBytes = Set([127, 128, 143, 144, 255].map { $0 * 16 + 5 })
        #expect(TagImage(.classic(card)).remarks.first?.text.hasPrefix("5 bytes in 4 sectors") == true)
        for (product, kinds): (Type5Product, [TagImageRemark.Kind]) in [(.icodeSLIX2, [.missing]), (.icodeSLIX, [])] {
            let text = try TagContents.type5(Type5Contents(blank: product)).text(.flipper)
            #expect(try TagImage(parsing: Array(text.utf8)).remarks.isEmpty)
            let unsigned = text.replacing(/Signature: [0-9A-F ]+\n/, with: "")
            #expect(try TagImage(parsing: Array(unsigned.utf8)).remarks.map(\.kind) == kinds, "\(product)")
        }
    }

    @Test(arguments: [1, 8, 9, 20])
    func `Remark list: the first eight names, and the number of the others`(count: Int) throws {
        let lines = (1...count).map { "Strange \($0): 1\n" }.joined()
        let remarks = try TagImage(parsing: Array((Files.text("ntag215-uri.nfc") + lines).utf8)).remarks
        let names = (1...min(count, 8)).map { "Strange \($0)" }.joined(separator: ", ")
        let more = count > 8 ? " and \(count - 8) more" : ""
        #expect(remarks.map(\.kind) == [.leftOut])
        #expect(remarks.first?.text.contains(" \(names)\(more);") == true)
    }

    @Test func `Remark: contradiction when the capability container claims more than the product has`() {
        let rows: [(Type2Product, UInt8, UInt8, String?)] = [
            (.ntag213, 0xE1, 0x12, nil), (.ntag213, 0xE1, 0x13, "152 bytes, and NTAG213 has 144."),
            (.ntag213, 0x00, 0xFF, nil), (.ntag215, 0xE1, 0x3F, nil),
            (.ntag215, 0xE1, 0x40, "512 bytes, and NTAG215 has 504."),
        ]
        for (product, mark, size, part) in rows {
            var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
            (contents.memory[12], contents.memory[14]) = (mark, size)
            let found = TagImage(.type2(contents)).remarks
            #expect(found.map(\.kind) == (part == nil ? [] : [.contradiction]), "\(product) \(size)")
            #expect(found.allSatisfy { $0.text.contains(part ?? "") }, "\(product) \(size)")
        }
    }

    @Test func `Remark: contradiction when GET VERSION's UID differs from the tag's, none when it is zeros`() {
        let own: [UInt8] = [4, 1, 2, 3, 4, 5, 6]
        for (uid, isReported) in [([0, 0, 0, 0, 0, 0, 0], false), (own, false), ([9, 9, 9, 9, 9, 9, 9], true)] {
            var version = [UInt8](repeating: 4, count: 28)
            version.replaceSubrange(14..<21, with: uid)
            let kind = Type4Contents.Kind.version(VersionCardContents(.ntag4xx, version: version))
            let found = TagImage(.type4(Type4Contents(frontEnd: .nfcA(uid: own, ats: [1]), kind: kind))).remarks
            #expect(found.map(\.kind) == (isReported ? [.contradiction, .missing] : [.missing]), "\(uid)")
        }
    }

    // MARK: Other formats

    /// Returns the values of a Flipper file by key. The keys of a FeliCa system start with the system's name.
    private func values(_ bytes: [UInt8]) -> [String: String] {
        var values: [String: String] = [:]
        var system = ""
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) where !line.hasPrefix("#")
        {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let key = String(line[..<colon])
            if key.count == 9, key.hasPrefix("System ") { system = key }
            var value = line[line.index(after: colon)...].filter { $0 != " " }.uppercased()
            if key.hasPrefix("Service ") {
                let parts = value.split(separator: "|")
                value = parts.filter { $0.hasPrefix("CODE") || $0.hasPrefix("KEY") }.joined(separator: "|")
            }
            values["\(system)/\(key)"] = value
        }
        return values
    }

    /// Keys that say how a file is written, or put others into words.
    private static let descriptive: Set<String> = [
        "Version", "Device type", "Data format version", "Directory Tree",
    ]

    @Test(arguments: Files.tagFiles.filter { $0.format == .flipper }.map(\.name) + Files.dumps)
    func `Flipper to JSON and back: every value returns, or a remark names it`(_ name: String) throws {
        let bytes = try Files.dump(name)
        let image = try TagImage(parsing: bytes)
        let json = try TagImage(parsing: TagImage(image.contents, format: .json).encoded())
        #expect(json.contents == image.contents)
        let back = values(try TagImage(json.contents, format: .flipper).encoded())
        let remark = image.remarks.first { $0.kind == .leftOut }?.text ?? ""
        for (place, value) in values(bytes) where back[place] != value {
            let key = String(place.split(separator: "/", omittingEmptySubsequences: false).last ?? "")
            // The product is in another line of older files, and ATQA the other way round.
            let isOld = name.contains("version") && ["ATQA", "Mifare Ultralight type"].contains(key)
            #expect(isOld || Self.descriptive.contains(key) || remark.contains(key), "\(place)")
        }
    }

    @Test(
        arguments: Files.tagFiles.filter {
            $0.format != .flipper && $0.format != .tagInfo && $0.name != "type5-memory.bin"
        }.map(\.name)
    )
    func `Binary and text to JSON and back: every byte returns, or a remark names it`(
        _ name: String
    ) throws {
        let bytes = try Files.dump(name)
        let image = try TagImage(parsing: bytes)
        let json = try TagImage(parsing: TagImage(image.contents, format: .json).encoded())
        #expect(json.contents == image.contents)
        guard image.format != .proxmarkJSON, !name.contains("old") else { return }
        let back = try TagImage(json.contents, format: image.format).encoded()
        // Of a text the digits count.
        let digits = { (text: [UInt8]) in
            String(decoding: text, as: UTF8.self).uppercased().split(whereSeparator: \.isNewline)
                .filter { !$0.hasPrefix("#") }.joined().filter(\.isHexDigit)
        }
        let isSame = image.format == .proxmarkText ? digits(back) == digits(bytes) : back == bytes
        #expect(isSame || image.remarks.contains { $0.kind == .leftOut }, "\(name)")
    }

    private func reason(_ contents: TagContents, _ format: TagImage.Format) throws -> String {
        let error = #expect(throws: TagImageError(.lossy, "")) { try TagImage(contents, format: format).encoded() }
        return error?.reason ?? ""
    }

    @Test func `Loss in another format: refused, and the reason names what would be lost`() throws {
        let losses: [((inout Type2Contents) -> Void, String)] = [
            ({ $0.atqa = 0x0004 }, "atqa"), ({ $0.sak = 0x08 }, "sak"),
            ({ $0.version = [0, 4, 4, 2, 2, 0, 0x0F, 3] }, "get_version"), ({ $0.signature[31] = 1 }, "signature"),
            ({ $0.counters[0] = 1 }, "counters"),
            ({ $0.failedAuthentications = 1 }, "failed_authentications"), ({ $0.uid[6] ^= 1 }, "uid"),
        ]
        for (change, words) in losses {
            var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
            change(&contents)
            #expect(try reason(.type2(contents), .mfd).hasSuffix(" \(words)."))
        }
        // Only MIFARE Ultralight EV1 has CHECK_TEARING_EVENT (MF0ULx1 data sheet, 10.7), so that other files may say 00.
        for (product, part): (Type2Product, String?) in [(.ntag213, nil), (.ultralightEV1UL21, " tearing_flags.")] {
            var contents = Type2Contents(blank: product, uid: Script.uid)
            contents.tearingFlags = [0, 0, 0]
            #expect(TagImage.Format.mfd.canHold(.type2(contents)) == (part == nil), "\(product)")
            guard let part else { continue }
            #expect(try reason(.type2(contents), .mfd).hasSuffix(part))
            let (bytes, lost) = try TagImage(contents, format: .mfd).encodedWithLoss()
            #expect(bytes == contents.memory && lost == ["tearing_flags"])
        }
        // A memory of this size is that of another product.
        var other = Type2Contents(blank: .ntag210, uid: Script.uid)
        other.uid[6] ^= 1
        #expect(try reason(.type2(other), .mfd).contains(" product, uid, "))
        for change: (inout DESFireContents) -> Void in [
            { $0.configuration.isFormatDisabled = true }, { $0.masterKey = .zero(.aes) },
        ] {
            var card = DESFireContents.ndef()
            change(&card)
            let contents = try #require(TagContents(of: VirtualType4Tag(card)))
            #expect(throws: TagImageError(.lossy, "")) { try contents.text(.flipper) }
        }
    }
}
