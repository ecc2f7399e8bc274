// SPDX-License-Identifier: Apache-2.0

/// A tag that an ``NFCTagReaderSession`` found, by its technology.
///
/// The value is only a wrapper: two of them with the same object inside stand for the same tag, and either can be
/// given to ``NFCTagReaderSession/connect(to:completionHandler:)``.
public enum NFCTag {
    /// A FeliCa card.
    case feliCa(any NFCFeliCaTag)
    /// A card with an application of the app's list, already selected.
    case iso7816(any NFCISO7816Tag)
    /// An ISO/IEC 15693 tag.
    case iso15693(any NFCISO15693Tag)
    /// A MIFARE card: Ultralight, NTAG, Plus or DESFire.
    case miFare(any NFCMiFareTag)

    /// Whether the tag is connected and has not left the field; false for a tag that is not connected.
    ///
    /// A tag that leaves becomes unavailable by itself where the reader tells, as the virtual reader and PC/SC do. On any other
    /// reader the property has the tag asked meanwhile, and is false when it is read again. Connecting to the tag again
    /// always makes sure.
    public var isAvailable: Bool {
        switch self {
        case .feliCa(let tag): tag.isAvailable
        case .iso7816(let tag): tag.isAvailable
        case .iso15693(let tag): tag.isAvailable
        case .miFare(let tag): tag.isAvailable
        }
    }

    /// The object that stands for the tag, when a session of this framework made it.
    var detected: DetectedNDEFTag? {
        switch self {
        case .feliCa(let tag): tag as? DetectedNDEFTag
        case .iso7816(let tag): tag as? DetectedNDEFTag
        case .iso15693(let tag): tag as? DetectedNDEFTag
        case .miFare(let tag): tag as? DetectedNDEFTag
        }
    }

    /// The tag for sessions that look for NDEF alone.
    var ndefTag: any NFCNDEFTag {
        switch self {
        case .feliCa(let tag): tag
        case .iso7816(let tag): tag
        case .iso15693(let tag): tag
        case .miFare(let tag): tag
        }
    }
}
