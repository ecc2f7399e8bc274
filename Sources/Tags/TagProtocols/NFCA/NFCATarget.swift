// SPDX-License-Identifier: Apache-2.0

/// The data that an NFC-A tag sends while it is activated (ISO/IEC 14443-3, 6).
public struct NFCATarget: Sendable, Hashable {
    /// ATQA. The second byte on the air is the high byte: 0x0044 for a Type 2 tag with a 7-byte UID.
    ///
    /// When several tags answered at once, ATQA could not be received. Then it contains only the UID size from
    /// anticollision.
    public var atqa: UInt16
    /// SAK of the last cascade level; nil for a Type 1 tag, which has none.
    public var sak: UInt8?
    /// The UID: 4, 7 or 10 bytes, without cascade tags. Empty for a Type 1 tag, which sends it in answer to RID, and
    /// when the reader does not report it.
    public var uid: [UInt8]

    /// Creates a target.
    public init(atqa: UInt16, sak: UInt8?, uid: [UInt8]) {
        self.atqa = atqa
        self.sak = sak
        self.uid = uid
    }
}

extension NFCATarget {
    /// Returns whether an ATQA belongs to a Type 1 tag: no anticollision, configuration 1100 (NFC Forum Digital 2.3,
    /// 6.6.3).
    static func isType1(atqa: UInt16) -> Bool {
        atqa & 0x0F1F == 0x0C00
    }

    /// Whether this is a Type 1 tag, such as a Topaz.
    public var isType1: Bool { sak == nil && Self.isType1(atqa: atqa) }

    /// Whether this is a Type 2 tag: its SAK has neither ISO-DEP nor NFC-DEP, and isn't that of a MIFARE Classic (NFC
    /// Forum Digital 2.3, 6.8.2; NXP AN10833).
    public var isType2: Bool {
        guard let sak else { return false }
        return sak & 0x60 == 0 && !isMIFAREClassic
    }

    /// Whether the tag supports ISO-DEP, as Type 4A tags do (ISO/IEC 14443-3, 6.5.3.4).
    public var isISODEP: Bool { sak.map { $0 & 0x20 != 0 } ?? false }

    /// Whether the target supports NFC-DEP, as another device does (NFC Forum Digital 2.3, 6.8.2).
    public var isNFCDEP: Bool { sak.map { $0 & 0x40 != 0 } ?? false }

    /// Whether the SAK is that of a MIFARE Classic or of a product that behaves like one (NXP AN10833).
    public var isMIFAREClassic: Bool {
        sak.map { $0 & 0x08 != 0 || $0 == 0x01 || isMIFAREPlusLevel2 } ?? false
    }

    /// Whether the SAK is that of a MIFARE Plus in security level 2. It supports neither ISO-DEP nor the commands of
    /// Type 2 tags (NXP AN10833).
    private var isMIFAREPlusLevel2: Bool { sak == 0x10 || sak == 0x11 }

    /// The kind of tag, as it is called in a sentence, such as `Type 2 tag` or `MIFARE Classic card`.
    public var kindName: String {
        if isType1 { return "Type 1 tag" }
        if isISODEP { return "Type 4 tag or other ISO/IEC 14443-4 card" }
        if isMIFAREPlusLevel2 { return "MIFARE Plus card in security level 2" }
        if isMIFAREClassic { return "MIFARE Classic card" }
        if isNFCDEP { return "NFC-DEP device" }
        return isType2 ? "Type 2 tag" : "NFC-A tag of an unknown kind"
    }

    /// The manufacturer's code in a unique UID (ISO/IEC 7816-6): 0x04 for NXP; nil for 4-byte identifiers.
    public var manufacturer: UInt8? { uid.count >= 7 ? uid.first : nil }

    /// NXP's manufacturer code.
    static let nxp: UInt8 = 0x04

    /// Whether NXP made the tag, as far as a unique UID shows it.
    package var isNXP: Bool { manufacturer == Self.nxp }
}
