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

    /// Creates a target from the data that a reader reports after activating a tag.
    ///
    /// - Parameter identity: the data of the tag.
    /// - Throws: ``TagError`` with `badAnswer` when the data break every standard.
    public init(_ identity: DiscoveredTag.Identity) throws(TagError) {
        switch identity {
        case .nfcA(let atqa, let sak, let uid): self = .nfcA(NFCATarget(atqa: atqa, sak: sak, uid: uid))
        case .nfcB(let answer): self = .nfcB(try NFCBTarget(answer))
        case .nfcF(let idm, let pmm, let systemCode):
            guard idm.count == 8, pmm.count == 8 else {
                throw TagError(.badAnswer, "IDm and PMm do not have eight bytes each (JIS X 6319-4).")
            }
            self = .nfcF(NFCFTarget(idm: idm, pmm: pmm, systemCode: systemCode))
        case .nfcV(let uid, let dsfid):
            guard uid.count == 8 else {
                throw TagError(.badAnswer, "The UID does not have eight bytes (ISO/IEC 15693-3, 4.1).")
            }
            self = .nfcV(NFCVTarget(uid: uid, dsfid: dsfid))
        }
    }

    /// The technology that the tag was found with.
    public var technology: Technology {
        switch self {
        case .nfcA: .nfcA
        case .nfcB: .nfcB
        case .nfcF: .nfcF
        case .nfcV: .nfcV
        }
    }

    /// The tag's identifier: the UID of NFC-A and NFC-V, the PUPI of NFC-B, the IDm of NFC-F. Empty for a Type 1 tag
    /// before RID, and when the reader does not report the UID.
    public var identifier: [UInt8] {
        switch self {
        case .nfcA(let target): target.uid
        case .nfcB(let target): target.identifier
        case .nfcF(let target): target.idm
        case .nfcV(let target): target.uid
        }
    }

    /// Whether the tag supports ISO-DEP.
    public var isISODEP: Bool {
        switch self {
        case .nfcA(let target): target.isISODEP
        case .nfcB(let target): target.isISODEP
        case .nfcF, .nfcV: false
        }
    }

    /// The kind of tag, as it is called in a sentence.
    public var kindName: String {
        switch self {
        case .nfcA(let target): target.kindName
        case .nfcB: "Type B card"
        case .nfcF: "FeliCa tag"
        case .nfcV: "Type 5 tag"
        }
    }
}
