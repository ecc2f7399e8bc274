// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NDEF
import TagLink

/// An NDEF message: a list of records.
///
/// A message may be used from any thread. Each read or change of ``records`` is atomic.
public final class NFCNDEFMessage: NSObject, NSSecureCoding {
    private let storage: Locked<UncheckedSendableBox<[NFCNDEFPayload]>>

    /// Creates a message from its records.
    public init(records: [NFCNDEFPayload]) { storage = Locked(UncheckedSendableBox(records)) }

    /// Creates a message from its records.
    @available(*, deprecated, renamed: "init(records:)")
    public convenience init(NDEFRecords records: [NFCNDEFPayload]) { self.init(records: records) }

    /// Parses a message.
    ///
    /// - Parameter data: the bytes of one whole message.
    /// - Returns: nil when the data are not a message.
    public convenience init?(data: Data) { self.init(bytes: [UInt8](data)) }

    /// The records, in order.
    public var records: [NFCNDEFPayload] {
        get { storage.withLock { $0 }.value }
        set {
            let records = UncheckedSendableBox(newValue)
            storage.withLock { $0 = records }
        }
    }

    /// The size of the encoded message in bytes. Also defined for a message that can't be encoded, for example because
    /// a type has more than 255 bytes.
    public var length: Int { encodedLength }

    public override var description: String {
        "(\n" + records.map { "    \"\($0.description)\"" }.joined(separator: ",\n") + "\n)"
    }

    // MARK: NSSecureCoding

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) { coder.encode(records as NSArray, forKey: "records") }

    public convenience init?(coder: NSCoder) {
        let classes = [NSArray.self, NFCNDEFPayload.self] as [AnyClass]
        guard let records = coder.decodeObject(of: classes, forKey: "records") as? [NFCNDEFPayload] else { return nil }
        self.init(records: records)
    }
}

extension NFCNDEFMessage {
    /// Parses a message.
    ///
    /// - Throws: `NDEFError` with the first rule that the bytes violate.
    convenience init(parsing bytes: [UInt8]) throws(NDEFError) {
        let message = try NDEFMessage(decoding: bytes)
        self.init(records: message.records.map { NFCNDEFPayload($0) })
    }

    /// Parses a message; nil when the bytes are not a message.
    convenience init?(bytes: [UInt8]) {
        guard let message = try? NDEFMessage(decoding: bytes) else { return nil }
        self.init(records: message.records.map { NFCNDEFPayload($0) })
    }

    /// Encodes the message. Each record is written with its own chunk size.
    func encoded() throws(NDEFError) -> [UInt8] {
        let fields = records.map(\.fields)
        let message = NDEFMessage(fields.map(NDEFRecord.init))
        return try message.encoded(chunkSizes: fields.map(\.chunkSize))
    }

    /// The length of ``encoded()``; 0 for a message without records.
    var encodedLength: Int {
        records.map(\.fields).reduce(0) { length, fields in
            let record = NDEFRecord(fields)
            return length
                + (fields.chunkSize == 0 ? record.encodedLength : record.encodedLength(chunkSize: fields.chunkSize))
        }
    }
}

extension NFCNDEFPayload {
    /// Creates a record from a decoded record. A reserved type name format becomes `unknown`.
    convenience init(_ record: NDEFRecord) {
        self.init(
            Fields(
                format: NFCTypeNameFormat(rawValue: record.typeNameFormat.rawValue) ?? .unknown,
                type: Data(record.typeSlice),
                identifier: Data(record.identifierSlice),
                payload: Data(record.payloadSlice)
            )
        )
    }
}

extension NDEFRecord {
    init(_ fields: NFCNDEFPayload.Fields) {
        self.init(
            TypeNameFormat(rawValue: fields.format.rawValue) ?? .unknown,
            type: fields.type,
            identifier: fields.identifier,
            payload: fields.payload
        )
    }
}

/// One record of an NDEF message.
///
/// A record may be used from any thread. Each read or change of a property is atomic.
public final class NFCNDEFPayload: NSObject, NSSecureCoding {
    struct Fields: Sendable {
        var format: NFCTypeNameFormat
        var type: Data
        var identifier: Data
        var payload: Data
        /// The size of the chunks in which the payload is written; 0 for a single piece.
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

    /// The payload, whose format depends on the type.
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
    /// The type of the payload is unknown.
    case unknown = 5
    /// The record is a middle or last chunk. Decoded messages contain no such records, because chunks are joined.
    case unchanged = 6
}

extension NFCNDEFPayload {
    /// Creates a URI record (NFC Forum URI RTD 1.0) with the longest matching prefix code.
    ///
    /// - Returns: the record, or nil when the text is not a URI.
    public static func wellKnownTypeURIPayload(string uri: String) -> NFCNDEFPayload? {
        guard !uri.isEmpty, URL(string: uri) != nil else { return nil }
        return (try? URIRecord(uri).makeRecord()).map { NFCNDEFPayload($0) }
    }

    /// Creates a URI record (NFC Forum URI RTD 1.0) with the longest matching prefix code.
    ///
    /// - Returns: the record, or nil when the URL has no text.
    public static func wellKnownTypeURIPayload(url: URL) -> NFCNDEFPayload? {
        wellKnownTypeURIPayload(string: url.absoluteString)
    }

    /// Creates a text record (NFC Forum Text RTD 1.0).
    ///
    /// As on a phone, the text is in UTF-16, so most texts take twice the space that they take in UTF-8. For a text in
    /// UTF-8, create the payload with ``init(format:type:identifier:payload:)``.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - locale: its language, which is written as a BCP 47 tag.
    /// - Returns: the record, or nil when the locale has no language.
    public static func wellKnownTypeTextPayload(string text: String, locale: Locale) -> NFCNDEFPayload? {
        let language = locale.identifier(.bcp47)
        return (try? TextRecord(text, language: language, encoding: .utf16LittleEndianMark).makeRecord())
            .map { NFCNDEFPayload($0) }
    }

    /// Creates a text record (NFC Forum Text RTD 1.0).
    @available(*, deprecated, renamed: "wellKnownTypeTextPayload(string:locale:)")
    public static func wellKnowTypeTextPayload(string text: String, locale: Locale) -> NFCNDEFPayload? {
        wellKnownTypeTextPayload(string: text, locale: locale)
    }

    /// Reads the payload as a URI record.
    ///
    /// - Returns: the URL, or nil when the record is not a URI record or does not contain a URL.
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
