// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NFCSessions
import TagProtocols

/// A tag that an ``NFCTagReaderSession`` found, by its technology.
///
/// The value is only a wrapper: two values with the same object inside stand for the same tag, and you can pass either
/// to ``NFCTagReaderSession/connect(to:completionHandler:)``.
public enum NFCTag {
    /// A FeliCa card.
    case feliCa(any NFCFeliCaTag)
    /// A card with an application of the app's list, which is already selected.
    case iso7816(any NFCISO7816Tag)
    /// An ISO/IEC 15693 tag.
    case iso15693(any NFCISO15693Tag)
    /// A MIFARE card: Ultralight, NTAG, Plus or DESFire.
    case miFare(any NFCMiFareTag)

    /// Whether the tag is connected and has not left the field; false for a tag that is not connected.
    ///
    /// A reader that reports when a tag leaves, such as the virtual reader or a PC/SC reader, makes the property false
    /// at once. With any other reader, reading the property also starts a check of the tag, and a later read returns
    /// the result. Connecting to the tag again always checks that it is near.
    public var isAvailable: Bool { ndefTag.isAvailable }

    /// The tag as sessions that only look for NDEF report it.
    var ndefTag: any NFCNDEFTag {
        switch self {
        case .feliCa(let tag): tag
        case .iso7816(let tag): tag
        case .iso15693(let tag): tag
        case .miFare(let tag): tag
        }
    }

    /// The object that stands for the tag, if a session of this framework created it.
    var object: TagObject? { ndefTag as? TagObject }

    // MARK: Detection

    /// Creates the object for a tag, by what the tag reported during detection.
    ///
    /// - Parameters:
    ///   - context: the tag's handle, and what its object knows of its session.
    ///   - hasApplicationList: whether the app lists applications. If not, every card that is not a MIFARE card counts
    ///     as an ISO 7816 tag with no application selected.
    /// - Returns: nil for a tag that phones don't detect, such as a MIFARE Classic.
    package init?(_ context: TagContext, hasApplicationList: Bool) {
        let handle = context.handle
        let hasApplication = handle.selectedApplication != nil || handle.supportsPACE
        switch handle.target {
        case .nfcA(let target) where target.isISODEP:
            self =
                hasApplication || !hasApplicationList && !target.isNXP
                ? .iso7816(DetectedISO7816Tag(context)) : .miFare(DetectedMiFareTag(context))
        case .nfcA(let target):
            guard target.isType2 else { return nil }
            self = .miFare(DetectedMiFareTag(context))
        case .nfcB:
            guard hasApplication || !hasApplicationList else { return nil }
            self = .iso7816(DetectedISO7816Tag(context))
        case .nfcF: self = .feliCa(DetectedFeliCaTag(context))
        case .nfcV: self = .iso15693(DetectedISO15693Tag(context))
        }
    }

    /// The polling options that find such a tag; each of them is sufficient.
    var options: NFCTagReaderSession.PollingOption {
        switch self {
        case .iso7816: [.iso14443, .pace]
        case .miFare: .iso14443
        case .feliCa: .iso18092
        case .iso15693: .iso15693
        }
    }
}

extension NFCReaderSession {
    func context(of handle: ConnectableTag) -> TagContext {
        TagContext(handle, session: self, queue: sessionQueue, configuration: configuration)
    }

    /// The tag that a handle stands for; nil for a tag that phones don't detect.
    func tag(for handle: ConnectableTag) -> NFCTag? {
        NFCTag(context(of: handle), hasApplicationList: hasApplicationList)
    }
}

/// What the four kinds of tags have in common. Clients need it only for their own tag classes.
public protocol __NFCTag: NSObjectProtocol, NSSecureCoding, NSCopying {
    /// The technology of the tag.
    var type: __NFCTagType { get }

    /// The session that found the tag; nil when the session no longer exists.
    var session: (any NFCReaderSessionProtocol)? { get }

    /// Whether the tag is connected and has not left the field; see ``NFCTag/isAvailable``.
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

/// The technology of a tag. Clients need it only for their own tag classes.
public enum __NFCTagType: UInt, Sendable {
    /// An ISO/IEC 15693 tag.
    case ISO15693 = 1
    /// A FeliCa card.
    case feliCa = 2
    /// An ISO/IEC 14443 card with an application of the app's list.
    case iso7816Compatible = 3
    /// A MIFARE card.
    case miFare = 4
}
