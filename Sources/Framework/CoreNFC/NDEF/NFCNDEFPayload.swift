// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NDEF
import TagLink

/// One record of an NDEF message.
///
/// A record may be used from any thread. Each read or change of a property is atomic.
public final class NFCNDEFPayload: NSObject, NSSecureCoding {
    struct Fields: Sendable {
        var format: NFCTypeNameFormat
        var type: Data
        var identifier: Data
        var payload: Data
        /// The size of the chunks in which the payload is written; 0 for one piece.
        var chunkSize = 0
    }

    private let storage: Locked<Fields>

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - format: how to interpret the type.
    ///   - type: the type, at most 255 bytes.
    ///   - identifier: the identifier, at most 255 bytes; empty for none.
    ///   - payload: the payload.
    public convenience init(format: NFCTypeNameFormat, type: Data, identifier: Data, payload: Data) {
        self.init(Fields(format: format, type: type, identifier: identifier, payload: payload))
    }

    /// Creates a record that is written in chunks of at most `chunkSize` payload bytes; 0 for one piece.
    public convenience init(format: NFCTypeNameFormat, type: Data, identifier: Data, payload: Data, chunkSize: Int) {
        self.init(
            Fields(
                format: format,
                type: type,
                identifier: identifier,
                payload: payload,
                chunkSize: max(chunkSize, 0)
            )
        )
    }

    init(_ fields: Fields) { storage = Locked(fields) }

    var fields: Fields { storage.withLock { $0 } }

    /// How to interpret the type.
    public var typeNameFormat: NFCTypeNameFormat {
        get { storage.withLock { $0.format } }
        set { storage.withLock { $0.format = newValue } }
    }

    /// The type.
    public var type: Data {
        get { storage.withLock { $0.type } }
        set { storage.withLock { $0.type = newValue } }
    }

    /// The identifier; empty for none.
    public var identifier: Data {
        get { storage.withLock { $0.identifier } }
        set { storage.withLock { $0.identifier = newValue } }
    }

    /// The payload; its form depends on the type.
    public var payload: Data {
        get { storage.withLock { $0.payload } }
        set { storage.withLock { $0.payload = newValue } }
    }

    public override var description: String {
        let fields = fields
        let type = String(decoding: fields.type, as: UTF8.self).debugDescription
        return "TNF=\(fields.format.rawValue), Payload Type=\(type), "
            + "Payload ID=\(fields.identifier.hexText()), Payload=\(fields.payload.hexText())"
    }

    // MARK: NSSecureCoding

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) {
        let fields = fields
        coder.encode(Int(fields.format.rawValue), forKey: "typeNameFormat")
        coder.encode(fields.type as NSData, forKey: "type")
        coder.encode(fields.identifier as NSData, forKey: "identifier")
        coder.encode(fields.payload as NSData, forKey: "payload")
        coder.encode(fields.chunkSize, forKey: "chunkSize")
    }

    public convenience init?(coder: NSCoder) {
        guard
            let rawFormat = UInt8(exactly: coder.decodeInteger(forKey: "typeNameFormat")),
            let format = NFCTypeNameFormat(rawValue: rawFormat),
            let type = coder.decodeObject(of: NSData.self, forKey: "type"),
            let identifier = coder.decodeObject(of: NSData.self, forKey: "identifier"),
            let payload = coder.decodeObject(of: NSData.self, forKey: "payload")
        else { return nil }
        self.init(
            Fields(
                format: format,
                type: type as Data,
                identifier: identifier as Data,
                payload: payload as Data,
                chunkSize: max(coder.decodeInteger(forKey: "chunkSize"), 0)
            )
        )
    }
}

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

extension NFCNDEFPayload {
    /// Makes a URI record (NFC Forum URI RTD 1.0) with the longest abbreviation that fits.
    ///
    /// - Returns: the record, or nil when the text is not a URI.
    public static func wellKnownTypeURIPayload(string uri: String) -> NFCNDEFPayload? {
        guard !uri.isEmpty, URL(string: uri) != nil else { return nil }
        return (try? URIRecord(uri).makeRecord()).map { NFCNDEFPayload($0) }
    }

    /// Makes a URI record (NFC Forum URI RTD 1.0) with the longest abbreviation that fits.
    ///
    /// - Returns: the record, or nil when the URL has no text.
    public static func wellKnownTypeURIPayload(url: URL) -> NFCNDEFPayload? {
        wellKnownTypeURIPayload(string: url.absoluteString)
    }

    /// Makes a text record in UTF-8 (NFC Forum Text RTD 1.0).
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - locale: its language, which is written as a BCP 47 tag.
    /// - Returns: the record, or nil when the locale has no language.
    public static func wellKnownTypeTextPayload(string text: String, locale: Locale) -> NFCNDEFPayload? {
        (try? TextRecord(text, language: locale.identifier(.bcp47)).makeRecord()).map { NFCNDEFPayload($0) }
    }

    /// Makes a text record in UTF-8 (NFC Forum Text RTD 1.0).
    @available(*, deprecated, renamed: "wellKnownTypeTextPayload(string:locale:)")
    public static func wellKnowTypeTextPayload(string text: String, locale: Locale) -> NFCNDEFPayload? {
        wellKnownTypeTextPayload(string: text, locale: locale)
    }

    /// Reads the payload as a URI record.
    ///
    /// - Returns: the URL, or nil when the record is not a URI record or holds no URL.
    public func wellKnownTypeURIPayload() -> URL? {
        (try? URIRecord(NDEFRecord(fields))).flatMap { URL(string: $0.uri) }
    }

    /// Reads the payload as a text record.
    ///
    /// - Returns: the text and its language, or nil for both when the record is not a text record or is damaged.
    public func wellKnownTypeTextPayload() -> (String?, Locale?) {
        guard let record = try? TextRecord(NDEFRecord(fields)) else { return (nil, nil) }
        return (record.text, Locale(identifier: record.language))
    }
}
