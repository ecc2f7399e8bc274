// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// Files of cards with only their activation and their version: NTAG4xx and Mifare Plus.
extension FlipperTagDump {
    // MARK: NTAG4xx

    static func ntag4xx(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        let contents = VersionCardContents(.ntag4xx, version: try version(fields))
        return Type4Contents(frontEnd: try frontEndA(fields), kind: .version(contents))
    }

    /// The answer to GET VERSION, with or without a final byte for the fab's key.
    private static func version(_ fields: FlipperFields) throws(TagImageError) -> [UInt8] {
        let version = try fields.bytes("PICC Version", count: nil)
        guard (28...29).contains(version.count) else {
            throw TagImageError(
                .malformed,
                "PICC Version has \(version.count) bytes; an answer has 28 or 29.",
                line: fields.line("PICC Version")
            )
        }
        return version
    }

    // MARK: Mifare Plus

    static func mifarePlus(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        func text(_ key: String) throws(TagImageError) -> String {
            fields.line(key) == nil ? "" : try fields.text(key)
        }
        var contents = VersionCardContents(.mifarePlus, version: try version(fields))
        contents.cardType = try text("Card Type")
        contents.securityLevel = try text("Security Level")
        contents.memorySize = try text("Memory Size")
        return Type4Contents(frontEnd: try frontEndA(fields), kind: .version(contents))
    }

    // MARK: Writing

    static func fields(of contents: VersionCardContents) -> (deviceType: String, lines: [FlipperLine]) {
        switch contents.family {
        case .ntag4xx:
            let version = contents.version + Array(repeating: 0, count: max(0, 29 - contents.version.count))
            return ("NTAG4xx", [.comment("NTAG4xx specific data"), .field("PICC Version", bytes: version)])
        case .mifarePlus:
            return (
                "Mifare Plus",
                [
                    .comment("Mifare Plus specific data"), .field("PICC Version", bytes: contents.version),
                    .field("Card Type", contents.cardType), .field("Security Level", contents.securityLevel),
                    .field("Memory Size", contents.memorySize),
                ]
            )
        }
    }
}
