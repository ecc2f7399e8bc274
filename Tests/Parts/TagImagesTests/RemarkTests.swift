// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Remarks about images, and what comes back from another format.
struct RemarkTests {
    private func remarks(_ name: String, _ original: String = "", _ other: String = "") throws -> [TagImageRemark] {
        let text = String(decoding: try Files.dump(name), as: UTF8.self)
        #expect(text.contains(original) || original.isEmpty)
        let changed = original.isEmpty ? text : text.replacing(original, with: other, maxReplacements: 1)
        return try TagImage(parsing: Array(changed.utf8)).remarks
    }

    @Test(arguments: [
        ("ntag215-uri.nfc", "UID: 04 5E 2B 8A D1 6F 81", "UID: 04 5E 2B 8A D1 6F 82", "045e2b8ad16f81"),
        ("ntag215-uri.nfc", "UID: 04 5E 2B 8A D1 6F 81", "UID: 04 5E 2B 8A", "045e2b8ad16f81"),
        ("classic-unknown.nfc", "UID: 9C 0C 37 01", "UID: 9C 0C 37 02", "9c0c3701"),
        ("desfire.nfc", "UID: 04 2F 19 0A CD 66 80", "UID: 04 2F 19 0A CD 66 81", "042f190acd6680"),
        ("hf-mfu-ul11-dump.json", "\"UID\": \"04A1B2C3D4E580\"", "\"UID\": \"04A1B2C3D4E581\"", "04a1b2c3d4e580"),
        ("hf-mf-1k-dump.json", "\"UID\": \"9C0C3701\"", "\"UID\": \"9C0C3702\"", "9c0c3701"),
        ("felica-standard.nfc", "UID: 01 2E 3D 12", "UID: 01 2E 3D 13", "012e3d123456789a"),
    ])
    func `Remark: a UID that the memory contradicts`(
        name: String,
        original: String,
        other: String,
        memory: String
    ) throws {
        #expect(try !remarks(name).contains { $0.kind == .contradiction })
        let remark = try #require(try remarks(name, original, other).first)
        #expect(remark.kind == .contradiction)
        #expect(remark.text.contains(memory) && !remark.text.hasPrefix("The tag's UID is \(memory),"))
    }

    @Test func `Remark: a UID is compared where all of its place was read`() throws {
        let block = "Block 0: 9C 0C 37 01"
        let text = try Files.text("classic-unknown.nfc").replacing("UID: 9C 0C 37 01", with: "UID: 9C 0C 38 01")
        for (known, isCompared) in [
            (block, true), ("Block 0: ?? 0C 37 01", false), ("Block 0: 9C 0C 37 ??", false),
        ] {
            let image = try TagImage(parsing: Array(text.replacing(block, with: known).utf8))
            #expect(image.remarks.contains { $0.kind == .contradiction } == isCompared, "\(known)")
        }
    }

    @Test func `Remark: pages and data that were not read`() throws {
        let pages = try remarks("ntag215-uri.nfc", "Pages read: 135", "Pages read: 4")
        #expect(pages.map(\.kind) == [.missing, .leftOut])
        #expect(pages[0].text.hasPrefix("4 of 135 pages were read"))
        #expect(pages[1].text.contains("no place for Pages read:"))
        let data = try remarks("desfire.nfc").map(\.text)
        #expect(data.contains { $0.contains("Application 563412 File 4") })
        #expect(try remarks("classic-unknown.nfc").map(\.text).contains { $0.contains("902 bytes in 15 sectors") })
    }

    @Test func `Remark: a missing signature, where the chip has one`() throws {
        let contents = TagContents.type5(Type5Contents(blank: .icodeSLIX2))
        let text = String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
        #expect(try TagImage(parsing: Array(text.utf8)).remarks.isEmpty)
        let unsigned = text.replacing(/Signature: [0-9A-F ]+\n/, with: "")
        #expect(unsigned != text)
        #expect(try TagImage(parsing: Array(unsigned.utf8)).remarks.map(\.kind) == [.missing])
        let slix = try TagImage(.type5(Type5Contents(blank: .icodeSLIX)), format: .flipper).encoded()
        #expect(try TagImage(parsing: slix).remarks.isEmpty)
    }

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

    @Test(arguments: Files.tagFiles.filter { $0.format != .flipper && $0.format != .tagInfo }.map(\.name))
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
}

/// When a remark is made.
struct RemarkLimitTests {
    private func remarks(_ text: String) throws -> [TagImageRemark] {
        try TagImage(parsing: Array(text.utf8)).remarks
    }

    @Test(arguments: [1, 8, 9, 20])
    func `Remark list: eight names, and of more the number`(count: Int) throws {
        let lines = (1...count).map { "Strange \($0): 1\n" }.joined()
        let remarks = try remarks(Files.text("ntag215-uri.nfc") + lines)
        let names = (1...min(count, 8)).map { "Strange \($0)" }.joined(separator: ", ")
        let more = count > 8 ? " and \(count - 8) more" : ""
        #expect(
            remarks.map(\.description) == [
                "left-out: A virtual tag has no place for \(names)\(more): a file of another format is without it."
            ]
        )
    }

    @Test(
        arguments: [
            (.ntag213, 0xE1, 0x12, nil), (.ntag213, 0xE1, 0x13, "152 bytes, and NTAG213 has 144."),
            (.ntag213, 0x00, 0xFF, nil), (.ntag215, 0xE1, 0x3F, nil),
            (.ntag215, 0xE1, 0x40, "512 bytes, and NTAG215 has 504."),
        ] as [(Type2Product, UInt8, UInt8, String?)]
    )
    func `Remark: a capability container with more than the product has`(
        product: Type2Product,
        mark: UInt8,
        size: UInt8,
        part: String?
    ) {
        var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
        (contents.memory[12], contents.memory[14]) = (mark, size)
        let found = TagImage(.type2(contents)).remarks
        #expect(found.map(\.kind) == (part == nil ? [] : [.contradiction]))
        #expect(found.allSatisfy { $0.text.contains("gives a data area of \(part ?? "")") })
    }

    @Test
    func `Remark: sectors of a 4K card that were not read`() {
        var card = ClassicContents(blank: .classic4K, uid: [1, 2, 3, 4])
        card.unknownBytes = Set([127, 128, 143, 144, 255].map { $0 * 16 + 5 })
        #expect(
            TagImage(.classic(card)).remarks.map(\.text) == [
                "5 bytes in 4 sectors were not read; the virtual tag has zeros there."
            ]
        )
    }

    @Test(arguments: [(0, false), (4, false), (9, true)])
    func `Remark: a version with another UID, unless it hides it`(byte: Int, isReported: Bool) {
        var version = [UInt8](repeating: 4, count: 28)
        let own: [UInt8] = byte == 4 ? [4, 1, 2, 3, 4, 5, 6] : [UInt8](repeating: UInt8(byte), count: 7)
        version.replaceSubrange(14..<21, with: own)
        let contents = Type4Contents(
            frontEnd: .nfcA(uid: [4, 1, 2, 3, 4, 5, 6], ats: [1]),
            kind: .version(VersionCardContents(.ntag4xx, version: version))
        )
        let found = TagImage(.type4(contents)).remarks
        #expect(found.map(\.kind) == (isReported ? [.contradiction, .missing] : [.missing]))
        guard isReported else { return }
        #expect(
            found[0].text == "The tag's UID is 04010203040506, and GET VERSION answers 09090909090909. "
                + "Correct one of them: on a real tag they are the same."
        )
    }
}

/// What a format would lose.
struct LossTests {
    private func reason(_ contents: TagContents, _ format: TagImage.Format) -> String? {
        do throws(TagImageError) {
            _ = try TagImage(contents, format: format).encoded()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test
    func `Loss of a Type 2 tag: each thing has its name`() throws {
        let losses: [((inout Type2Contents) -> Void, String)] = [
            ({ $0.atqa = 0x0004 }, "ATQA and SAK"), ({ $0.sak = 0x08 }, "ATQA and SAK"),
            ({ $0.version = [0, 4, 4, 2, 2, 0, 0x0F, 3] }, "the version"), ({ $0.signature[31] = 1 }, "the signature"),
            ({ $0.counters[0] = 1 }, "the counters"), ({ $0.tearingFlags[0] = 1 }, "the counters"),
            ({ $0.failedAuthentications = 1 }, "the failed passwords"), ({ $0.uid[6] ^= 1 }, "the UID"),
        ]
        for (change, words) in losses {
            var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
            change(&contents)
            let sentence = "An .mfd file can't hold this NTAG213 without losing \(words)."
            #expect(reason(.type2(contents), .mfd) == sentence)
        }
        // A memory of this size is that of another product.
        var other = Type2Contents(blank: .ntag210, uid: Script.uid)
        #expect(
            reason(.type2(other), .mfd)?.hasPrefix("An .mfd file can't hold this NTAG210 without losing the product, ")
                == true
        )
        other.uid[6] ^= 1
        #expect(reason(.type2(other), .mfd)?.contains(" losing the product, the UID, ") == true)
    }

    @Test
    func `Loss of a DESFire: what SET CONFIGURATION changed`() throws {
        guard case .type4(var type4) = try Files.image("desfire.nfc").contents, case .desfire(var card) = type4.kind
        else { throw TagImageError(.unsupported, "") }
        card.configuration.isFormatDisabled = true
        type4.kind = .desfire(card)
        let contents = TagContents.type4(type4)
        let sentence =
            "A Flipper file can't hold this \(contents.product) without losing what SET CONFIGURATION has changed."
        #expect(reason(contents, .flipper) == sentence)
        // Keys are lost too, and have no name.
        card.configuration.isFormatDisabled = false
        card.masterKey = .zero(.aes)
        type4.kind = .desfire(card)
        #expect(reason(.type4(type4), .flipper)?.hasSuffix(" without losing a part of what it holds.") == true)
    }
}
