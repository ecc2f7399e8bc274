// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import Testing
import VirtualTags

/// Files of the test folder.
enum Files {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The Flipper files, each of another version or product.
    static let dumps = [
        "ntag215-uri.nfc", "ntag213-version2.nfc", "ultralight11-version3.nfc", "ntagi2c2k.nfc", "ultralight.nfc",
    ]

    /// The files of all formats but JSON of the project's own, each with its format and product.
    static let tagFiles: [(name: String, format: TagImage.Format, product: String)] = [
        ("ntag215-uri.nfc", .flipper, "NTAG215"), ("desfire.nfc", .flipper, "MIFARE DESFire EV2 8K"),
        ("classic-unknown.nfc", .flipper, "MIFARE Classic 1K"), ("felica-standard.nfc", .flipper, "FeliCa Standard"),
        ("felica-keys.nfc", .flipper, "FeliCa Standard"), ("felica-lite.nfc", .flipper, "FeliCa Lite-S"),
        ("slix2-every-password.nfc", .flipper, "ICODE SLIX2"),
        ("type4-tag.nfc", .flipper, "generic Type 4"), ("ntag424-version.nfc", .flipper, "NTAG 424 DNA"),
        ("mifare-plus.nfc", .flipper, "MIFARE Plus EV2 2K"), ("emv.nfc", .flipper, "EMV card"),
        ("iso14443-3a.nfc", .flipper, "generic NFC-A"), ("iso14443-3b.nfc", .flipper, "generic ISO 14443-4"),
        ("iso14443-4a.nfc", .flipper, "generic ISO 14443-4"),
        ("hf-mfu-ul11-dump.json", .proxmarkJSON, "MIFARE Ultralight EV1 UL11"),
        ("hf-mf-1k-dump.json", .proxmarkJSON, "MIFARE Classic 1K"),
        ("hf-15-slix2-dump.json", .proxmarkJSON, "ICODE SLIX2"),
        ("hf-mfu-ntag215-dump.bin", .proxmarkBinary, "NTAG215"),
        ("hf-mfu-ul11-old.bin", .proxmarkBinary, "MIFARE Ultralight EV1 UL11"),
        ("hf-15-slix2-v4.bin", .proxmarkBinary, "ICODE SLIX2"), ("hf-15-slix2-v5.bin", .proxmarkBinary, "ICODE SLIX2"),
        ("hf-mfu-ntag215-dump.eml", .proxmarkText, "NTAG215"),
        ("hf-mf-1k-dump.eml", .proxmarkText, "MIFARE Classic 1K"),
        ("classic-1k.mfd", .mfd, "MIFARE Classic 1K"), ("ntag213.mfd", .mfd, "NTAG213"),
        ("taginfo-ntag213.xml", .tagInfo, "NTAG213"), ("taginfo-slix.xml", .tagInfo, "ICODE SLIX"),
        ("taginfo-classic.xml", .tagInfo, "MIFARE Classic 1K"), ("taginfo-ntag215.txt", .tagInfo, "NTAG215"),
        ("classic-1k.mct", .mct, "MIFARE Classic 1K"), ("type5-memory.bin", .mfd, "generic Type 5"),
        ("hf-mfdes-dump.json", .proxmarkJSON, "MIFARE DESFire EV1 4K"),
    ]

    static func dump(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: "Dumps/\(name)")))
    }

    /// The lines of the conformance images, one JSON object each.
    static func images() throws -> [[UInt8]] {
        let data = try Data(contentsOf: folder.appending(path: "Vectors/tag-images.jsonl"))
        return data.split(separator: 0x0A).map { [UInt8]($0) }
    }
}

extension Files {
    /// The image that a dump holds.
    static func image(_ name: String) throws -> TagImage { try TagImage(parsing: dump(name)) }

    /// The text of a dump.
    static func text(_ name: String) throws -> String { String(decoding: try dump(name), as: UTF8.self) }

    /// The error for a dump in which a fault replaces a text; nil when the dump is still valid.
    static func failure(_ name: String, _ original: String, _ fault: String) throws -> TagImageError? {
        let text = try text(name)
        #expect(text.contains(original))
        return failure(text.replacing(original, with: fault, maxReplacements: 1))
    }

    /// Why a text is no image; nil when it is one.
    static func failure(_ text: String) -> TagImageError? {
        do {
            _ = try TagImage(parsing: Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }
}

extension TagContents {
    /// The contents that a text is read as.
    init(text: String) throws { self = try TagImage(parsing: Array(text.utf8)).contents }

    /// The text of a new image.
    func text(_ format: TagImage.Format = .json) throws -> String {
        String(decoding: try TagImage(self, format: format).encoded(), as: UTF8.self)
    }

    /// Whether an image of this format is read as these contents.
    func returns(in format: TagImage.Format = .json) throws -> Bool {
        try TagImage(parsing: TagImage(self, format: format).encoded(), as: format).contents == self
    }

    var type5: Type5Contents? { if case .type5(let contents) = self { contents } else { nil } }
    var classic: ClassicContents? { if case .classic(let contents) = self { contents } else { nil } }
    var feliCa: FeliCaStandardContents? { if case .type3(.standard(let contents)) = self { contents } else { nil } }
    var type4: Type4Contents? { if case .type4(let contents) = self { contents } else { nil } }
    var desfire: DESFireContents? { if case .desfire(let contents) = type4?.kind { contents } else { nil } }
    var payment: EMVContents? { if case .emv(let contents) = type4?.kind { contents } else { nil } }
    var files: [UInt16: [UInt8]]? { if case .ndef(let files) = type4?.kind { files } else { nil } }
}
