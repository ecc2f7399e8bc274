// SPDX-License-Identifier: Apache-2.0
import TagProtocols

/// The ATR that a reader creates for a card without an ATR (PC/SC 2.01 part 3, 3.1.3.2.3).
enum EmulatedAnswerToReset {
    /// The ATR of a card.
    static func bytes(for card: FieldCard, _ profile: ReaderProfile) -> [UInt8] {
        switch card.kind {
        case .nfcA where card.isoDEP != nil:
            return make(historical: card.isoDEP?.answerToSelect?.historicalBytes ?? [])
        case .nfcB(let target) where card.isoDEP != nil:
            // Application data, protocol info, and the buffer length in ATTRIB's answer, which cards leave 0.
            return make(historical: target.applicationData + target.protocolInfo.prefix(3) + [0])
        default:
            let (standard, name) = storageCard(card, profile)
            // Category 80, then an application identifier of PC/SC: standard, card name, four unused bytes.
            return make(
                historical: [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, standard]
                    + [UInt8(name >> 8), UInt8(name & 0xFF), 0, 0, 0, 0]
            )
        }
    }

    /// TS, T0, TD1 and TD2 (for T=0 and T=1), the historical bytes and the check byte.
    private static func make(historical: [UInt8]) -> [UInt8] {
        let historical = historical.prefix(15)
        let bytes = [0x80 | UInt8(historical.count), 0x80, 0x01] + historical
        return [0x3B] + bytes + [bytes.reduce(0, ^)]
    }

    /// The numbers of a storage card's standard and name.
    private static func storageCard(_ card: FieldCard, _ profile: ReaderProfile) -> (standard: UInt8, name: UInt16) {
        let isACR122U = profile.escapes == .pn532
        switch card.kind {
        case .nfcA(let target):
            switch target.sak {
            case 0x00: return (0x03, 0x0003)
            case 0x08: return (0x03, 0x0001)
            case 0x18: return (0x03, 0x0002)
            case 0x09: return (0x03, 0x0026)
            default: return (0x03, 0xFF00 | UInt16(target.sak ?? 0))
            }
        // The ACR122U has its own numbers (ACR122U API 2.04, 3.1.1).
        case .type1: return isACR122U ? (0x03, 0xF004) : (0x02, 0x0030)
        case .nfcF: return isACR122U ? (0x03, 0xF011) : (0x11, 0x003B)
        case .nfcB: return (0x07, 0x0000)
        case .nfcV(let target):
            switch target.manufacturer {
            case 0x04: return (0x0B, 0x0014)
            case 0x07: return (0x0B, 0x0012)
            default: return (0x0B, 0x0000)
            }
        }
    }
}
