// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What the four kinds of tags have in common. Clients need it only for their own tag classes.
public protocol __NFCTag: NSObjectProtocol, NSSecureCoding, NSCopying {
    /// The technology of the tag.
    var type: __NFCTagType { get }

    /// The session that found the tag; nil when the session no longer exists.
    var session: (any NFCReaderSessionProtocol)? { get }

    /// Whether the tag is connected and has not left the field; false for a tag that is not connected.
    ///
    /// A reader that reports when a tag leaves, such as the virtual reader or a PC/SC reader, makes the property false
    /// at once. With any other reader, reading the property also starts a check of the tag, and a later read returns
    /// the result. Connecting to the tag again always checks that it is near.
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
