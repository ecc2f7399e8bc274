// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Remarks about images` {
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
    func `A UID that the memory contradicts is reported`(
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

    @Test func `A UID is compared with the memory where all of its place was read`() throws {
        let block = "Block 0: 9C 0C 37 01"
        let text = try Files.text("classic-unknown.nfc").replacing("UID: 9C 0C 37 01", with: "UID: 9C 0C 38 01")
        for (known, isCompared) in [
            (block, true), ("Block 0: ?? 0C 37 01", false), ("Block 0: 9C 0C 37 ??", false),
        ] {
            let image = try TagImage(parsing: Array(text.replacing(block, with: known).utf8))
            #expect(image.remarks.contains { $0.kind == .contradiction } == isCompared, "\(known)")
        }
    }

    @Test func `A card with a random UID keeps its own in the version`() throws {
        let text = String(decoding: try Files.dump("desfire.nfc"), as: UTF8.self)
            .replacing("UID: 04 2F 19 0A CD 66 80", with: "UID: 08 11 22 33")
        let image = try TagImage(parsing: Array(text.utf8))
        #expect(image.uid == hex("08 11 22 33"))
        guard case .type4(let contents) = image.contents, case .desfire(let card) = contents.kind else { return }
        #expect(card.uid == hex("04 2f 19 0a cd 66 80"))
        #expect(!image.remarks.contains { $0.kind == .contradiction })
        let json = try TagImage(parsing: TagImage(image.contents).encoded())
        #expect(json.contents == image.contents)
    }

    @Test func `A FeliCa Lite-S keeps the block that holds its identifiers, and says where it differs`() async throws {
        let image = try Files.image("felica-lite.nfc")
        #expect(image.remarks.map(\.kind) == [.contradiction, .missing, .leftOut])
        #expect(image.remarks[0].text.contains("02fe00112233445500f1000000014377"))
        #expect(image.remarks[1].text.contains("block 3;"))
        #expect(image.remarks[2].text.contains("IC Type, Blocks read, Block 3, Block 15, Block 26:"))
        let script = try LinkScript(.nfcF, image.makeTag())
        let idm = "02 fe 00 11 22 33 44 55"
        #expect(
            await script.send("10 06 \(idm) 01 0b 00 01 80 83")
                == "1d 07 \(idm) 00 00 01 \(idm) 00 f1 00 00 00 01 43 77"
        )
    }

    @Test func `Pages that were not read, and data that needs a key, are missing`() throws {
        let pages = try remarks("ntag215-uri.nfc", "Pages read: 135", "Pages read: 4")
        #expect(pages.map(\.kind) == [.missing, .leftOut])
        #expect(pages[0].text.hasPrefix("4 of 135 pages were read"))
        #expect(pages[1].text.contains("no place for Pages read:"))
        let data = try remarks("desfire.nfc").map(\.text)
        #expect(data.contains { $0.contains("Application 563412 File 4") })
        #expect(try remarks("classic-unknown.nfc").map(\.text).contains { $0.contains("902 bytes in 15 sectors") })
    }

    @Test func `A file without a signature is read`() throws {
        let text = String(decoding: try Files.dump("ntag215-uri.nfc"), as: UTF8.self)
        let unsigned = text.replacing(/Signature: [0-9A-F ]+\n/, with: "")
        #expect(unsigned != text)
        let image = try TagImage(parsing: Array(unsigned.utf8))
        var contents = try #require(try Files.image("ntag215-uri.nfc").contents.type2)
        contents.signature = Array(repeating: 0, count: 32)
        #expect(image.contents == .type2(contents))
        #expect(try image.encoded() == Array(unsigned.utf8))
        #expect(image.remarks.contains { $0.text.hasPrefix("The file has no signature of the chip;") })
    }

    @Test func `A signature that a file does not have is missing, where the chip has one`() throws {
        let contents = TagContents.type5(Type5Contents(blank: .icodeSLIX2))
        let text = String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
        #expect(try TagImage(parsing: Array(text.utf8)).remarks.isEmpty)
        let unsigned = text.replacing(/Signature: [0-9A-F ]+\n/, with: "")
        #expect(unsigned != text)
        #expect(try TagImage(parsing: Array(unsigned.utf8)).remarks.map(\.kind) == [.missing])
        let slix = try TagImage(.type5(Type5Contents(blank: .icodeSLIX)), format: .flipper).encoded()
        #expect(try TagImage(parsing: slix).remarks.isEmpty)
    }

    @Test(arguments: [("FeliCa Standard RC-S9X4, Japan Transit IC", true), ("FeliCa Standard", false)])
    func `A name of the chip that a new file would not have is left out`(name: String, isLeftOut: Bool) throws {
        let remarks = try remarks("felica-standard.nfc", "IC Type: FeliCa Standard RC-S962", "IC Type: \(name)")
        #expect(remarks.contains { $0.kind == .leftOut && $0.text.contains("IC Type") } == isLeftOut)
    }

    @Test func `A line that is not known is named with the system that it belongs to`() throws {
        for (line, name) in [
            ("System found: 2", "Strange:"), ("System 00 Key: A0", "Strange of System 00:"),
            ("System 01: FE00", "Strange of System 00:"), ("Area found: ", "Strange of System 00:"),
        ] {
            let remarks = try remarks("felica-keys.nfc", line, "Strange: 1\n" + line)
            let text = try #require(remarks.last { $0.kind == .leftOut }?.text)
            #expect(text.contains(name), "\(text)")
        }
    }

    @Test func `What a binary file says that a tag has no place for is named by its place`() throws {
        var bytes = try Files.dump("hf-mfu-ntag215-dump.bin")
        #expect(try TagImage(parsing: bytes).remarks.isEmpty)
        bytes[8] = 0x12
        bytes[9] = 0x34
        #expect(try TagImage(parsing: bytes).remarks.first?.text.contains("no place for bytes 8 to 9:") == true)
    }

    // MARK: Round trips

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
    func `A Flipper file comes back from JSON with every value, or a remark names it`(_ name: String) throws {
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
    func `A binary or Proxmark3 file comes back from JSON byte for byte, or a remark names the place`(
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
