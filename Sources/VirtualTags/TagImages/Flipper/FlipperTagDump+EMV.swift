// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of payment cards: the activation, and the data that the application sends to every terminal.
extension FlipperTagDump {
    static func emv(
        _ fields: FlipperFields,
        _ remarks: inout [TagImageRemark]
    ) throws(TagImageError) -> Type4Contents {
        func bytes(_ name: String) throws(TagImageError) -> [UInt8] {
            try fields.bytes(name, count: fields.number("\(name) length", in: 0...16))
        }
        func text(_ key: String) throws(TagImageError) -> String {
            let text = fields.line(key) == nil ? "" : try fields.text(key)
            guard EMVContents.canHold(text) else {
                throw TagImageError(.malformed, "\(key) is longer than any that a card has.", line: fields.line(key))
            }
            return text
        }
        // 16-bit numbers are in the processor's order: low byte first.
        func number(_ key: String) throws(TagImageError) -> UInt16 {
            UInt16(try fields.bytes(key, count: 2).littleEndian(at: 0, count: 2))
        }
        func date(_ name: String) throws(TagImageError) -> EMVContents.Date {
            var digits: [UInt8] = []
            for part in ["year", "month", "day"] { digits += try fields.bytes("\(name) \(part)", count: 1) }
            return EMVContents.Date(digits)
        }
        var contents = EMVContents(applicationIdentifier: try bytes("AID"), accountNumber: try bytes("PAN"))
        guard contents.isInRange else {
            throw TagImageError(.malformed, "AID has 5 to 16 bytes, and PAN at most 10.", line: fields.line("AID"))
        }
        contents.cardholder = try text("Cardholder name")
        contents.name = try text("Application name")
        contents.label = try text("Application label")
        // Files of earlier firmware continue with the country. A file that ends here was cut off.
        if fields.line(profileKey) == nil, fields.line("Country code") != nil {
            let text =
                "The file is of an earlier firmware and has no application interchange profile; the virtual card has zeros."
            remarks.append(TagImageRemark(.missing, text))
        } else {
            contents.interchangeProfile = try fields.bytes(profileKey, count: 2)
        }
        contents.country = try number("Country code")
        contents.currency = try number("Currency code")
        contents.expiration = try date("Expiration")
        contents.effective = try date("Effective")
        let triesKey = earlierTriesKeys.first { fields.line($0) != nil } ?? Self.triesKey
        let tries = try fields.number(triesKey, in: 0...255)
        contents.pinTries = tries == Self.unknownTries ? nil : UInt8(tries)
        return Type4Contents(frontEnd: try frontEndA(fields), kind: .emv(contents))
    }

    private static let profileKey = "Application interchange profile"

    /// The counter of PIN attempts, and its name in earlier firmware.
    static let triesKey = "PIN try counter"
    static let earlierTriesKeys = ["PIN attempts left", "PIN counter"]

    /// The value for a counter that the card did not reveal.
    private static let unknownTries = 255

    static func fields(of contents: EMVContents) -> [FlipperLine] {
        func date(_ name: String, _ date: EMVContents.Date) -> [FlipperLine] {
            zip(["year", "month", "day"], date.digits).map { .field("\(name) \($0)", bytes: [$1]) }
        }
        return [
            .comment("EMV specific data:"), .empty, .field("Cardholder name", contents.cardholder),
            .field("Application name", contents.name), .field("Application label", contents.label),
            .field("PAN length", String(contents.accountNumber.count)), .field("PAN", bytes: contents.accountNumber),
            .field("AID length", String(contents.applicationIdentifier.count)),
            .field("AID", bytes: contents.applicationIdentifier),
            .field(profileKey, bytes: contents.interchangeProfile),
            .field("Country code", bytes: contents.country.littleEndianBytes),
            .field("Currency code", bytes: contents.currency.littleEndianBytes),
        ] + date("Expiration", contents.expiration) + date("Effective", contents.effective)
            + [.field(triesKey, String(contents.pinTries.map { Int($0) } ?? unknownTries))]
    }
}
