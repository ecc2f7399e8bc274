// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety
import VirtualTags

/// Cards without files in a dump: payment cards, and NXP cards of which only the version is known.
extension JSONImage {
    // MARK: EMV

    /// Reads a payment card: `aid`, `pan`, and if known `label`, `name`, `cardholder`, `aip`, `country`, `currency`,
    /// `expires` and `effective` (the digits of year, month and day), and `pin_tries`.
    static func emv(_ fields: JSONFields) throws(TagImageError) -> EMVContents {
        func text(_ key: String) throws(TagImageError) -> String {
            let text = fields.hasValue(key) ? try fields.text(key) : ""
            guard EMVContents.canHold(text) else {
                throw TagImageError(.malformed, "\"\(key)\" is not a line of at most 64 bytes.", line: fields.line(key))
            }
            return text
        }
        func bytes(_ key: String, count: Int) throws(TagImageError) -> [UInt8] {
            fields.hasValue(key) ? try fields.bytes(key, count: count) : Array(repeating: 0, count: count)
        }
        var contents = EMVContents(
            applicationIdentifier: try fields.bytes("aid", count: nil),
            accountNumber: try fields.bytes("pan", count: nil)
        )
        guard contents.isInRange else {
            throw TagImageError(
                .malformed,
                "\"aid\" has 5 to 16 bytes, and \"pan\" at most 10.",
                line: fields.line("aid")
            )
        }
        contents.label = try text("label")
        contents.name = try text("name")
        contents.cardholder = try text("cardholder")
        contents.interchangeProfile = try bytes("aip", count: 2)
        contents.country = UInt16(bytes: try bytes("country", count: 2))
        contents.currency = UInt16(bytes: try bytes("currency", count: 2))
        contents.expiration = EMVContents.Date(try bytes("expires", count: 3))
        contents.effective = EMVContents.Date(try bytes("effective", count: 3))
        contents.pinTries = try fields.number("pin_tries", in: 0...255).map { UInt8($0) }
        return contents
    }

    static func members(of contents: EMVContents) -> [(String, String)] {
        var members = [("aid", quoted(contents.applicationIdentifier)), ("pan", quoted(contents.accountNumber))]
        for (key, text) in [("label", contents.label), ("name", contents.name), ("cardholder", contents.cardholder)]
        where !text.isEmpty { members.append((key, JSONText.quoted(text))) }
        let bytes = [
            ("aip", contents.interchangeProfile), ("country", contents.country.bigEndianBytes),
            ("currency", contents.currency.bigEndianBytes), ("expires", contents.expiration.digits),
            ("effective", contents.effective.digits),
        ]
        for (key, value) in bytes where value.contains(where: { $0 != 0 }) { members.append((key, quoted(value))) }
        if let tries = contents.pinTries { members.append(("pin_tries", String(tries))) }
        return members
    }

    // MARK: Version

    /// Reads a card of which only the version is known: `get_version`, and for a MIFARE Plus `card_type`, `memory_size`
    /// and `security_level`.
    static func version(
        _ fields: JSONFields,
        _ family: VersionCardContents.Family
    ) throws(TagImageError) -> VersionCardContents {
        func text(_ key: String) throws(TagImageError) -> String {
            fields.hasValue(key) ? try fields.text(key) : ""
        }
        let version = try fields.bytes("get_version", count: nil)
        guard (28...29).contains(version.count) else {
            throw TagImageError(
                .malformed,
                "\"get_version\" has \(version.count) bytes; an answer has 28 or 29.",
                line: fields.line("get_version")
            )
        }
        var contents = VersionCardContents(family, version: version)
        contents.cardType = try text("card_type")
        contents.memorySize = try text("memory_size")
        contents.securityLevel = try text("security_level")
        return contents
    }

    static func members(of contents: VersionCardContents) -> [(String, String)] {
        let texts = [
            ("card_type", contents.cardType), ("memory_size", contents.memorySize),
            ("security_level", contents.securityLevel),
        ]
        return [("get_version", quoted(contents.version))]
            + texts.filter { !$0.1.isEmpty }.map { ($0.0, JSONText.quoted($0.1)) }
    }
}
