// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What the four kinds of tags have in common. Clients need it only for tags that they write themselves.
public protocol __NFCTag: NSObjectProtocol, NSSecureCoding, NSCopying {
    /// The technology of the tag.
    var type: __NFCTagType { get }

    /// The session that found the tag; nil when it is gone.
    var session: (any NFCReaderSessionProtocol)? { get }

    /// Whether the tag is connected and has not left the field; false for a tag that is not connected.
    ///
    /// A tag that leaves becomes unavailable by itself where the reader tells, as the virtual reader and PC/SC do. On any other
    /// reader the property has the tag asked meanwhile, and is false when it is read again. Connecting to the tag again
    /// always makes sure.
    var isAvailable: Bool { get }

    /// The tag itself when it is an ISO/IEC 15693 tag.
    func asNFCISO15693Tag() -> (any NFCISO15693Tag)?

    /// The tag itself when it has an ISO/IEC 7816 application.
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)?

    /// The tag itself when it is a FeliCa card.
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)?

    /// The tag itself when it is a MIFARE card.
    func asNFCMiFareTag() -> (any NFCMiFareTag)?
}
