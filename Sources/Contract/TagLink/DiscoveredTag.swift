// SPDX-License-Identifier: Apache-2.0

/// A tag that a reader found and activated by itself, and the way to talk to it.
public struct DiscoveredTag: Sendable {
    /// What the tag said of itself while the reader activated it.
    public enum Identity: Sendable, Hashable {
        /// An NFC-A tag: ATQA with the second octet on the air as the high one, SAK of the last cascade level (nil for a
        /// Type 1 tag), and the UID of 4, 7 or 10 bytes (ISO/IEC 14443-3, 6); empty where the reader does not report it.
        case nfcA(atqa: UInt16, sak: UInt8?, uid: [UInt8])
        /// An NFC-B card: its ATQB from 50 on, without checksum, 12 or 13 octets (ISO/IEC 14443-3, 7.9).
        case nfcB(answer: [UInt8])
        /// An NFC-F tag: IDm and PMm of 8 octets, and the system that was asked for (JIS X 6319-4).
        case nfcF(idm: [UInt8], pmm: [UInt8], systemCode: UInt16?)
        /// An NFC-V tag: 8 octets from E0 on, and the DSFID (ISO/IEC 15693-3, 4.1).
        case nfcV(uid: [UInt8], dsfid: UInt8)

        /// The technology in which the tag was found.
        public var technology: Technology {
            switch self {
            case .nfcA: .nfcA
            case .nfcB: .nfcB
            case .nfcF: .nfcF
            case .nfcV: .nfcV
            }
        }
    }

    /// The way to talk to the tag.
    public enum Port: Sendable {
        /// The host sends frames. Nothing was sent to the tag after it was selected; a card that takes ISO-DEP waits for
        /// RATS or ATTRIB.
        case frames(any SelfActivatingLink)
        /// The reader speaks ISO-DEP with the card. For a Type A card the ATS comes with it, from TL on.
        case commands(any APDULink, answerToSelect: [UInt8]?)
    }

    /// What the tag said of itself.
    public var identity: Identity
    /// The way to talk to it.
    public var port: Port

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - identity: what the tag said of itself.
    ///   - port: the way to talk to it.
    public init(identity: Identity, port: Port) {
        self.identity = identity
        self.port = port
    }
}

/// A link to one tag, which its reader selects by itself: REQA, polling and inventory can't be sent over it.
public protocol SelfActivatingLink: FrameLink {
    /// Makes the tag ready for commands again, such as one that fell asleep because it refused a command.
    ///
    /// - Throws: ``LinkError`` with `tagRemoved` or `timeout` when it does not answer, or another tag does;
    ///   `readerUnavailable` or `cancelled`.
    func reactivate() async throws(LinkError)
}
