// SPDX-License-Identifier: Apache-2.0

/// A tag that a reader found and activated, and the link to it.
public struct DiscoveredTag: Sendable {
    /// The data that the tag sent while the reader activated it.
    public enum Identity: Sendable, Hashable {
        /// An NFC-A tag. In the ATQA the second byte on the air is the high byte. The SAK is that of the last cascade
        /// level, nil for a Type 1 tag. The UID has 4, 7 or 10 bytes (ISO/IEC 14443-3, 6), or is empty when the reader
        /// doesn't report it.
        case nfcA(atqa: UInt16, sak: UInt8?, uid: [UInt8])
        /// An NFC-B card. The answer is its ATQB from the byte 50 on, without checksum: 12 or 13 bytes (ISO/IEC
        /// 14443-3, 7.9).
        case nfcB(answer: [UInt8])
        /// An NFC-F tag: IDm and PMm of 8 bytes each, and the system code that was polled for (JIS X 6319-4).
        case nfcF(idm: [UInt8], pmm: [UInt8], systemCode: UInt16?)
        /// An NFC-V tag: the UID of 8 bytes, which starts with E0, and the DSFID (ISO/IEC 15693-3, 4.1).
        case nfcV(uid: [UInt8], dsfid: UInt8)

        /// The technology that the tag was found with.
        public var technology: Technology {
            switch self {
            case .nfcA: .nfcA
            case .nfcB: .nfcB
            case .nfcF: .nfcF
            case .nfcV: .nfcV
            }
        }
    }

    /// The link to the tag.
    public enum Port: Sendable {
        /// The host sends frames. Nothing was sent after the tag was selected, so a card with ISO-DEP waits for RATS or
        /// ATTRIB.
        case frames(any SelfActivatingLink)
        /// The reader handles ISO-DEP. For a Type A card, `answerToSelect` is the ATS, starting at TL.
        case commands(any APDULink, answerToSelect: [UInt8]?)
    }

    /// The data that the tag sent while it was activated.
    public var identity: Identity
    /// The link to the tag.
    public var port: Port

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - identity: the data that the tag sent while it was activated.
    ///   - port: the link to the tag.
    public init(identity: Identity, port: Port) {
        self.identity = identity
        self.port = port
    }
}
