// SPDX-License-Identifier: Apache-2.0
import TagLink

/// An ATR (answer to reset). A card with contacts sends its own ATR; a contactless reader creates an ATR for the card
/// (ISO/IEC 7816-3, 8.2; PC/SC part 3, 3.1.3.2.3).
package struct AnswerToReset: Sendable, Hashable {
    /// The part of an ATR that describes a storage card.
    package struct StorageCard: Sendable, Hashable {
        package var standard: UInt8
        /// The card's name: a number from the list in the supplement to part 3, or from the reader's manufacturer.
        package var name: UInt16
    }

    package var bytes: [UInt8]
    package var historicalBytes: [UInt8]
    /// Whether the interface bytes are 80 and 01. Contactless readers use these to announce T=0 and T=1.
    package var isContactless: Bool

    /// The RID of PC/SC. The application identifier of a storage card begins with it.
    private static let registeredIdentifier: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x06]

    /// Parses an ATR. Returns nil when the bytes are not an ATR: they are too short, the initial character is wrong, or
    /// they end before the historical bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2, bytes.count <= 33, bytes[0] == 0x3B || bytes[0] == 0x3F else { return nil }
        let count = Int(bytes[1] & 0x0F)
        var position = 2
        var indicator = bytes[1] >> 4
        var interface: [UInt8] = []
        while indicator != 0 {
            let wanted = indicator.nonzeroBitCount
            guard position + wanted <= bytes.count else { return nil }
            interface += bytes[position..<position + wanted]
            position += wanted
            indicator = indicator & 0x08 != 0 ? bytes[position - 1] >> 4 : 0
        }
        guard position + count <= bytes.count else { return nil }
        self.bytes = bytes
        historicalBytes = Array(bytes[position..<position + count])
        isContactless = bytes[0] == 0x3B && interface == [0x80, 0x01]
    }

    package var storageCard: StorageCard? {
        // 80: compact TLV; 4F: an application identifier of 12 bytes follows.
        guard historicalBytes.count >= 11, historicalBytes[0] == 0x80, historicalBytes[1] == 0x4F,
            Array(historicalBytes[3..<8]) == Self.registeredIdentifier
        else { return nil }
        return StorageCard(
            standard: historicalBytes[8],
            name: UInt16(high: historicalBytes[9], low: historicalBytes[10])
        )
    }
}

extension AnswerToReset.StorageCard {
    package enum Kind: Sendable, Hashable {
        /// An NFC-A tag without ISO-DEP, with its SAK if known.
        case nfcA(sak: UInt8?)
        case type1
        case nfcF
        case nfcV
        /// A card that phones don't read. The text describes it in a sentence.
        case other(String)
    }

    package var kind: Kind {
        // ACS and other manufacturers use their own names with the standard ISO/IEC 14443-3 A.
        switch name {
        case 0xF004, 0x002F, 0x0030: return .type1
        case 0xF011, 0xF012, 0x003B: return .nfcF
        case 0xFF00...0xFFFF where standard == 0x03: return .nfcA(sak: UInt8(name & 0xFF))
        default: break
        }
        switch standard {
        case 0x01...0x03: return .nfcA(sak: Self.selectAcknowledge[name])
        case 0x05...0x07: return .other("Type B memory card")
        case 0x09...0x0C: return .nfcV
        case 0x11: return .nfcF
        case 0x0D...0x10: return .other("memory card with contacts")
        case 0x40: return .other("low frequency transponder")
        default:
            // The standard is unknown, so only the name identifies the card.
            return Self.selectAcknowledge[name].map { .nfcA(sak: $0) }
                ?? (Self.vicinityNames.contains(name) ? .nfcV : .other("card of an unknown kind"))
        }
    }

    /// SAK by name (PC/SC part 3 supplement; NXP AN10833).
    private static let selectAcknowledge: [UInt16: UInt8] = [
        0x0001: 0x08, 0x0002: 0x18, 0x0003: 0x00, 0x0026: 0x09, 0x0036: 0x08, 0x0037: 0x18, 0x0038: 0x10, 0x0039: 0x11,
        0x003A: 0x00, 0x003D: 0x00,
    ]
    private static let vicinityNames: Set<UInt16> = [0x0012, 0x0014, 0x0015, 0x0016, 0x0017, 0x0018, 0x0035]
}

/// Identifies a tag by the reader's answers to GET DATA FF CA (PC/SC part 3, 3.2.2.1.3) and by the tag's ATR.
enum TagIdentification {
    /// Returns the tag's UID, PUPI or IDm; empty when the reader does not report it.
    static func identifier(_ connection: CardConnection) throws(LinkError) -> [UInt8] {
        let answer = try connection.ask([0xFF, 0xCA, 0x00, 0x00, 0x00])
        return answer.isDone ? answer.data : []
    }

    /// Returns the ATS of a Type A card, from TL on, if the reader reports it. If it reports only the historical bytes,
    /// the ATS is made from these.
    static func answerToSelect(_ connection: CardConnection) throws(LinkError) -> [UInt8]? {
        let answer = try connection.ask([0xFF, 0xCA, 0x01, 0x00, 0x00])
        guard answer.isDone else { return nil }
        // The standard only requires the historical bytes, but many readers return the whole ATS.
        if let length = answer.data.first, Int(length) == answer.data.count { return answer.data }
        return makeAnswerToSelect(historicalBytes: answer.data)
    }

    /// Makes an ATS with only historical bytes and FSCI 8, the largest. The reader handles frame sizes and times.
    static func makeAnswerToSelect(historicalBytes: [UInt8]) -> [UInt8] {
        let historicalBytes = historicalBytes.prefix(253)
        return [UInt8(2 + historicalBytes.count), 0x08] + historicalBytes
    }

    /// Returns the identity of a card with ISO-DEP. The identifier may be empty; the ATS is nil if the reader did not
    /// report it.
    static func card(
        _ answer: AnswerToReset,
        identifier: [UInt8],
        answerToSelect: [UInt8]?
    ) -> (identity: DiscoveredTag.Identity, answerToSelect: [UInt8]?) {
        let historical = answer.historicalBytes
        // The historical bytes of a Type B card are its application data, protocol info and MBLI (PC/SC part 3,
        // 3.1.3.2.3.1). The protocol info shows ISO-DEP support, and MBLI is the upper half of its byte.
        if answerToSelect == nil, answer.isContactless, identifier.count == 4, historical.count == 8,
            historical[5] & 0x01 != 0, historical[7] & 0x0F == 0
        {
            return (.nfcB(answer: [0x50] + identifier + historical[..<7]), nil)
        }
        let ats = answerToSelect ?? makeAnswerToSelect(historicalBytes: historical)
        let uid = uniqueIdentifier(identifier)
        return (.nfcA(atqa: atqa(uid, historicalBytes: historical), sak: 0x20, uid: uid), ats)
    }

    /// Returns a likely ATQA, because the reader does not report it. The lower byte depends on the UID's size. The
    /// upper byte identifies a DESFire.
    private static func atqa(_ uid: [UInt8], historicalBytes: [UInt8]) -> UInt16 {
        let isDESFire = uid.count == 7 && uid.first == 0x04 && (historicalBytes.isEmpty || historicalBytes == [0x80])
        return isDESFire ? 0x0344 : atqa(uid)
    }

    /// Returns the ATQA for the size of a UID (ISO/IEC 14443-3, 6.5.2).
    static func atqa(_ uid: [UInt8]) -> UInt16 {
        switch uid.count {
        case 7: 0x0044
        case 10: 0x0084
        default: 0x0004
        }
    }

    /// Returns the reported UID of an NFC-A tag; empty when it can't be a UID (ISO/IEC 14443-3, 6.5.4).
    static func uniqueIdentifier(_ identifier: [UInt8]) -> [UInt8] {
        [4, 7, 10].contains(identifier.count) ? identifier : []
    }

    /// Returns the UID of an ISO/IEC 15693 tag, starting with E0. Some readers report the UID in reverse, the order of
    /// transmission.
    static func vicinityIdentifier(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 8 else { return nil }
        if bytes[0] != 0xE0, bytes[7] == 0xE0 { return bytes.reversed() }
        return bytes
    }
}
