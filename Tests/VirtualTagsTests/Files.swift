// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Files of the test folder.
enum Files {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The Flipper files, each of another version or product.
    static let dumps = [
        "ntag215-uri.nfc", "ntag213-version2.nfc", "ultralight11-version3.nfc", "ntagi2c2k.nfc", "ultralight.nfc",
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
