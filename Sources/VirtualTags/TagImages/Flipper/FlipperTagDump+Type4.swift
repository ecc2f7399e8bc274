// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of Type 4 tags, payment cards, and tags known only by their activation or version.
extension FlipperTagDump {
    // MARK: Activation only

    static func nfcA(_ fields: FlipperFields) throws(TagImageError) -> NFCAContents {
        NFCAContents(uid: try fields.nfcAIdentifier("UID"), atqa: try fields.atqa(), sak: try fields.byte("SAK"))
    }

    static func fields(of contents: NFCAContents) -> [FlipperLine] {
        FlipperLine.header(deviceType: "ISO14443-3A", uid: contents.uid)
            + FlipperLine.nfcA(atqa: contents.atqa, sak: contents.sak)
    }

    static func type4B(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        let frontEnd = Type4FrontEnd.nfcB(
            pupi: try fields.bytes("UID", count: 4),
            applicationData: try fields.bytes("Application data", count: 4),
            protocolInfo: try fields.bytes("Protocol info", count: 3)
        )
        return Type4Contents(frontEnd: frontEnd, kind: .unspecified)
    }

    // MARK: Type 4A

    /// Reads a Type 4A tag. Each part of the ATS has a line; in older files, the whole ATS is one line.
    static func type4A(_ fields: FlipperFields, _ kind: Type4Contents.Kind) throws(TagImageError) -> Type4Contents {
        var ats: [UInt8] = []
        if fields.hasValue("ATS") {
            ats = try fields.answerToSelect("ATS")
        } else {
            if fields.hasValue("T0") { ats.append(try fields.byte("T0")) }
            let format = ats.first ?? 0
            for (key, bit) in interfaceBytes where format & bit != 0 { ats.append(try fields.byte(key)) }
            if fields.hasValue("T1...Tk") { ats += try fields.bytes("T1...Tk") }
            guard ats.count <= 253 else {
                throw fields.error(.malformed, "T1...Tk", "The ATS has more than 254 bytes.")
            }
            ats.insert(UInt8(ats.count + 1), at: 0)
        }
        let frontEnd = Type4FrontEnd.nfcA(
            uid: try fields.nfcAIdentifier("UID"),
            atqa: try fields.atqa(),
            sak: try fields.byte("SAK"),
            ats: ats
        )
        return Type4Contents(frontEnd: frontEnd, kind: kind)
    }

    private static let interfaceBytes: [(String, UInt8)] = [("TA(1)", 0x10), ("TB(1)", 0x20), ("TC(1)", 0x40)]

    static func fields(of contents: Type4Contents) -> [FlipperLine]? {
        let deviceType: String
        var lines: [FlipperLine] = []
        switch (contents.frontEnd, contents.kind) {
        case (.nfcB(_, let data, let info), .unspecified):
            // Bit 0 of the protocol type means ISO/IEC 14443-4 (ISO/IEC 14443-3, 7.9.4.4).
            let device = info.count == 3 && info[1] & 0x01 != 0 ? "ISO14443-4B" : "ISO14443-3B"
            return FlipperLine.header(deviceType: device, uid: contents.identifier) + [
                .comment("ISO14443-3B specific data"), .field("Application data", bytes: data),
                .field("Protocol info", bytes: info),
            ]
        case (.nfcB, _): return nil
        case (_, .unspecified): deviceType = "ISO14443-4A"
        case (_, .desfire(let desfire)): (deviceType, lines) = ("Mifare DESFire", fields(of: desfire))
        case (_, .version(let version)): (deviceType, lines) = fields(of: version)
        case (_, .emv(let emv)):
            deviceType = "EMV"
            lines = [.comment("EMV specific data:"), .empty] + FlipperLine.fields(emvFields, of: emv)
        case (_, .ndef(let files)):
            guard let fields = fields(ofFiles: files) else { return nil }
            (deviceType, lines) = ("Type 4 Tag", fields)
        case (_, .ntag424), (_, .emrtd), (_, .mifarePlus), (_, .applications): return nil
        }
        return FlipperLine.header(deviceType: deviceType, uid: contents.identifier)
            + activation(of: contents.frontEnd) + lines
    }

    private static func activation(of frontEnd: Type4FrontEnd) -> [FlipperLine] {
        guard case .nfcA(_, let atqa, let sak, let ats) = frontEnd else { return [] }
        var lines = FlipperLine.nfcA(atqa: atqa, sak: sak) + [.comment("ISO14443-4A specific data")]
        var rest = ats.dropFirst()
        guard let format = rest.popFirst() else { return lines }
        lines.append(.field("T0", bytes: [format]))
        for (key, bit) in interfaceBytes where format & bit != 0 {
            if let byte = rest.popFirst() { lines.append(.field(key, bytes: [byte])) }
        }
        if !rest.isEmpty { lines.append(.field("T1...Tk", bytes: Array(rest))) }
        return lines
    }

    // MARK: Type 4 tags with NDEF

    /// The size of the NDEF file, including its length field, unless the message needs more.
    private static let fileSize = 2048

    /// Reads the NDEF file's message from lines of 16 bytes.
    ///
    /// Dumps don't contain the capability container. A Flipper emulates its own container, and the virtual tag gets the
    /// same: mapping version 2.0, an NDEF file E104 of 2048 bytes, readable and writable.
    static func type4Tag(_ fields: FlipperFields, _ remarks: inout Remarks) throws(TagImageError) -> Type4Contents {
        let size = try fields.number("NDEF Data Size", in: 0...0x7FFD)
        let message = try fields.bytesOfAllLines("NDEF Data")
        guard message.count == size else {
            let reason =
                "NDEF Data has \(message.count) bytes instead of the \(size) of NDEF Data Size; "
                + "the file may have been cut off."
            throw fields.error(.inconsistent, "NDEF Data Size", reason)
        }
        let text =
            "The file does not have the capability container; the virtual tag has the one that a Flipper emulates."
        remarks.append(TagImageRemark(.missing, text))
        return try type4A(fields, .ndef(files: files(message)))
    }

    private static func files(_ message: [UInt8]) -> [UInt16: [UInt8]] {
        let size = max(fileSize, message.count + 2)
        // The maximum sizes of commands and answers are those of the firmware's buffer.
        var files = NDEFApplication(size: size, maximumRead: 246, maximumWrite: 246).files
        let rest = [UInt8](repeating: 0, count: size - 2 - message.count)
        files[0xE104] = [UInt8](bigEndian: message.count, count: 2) + message + rest
        return files
    }

    private static func fields(ofFiles files: [UInt16: [UInt8]]) -> [FlipperLine]? {
        guard let message = message(in: files), withUnusedBytesCleared(files) == Self.files(message) else { return nil }
        let lines = stride(from: 0, to: message.count, by: 16).map { start in
            FlipperLine.field("NDEF Data", bytes: Array(message[start..<min(start + 16, message.count)]))
        }
        return [.comment("Type 4 Tag specific data"), .field("NDEF Data Size", String(message.count))] + lines
    }

    private static func message(in files: [UInt16: [UInt8]]) -> [UInt8]? {
        guard let file = files[0xE104], file.count >= 2 else { return nil }
        let count = Int(high: file[0], low: file[1])
        return count <= file.count - 2 ? Array(file[2..<(2 + count)]) : nil
    }

    static func withUnusedBytesCleared(_ files: [UInt16: [UInt8]]) -> [UInt16: [UInt8]] {
        guard let message = message(in: files), let file = files[0xE104] else { return files }
        var files = files
        files[0xE104] = Array(file.prefix(2)) + message + Array(repeating: 0, count: file.count - 2 - message.count)
        return files
    }

    // MARK: NTAG4xx and Mifare Plus

    private static var versionFields: [FlipperField<VersionCardContents>] {
        [
            .text("Card Type", \.cardType), .text("Security Level", \.securityLevel),
            .text("Memory Size", \.memorySize),
        ]
    }

    static func versionCard(
        _ fields: FlipperFields,
        _ family: VersionCardContents.Family
    ) throws(TagImageError) -> Type4Contents {
        var contents = VersionCardContents(family, version: try fields.cardVersion("PICC Version"))
        if family == .mifarePlus { try fields.read(versionFields, into: &contents) }
        return try type4A(fields, .version(contents))
    }

    private static func fields(of contents: VersionCardContents) -> (deviceType: String, lines: [FlipperLine]) {
        var version = contents.version
        switch contents.family {
        case .ntag4xx:
            version += Array(repeating: 0, count: max(0, 29 - version.count))
            return ("NTAG4xx", [.comment("NTAG4xx specific data"), .field("PICC Version", bytes: version)])
        case .mifarePlus:
            let head: [FlipperLine] = [.comment("Mifare Plus specific data"), .field("PICC Version", bytes: version)]
            return ("Mifare Plus", head + FlipperLine.fields(versionFields, of: contents))
        }
    }

    // MARK: EMV

    /// The data that a payment application sends to every terminal.
    private static var emvFields: [FlipperField<EMVContents>] {
        func date(_ name: String, _ path: WritableKeyPath<EMVContents, EMVContents.Date>) -> [FlipperField<EMVContents>]
        {
            ["year", "month", "day"].enumerated().map { index, part in
                .byte("\(name) \(part)", path.appending(path: \.digits[index])).required
            }
        }
        return [
            .cardText("Cardholder name", \.cardholder), .cardText("Application name", \.name),
            .cardText("Application label", \.label),
            .written("PAN length") { .number($0.accountNumber.count) },
            .written("PAN") { .bytes($0.accountNumber) },
            .written("AID length") { .number($0.applicationIdentifier.count) },
            .written("AID") { .bytes($0.applicationIdentifier) },
            .bytes(profileKey, \.interchangeProfile, count: 2),
            // The firmware writes 16-bit numbers in the processor's byte order.
            .word("Country code", \.country, lowByteFirst: true).required,
            .word("Currency code", \.currency, lowByteFirst: true).required,
        ] + date("Expiration", \.expiration) + date("Effective", \.effective) + [
            FlipperField(triesKey) { (fields, contents) throws(TagImageError) in
                let key = earlierTriesKeys.first { fields.hasValue($0) } ?? triesKey
                let tries = try fields.number(key, in: 0...255)
                contents.pinTries = tries == unknownTries ? nil : UInt8(tries)
            } write: {
                .number($0.pinTries.map { Int($0) } ?? unknownTries)
            }.required
        ]
    }

    private static let profileKey = "Application interchange profile"
    static let triesKey = "PIN try counter"
    static let earlierTriesKeys = ["PIN attempts left", "PIN counter"]
    /// The value in a file for a counter that the card did not reveal.
    private static let unknownTries = 255

    static func emv(_ fields: FlipperFields, _ remarks: inout Remarks) throws(TagImageError) -> Type4Contents {
        let lengths = (try fields.number("AID length", in: 0...16), try fields.number("PAN length", in: 0...16))
        var contents = try fields.paymentCard("AID", "PAN", counts: lengths)
        try fields.read(emvFields, into: &contents)
        // Earlier firmware wrote no profile. A file that was cut off before the profile also lacks the country.
        if !fields.hasValue(profileKey) {
            let text =
                "The file was written by earlier firmware and has no application interchange profile; on the virtual "
                + "card, the profile is zeros."
            remarks.append(TagImageRemark(.missing, text))
        }
        return try type4A(fields, .emv(contents))
    }
}
