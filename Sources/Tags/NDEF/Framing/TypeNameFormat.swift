// SPDX-License-Identifier: Apache-2.0

/// The format of a record's type (TNF). NFC Forum NDEF 1.0, 3.2.6.
public enum TypeNameFormat: UInt8, Sendable, Hashable, CaseIterable {
    /// An empty record: no type, no identifier, no payload.
    case empty = 0
    /// A type from the NFC Forum's record type definitions, such as `U` or `T`.
    case wellKnown = 1
    /// A media type (RFC 2046), such as `text/vcard`.
    case media = 2
    /// An absolute URI (RFC 3986). The URI is the type itself.
    case absoluteURI = 3
    /// A type that an organisation defines for itself, `domain:name`.
    case external = 4
    /// A payload of unknown type.
    case unknown = 5
    /// A chunk after the first one. A record whose chunks were joined never has this format.
    case unchanged = 6
    /// Reserved. Follows the rules of ``unknown``: such a record has no type. The value is kept as it is.
    case reserved = 7

    /// Reads the format from the low three bits of a record's header byte.
    @inlinable
    init(header: UInt8) {
        self =
            switch header & 0x07 {
            case 0: .empty
            case 1: .wellKnown
            case 2: .media
            case 3: .absoluteURI
            case 4: .external
            case 5: .unknown
            case 6: .unchanged
            default: .reserved
            }
    }
}
