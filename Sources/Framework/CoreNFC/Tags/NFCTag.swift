// SPDX-License-Identifier: Apache-2.0

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
    public var isAvailable: Bool {
        switch self {
        case .feliCa(let tag): tag.isAvailable
        case .iso7816(let tag): tag.isAvailable
        case .iso15693(let tag): tag.isAvailable
        case .miFare(let tag): tag.isAvailable
        }
    }

    /// The object that stands for the tag, if a session of this framework created it.
    var object: TagObject? {
        switch self {
        case .feliCa(let tag): tag as? TagObject
        case .iso7816(let tag): tag as? TagObject
        case .iso15693(let tag): tag as? TagObject
        case .miFare(let tag): tag as? TagObject
        }
    }

    /// The tag as sessions that only look for NDEF report it.
    var ndefTag: any NFCNDEFTag {
        switch self {
        case .feliCa(let tag): tag
        case .iso7816(let tag): tag
        case .iso15693(let tag): tag
        case .miFare(let tag): tag
        }
    }
}
