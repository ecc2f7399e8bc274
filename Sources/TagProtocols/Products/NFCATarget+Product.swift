// SPDX-License-Identifier: Apache-2.0

extension NFCATarget {
    /// The name of a MIFARE Classic, or of a product in its place, by SAK (NXP AN10833, 3); nil for other tags.
    ///
    /// MIFARE Plus in security level 1 has the SAK of the MIFARE Classic that it stands for.
    public var classicProductName: String? {
        guard isMIFAREClassic, let sak else { return nil }
        switch sak {
        case 0x09: return "MIFARE Classic Mini"
        case 0x08, 0x88: return "MIFARE Classic 1K"
        case 0x18, 0x98: return "MIFARE Classic 4K"
        case 0x19: return "MIFARE Classic 2K"
        case 0x28: return "smart card with a MIFARE Classic 1K"
        case 0x38: return "smart card with a MIFARE Classic 4K"
        default: return "MIFARE Classic"
        }
    }

    /// Why there is no message to be read from a tag for which there are no NDEF procedures, as a sentence for people.
    public var reasonWithoutNDEF: String {
        if let name = classicProductName {
            return "This is a \(name): its memory is behind a cipher of its own, and phones do not read it as NDEF."
        }
        if isNFCDEP { return "This is another NFC device, which holds no NDEF." }
        return "This is \(isISODEP || isType2 ? "a" : "an") \(kindName), for which there is no way to hold NDEF."
    }
}
