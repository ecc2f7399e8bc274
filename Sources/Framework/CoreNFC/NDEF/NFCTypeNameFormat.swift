// SPDX-License-Identifier: Apache-2.0

/// How to interpret the type of a record (NFC Forum NDEF 1.0, 3.2.6).
public enum NFCTypeNameFormat: UInt8, Sendable {
    /// The record is empty.
    case empty = 0
    /// The type is defined by the NFC Forum, such as `U` or `T`.
    case nfcWellKnown = 1
    /// The type is a media type (RFC 2046).
    case media = 2
    /// The type is an absolute URI (RFC 3986).
    case absoluteURI = 3
    /// The type is defined by the owner of a domain, such as `example.com:type`.
    case nfcExternal = 4
    /// The type of the payload is not known.
    case unknown = 5
    /// The record is a middle or last chunk. A message that was read never has one, because the chunks are joined.
    case unchanged = 6
}
