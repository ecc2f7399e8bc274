// SPDX-License-Identifier: Apache-2.0
import TagLink

/// An ATR (answer to reset). A card with contacts sends one; a contactless reader creates one for the card (ISO/IEC
/// 7816-3, 8.2; PC/SC part 3, 3.1.3.2.3).
package struct AnswerToReset: Sendable, Hashable {
    /// What the ATR says about a storage card.
    package struct StorageCard: Sendable, Hashable {
        /// The standard that the reader uses with the card.
        package var standard: UInt8
        /// The card's name: a number from the list in the supplement to part 3, or from the reader's manufacturer.
        package var name: UInt16
    }

    /// The bytes.
    package var bytes: [UInt8]
    /// The historical bytes.
    package var historicalBytes: [UInt8]
    /// Whether the interface bytes are 80 and 01. Contactless readers set these for T=0 and T=1.
    package var isContactless: Bool

    /// The RID of PC/SC, with which the application identifier of a storage card begins.
    private static let registeredIdentifier: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x06]

    /// Parses an ATR.
    ///
    /// - Returns: nil when the bytes are not an ATR: too short, a wrong initial character, or an end before the
    ///   historical bytes.
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

    /// The storage card; nil for any other card.
    package var storageCard: StorageCard? {
        // 80: compact TLV; 4F: application identifier of 12 bytes.
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
    /// The kind of the card, as far as its ATR says.
    package enum Kind: Sendable, Hashable {
        /// An NFC-A tag without ISO-DEP, with its SAK if that is known.
        case nfcA(sak: UInt8?)
        /// A Type 1 tag.
        case type1
        /// A FeliCa tag.
        case nfcF
        /// An ISO/IEC 15693 tag.
        case nfcV
        /// A card that phones don't read, with words for a sentence.
        case other(String)
    }

    /// The kind of the card.
    package var kind: Kind {
        // ACS and others use their own names under the standard of ISO/IEC 14443-3 A.
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
            // There is no standard, so only the name identifies the card.
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
