// SPDX-License-Identifier: Apache-2.0

/// Files of tags of which no more is known than their activation: ISO14443-3A, -3B, -4A and -4B.
extension FlipperTagDump {
    static func nfcA(_ fields: FlipperFields) throws(TagImageError) -> NFCAContents {
        NFCAContents(
            uid: try fields.nfcAIdentifier(),
            atqa: try fields.atqa(),
            sak: try fields.octets("SAK", count: 1)[0]
        )
    }

    static func fields(of contents: NFCAContents) -> [FlipperLine] {
        FlipperLine.header(deviceType: "ISO14443-3A", uid: contents.uid)
            + FlipperLine.nfcA(atqa: contents.atqa, sak: contents.sak)
    }

    // MARK: ISO 14443-4

    static func type4A(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        Type4Contents(frontEnd: try frontEndA(fields), kind: .unspecified)
    }

    /// The activation of a Type 4A tag. The ATS is in lines of its parts, or in older files in one line.
    static func frontEndA(_ fields: FlipperFields) throws(TagImageError) -> Type4FrontEnd {
        var ats: [UInt8] = []
        if fields.line("ATS") != nil {
            ats = try fields.octets("ATS", count: nil)
            guard let length = ats.first, Int(length) == ats.count, ats.count <= 254 else {
                throw TagImageError(.malformed, "ATS does not begin with its length.", line: fields.line("ATS"))
            }
        } else {
            if fields.line("T0") != nil { ats += try fields.octets("T0", count: 1) }
            let format = ats.first ?? 0
            for (key, bit) in interfaceOctets where format & bit != 0 { ats += try fields.octets(key, count: 1) }
            if fields.line("T1...Tk") != nil { ats += try fields.octets("T1...Tk", count: nil) }
            guard ats.count <= 253 else {
                throw TagImageError(.malformed, "The ATS has more than 254 octets.", line: fields.line("T1...Tk"))
            }
            ats.insert(UInt8(ats.count + 1), at: 0)
        }
        return .nfcA(
            uid: try fields.nfcAIdentifier(),
            atqa: try fields.atqa(),
            sak: try fields.octets("SAK", count: 1)[0],
            ats: ats
        )
    }

    /// The interface octets of an ATS and the bits of T0 that say that they are there (ISO/IEC 14443-4, 5.2.3).
    private static let interfaceOctets: [(String, UInt8)] = [("TA(1)", 0x10), ("TB(1)", 0x20), ("TC(1)", 0x40)]

    static func type4B(_ fields: FlipperFields) throws(TagImageError) -> Type4Contents {
        let frontEnd = Type4FrontEnd.nfcB(
            pupi: try fields.octets("UID", count: 4),
            applicationData: try fields.octets("Application data", count: 4),
            protocolInfo: try fields.octets("Protocol info", count: 3)
        )
        return Type4Contents(frontEnd: frontEnd, kind: .unspecified)
    }

    static func fields(of contents: Type4Contents) -> [FlipperLine]? {
        if case .desfire(let desfire) = contents.kind {
            guard case .nfcA = contents.frontEnd else { return nil }
            return FlipperLine.header(deviceType: "Mifare DESFire", uid: contents.identifier)
                + frontEndFields(of: contents) + fields(of: desfire)
        }
        guard case .unspecified = contents.kind else { return nil }
        guard case .nfcB(_, _, let info) = contents.frontEnd else {
            return FlipperLine.header(deviceType: "ISO14443-4A", uid: contents.identifier)
                + frontEndFields(of: contents)
        }
        // Bit 0 of the protocol type says ISO/IEC 14443-4 (ISO/IEC 14443-3, 7.9.4.4).
        let device = info.count == 3 && info[1] & 0x01 != 0 ? "ISO14443-4B" : "ISO14443-3B"
        return FlipperLine.header(deviceType: device, uid: contents.identifier) + frontEndFields(of: contents)
    }

    private static func frontEndFields(of contents: Type4Contents) -> [FlipperLine] {
        switch contents.frontEnd {
        case .nfcB(_, let data, let info):
            return [
                .comment("ISO14443-3B specific data"), .field("Application data", octets: data),
                .field("Protocol info", octets: info),
            ]
        case .nfcA(_, let atqa, let sak, let ats):
            var lines = FlipperLine.nfcA(atqa: atqa, sak: sak) + [.comment("ISO14443-4A specific data")]
            var rest = ats.dropFirst()
            guard let format = rest.popFirst() else { return lines }
            lines.append(.field("T0", octets: [format]))
            for (key, bit) in interfaceOctets where format & bit != 0 {
                if let octet = rest.popFirst() { lines.append(.field(key, octets: [octet])) }
            }
            if !rest.isEmpty { lines.append(.field("T1...Tk", octets: Array(rest))) }
            return lines
        }
    }
}
