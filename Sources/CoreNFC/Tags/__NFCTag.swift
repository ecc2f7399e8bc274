// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What the four kinds of tags have in common. Clients need it only for tags that they write themselves.
@preconcurrency
public protocol __NFCTag: NSObjectProtocol, NSSecureCoding, NSCopying, Sendable {
    /// The technology of the tag.
    var type: __NFCTagType { get }

    /// The session that found the tag; nil when it is gone.
    var session: (any NFCReaderSessionProtocol)? { get }

    /// Whether the tag can be used: it was found last, and has not been lost since.
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
