// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation
import NFCProbe
import NFCRecorder
import NFCTestKit
import TagImages
import Testing
import VirtualTags

let everyTag: NFCTagReaderSession.PollingOption = [.iso14443, .iso15693, .iso18092]

/// Scans the tag of a field, and returns what `work` does with it.
func scan<Value: Sendable>(
    _ spec: TagSpec,
    reader: TestReader = .virtual,
    _ work: @escaping @MainActor @Sendable (NFCTag) async throws -> Value
) async throws -> (value: Value, contents: TagContents?) {
    try await withField(spec, reader: reader) { @MainActor field in
        let scan = try TagScan(everyTag, message: "Hold the tag near the phone.")
        let value = try await work(try await scan.next())
        scan.end()
        return (value, try? field.tags[0].contents())
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The dump of a tag` {
    /// The members of the image that differ from those of the tag: what iOS does not reveal.
    static let products: [(product: String, differing: Set<String>)] = [
        ("MIFARE Ultralight", []),
        // Without the pages of the key, or of the password and PACK.
        ("MIFARE Ultralight C", ["memory_hex", "pages"]),
        ("MIFARE Ultralight EV1 UL11", ["memory_hex", "pages"]),
        ("NTAG203", []),
        ("NTAG212", ["memory_hex", "pages"]),
        ("NTAG213", ["memory_hex", "pages"]),
        ("NTAG215", ["memory_hex", "pages"]),
        ("NTAG216", ["memory_hex", "pages"]),
        ("NTAG I2C plus 1K", ["memory_hex", "pages"]),
        ("FeliCa Lite-S", []),
        ("generic Type 3", []),
        ("generic Type 4", []),
        ("generic Type 4B", []),
        ("MIFARE DESFire EV1 2K", []),
        ("generic Type 5", []),
        ("ICODE SLIX", []),
        ("ICODE SLIX2", []),
        ("ST25DV04K", []),
    ]

    @Test(arguments: products) func `The image has the tag's content, except for what iOS does not reveal`(
        product: String,
        differing: Set<String>
    ) async throws {
        let (dump, contents) = try await scan(.product(product, holding: .text("Day pass"))) {
            try await TagDump(of: $0)
        }
        #expect(dump.unread.isEmpty == ["MIFARE Ultralight", "NTAG203"].contains(product))
        let image = try TagImage(parsing: [UInt8](dump.json))
        #expect(image.product == contents?.product)
        func members(_ contents: TagContents) throws -> [String: NSObject] {
            let json = try TagImage(contents).encoded()
            return try #require(JSONSerialization.jsonObject(with: Data(json)) as? [String: NSObject])
        }
        let before = try members(try #require(contents))
        let after = try members(image.contents)
        #expect(Set(before.keys).union(after.keys).filter { before[$0] != after[$0] } == differing)
        if let before = contents?.type2?.memory, let after = image.contents.type2?.memory {
            #expect(before.starts(with: after) && after.count > 16)
        }
        // The file is the same tag in a test.
        let (ticket, _) = try await scan(.dump([UInt8](dump.json))) { try await text(of: $0) }
        #expect(ticket == "Day pass")
    }

    @Test func `Pages that need a password are left out of the image`() async throws {
        let tag = TagSpec.product("NTAG215").protected(by: [1, 2, 3, 4], fromPage: 16, protectsReading: true)
        let (dump, _) = try await scan(tag) { try await TagDump(of: $0) }
        let image = try TagImage(parsing: [UInt8](dump.json))
        #expect(dump.product == "NTAG215" && image.contents.type2?.memory.count == 16 * 4)
        #expect(image.remarks.map(\.kind) == [.missing])
    }

    @Test func `A page with the content of page 0 does not end the dump`() async throws {
        let uid: [UInt8] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]
        // UID, and its first check byte: 88 XOR the three bytes.
        let tag = TagSpec.product("NTAG213", uid: uid).writing([0x04, 0x11, 0x22, 0xBF], atBlock: 6)
        let (dump, contents) = try await scan(tag) { try await TagDump(of: $0) }
        #expect(contents?.type2?.memory[24..<28] == contents?.type2?.memory[0..<4])
        #expect(try TagImage(parsing: [UInt8](dump.json)).contents.type2?.memory.count == 43 * 4)
    }

    @Test func `Locked blocks are locked in the image`() async throws {
        let (dump, contents) = try await scan(TagSpec.product("ICODE SLIX").readOnly) { try await TagDump(of: $0) }
        #expect(try TagImage(parsing: [UInt8](dump.json)).contents == contents)
        #expect(String(decoding: dump.json, as: UTF8.self).contains("locked_blocks"))
    }

    @Test func `A card without the NDEF application is refused`() async throws {
        await #expect(throws: RecorderError.self) {
            _ = try await scan(.script([([0, 0xA4], [0x6A, 0x82])])) { try await TagDump(of: $0) }
        }
    }
}

@MainActor func text(of tag: NFCTag) async throws -> String? {
    let tag: any NFCNDEFTag =
        switch tag {
        case .feliCa(let tag): tag
        case .iso7816(let tag): tag
        case .iso15693(let tag): tag
        case .miFare(let tag): tag
        }
    return try await tag.readNDEF().records.first?.wellKnownTypeTextPayload().0
}
