// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A tag of any technology, as its activation or polling found it.
public enum TagTarget: Sendable, Hashable {
    /// A tag found by REQA.
    case nfcA(NFCATarget)
    /// A card found by REQB.
    case nfcB(NFCBTarget)
    /// A tag found by polling.
    case nfcF(NFCFTarget)
    /// A tag found by an inventory.
    case nfcV(NFCVTarget)

    /// The technology in which it was found.
    public var technology: Technology {
        switch self {
        case .nfcA: .nfcA
        case .nfcB: .nfcB
        case .nfcF: .nfcF
        case .nfcV: .nfcV
        }
    }

    /// What tells it from other tags: the UID of NFC-A and NFC-V, the PUPI of NFC-B, the IDm of NFC-F. Empty for a Type
    /// 1 tag that has not been asked yet.
    public var identifier: [UInt8] {
        switch self {
        case .nfcA(let target): target.uid
        case .nfcB(let target): target.identifier
        case .nfcF(let target): target.idm
        case .nfcV(let target): target.uid
        }
    }

    /// Whether it takes ISO-DEP.
    public var isISODEP: Bool {
        switch self {
        case .nfcA(let target): target.isISODEP
        case .nfcB(let target): target.isISODEP
        case .nfcF, .nfcV: false
        }
    }

    /// What kind of tag this is, as a sentence calls it.
    public var kindName: String {
        switch self {
        case .nfcA(let target): target.kindName
        case .nfcB: "Type B card"
        case .nfcF: "FeliCa tag"
        case .nfcV: "Type 5 tag"
        }
    }
}
