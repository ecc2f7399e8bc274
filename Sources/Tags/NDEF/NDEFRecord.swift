// SPDX-License-Identifier: Apache-2.0

/// A complete record, never a chunk: type name format, type, identifier and payload.
///
/// Type, identifier and payload are stored one after the other in one array. A decoded record shares the array of its
/// message, so decoding copies nothing. That array stays in memory as long as any of its records does.
public struct NDEFRecord: Sendable {
    /// The format of the type.
    public let typeNameFormat: TypeNameFormat
    /// The length of the payload in bytes.
    public let payloadCount: Int
    /// Holds type, identifier and payload, one after the other, from `start` on.
    let storage: [UInt8]
    let start: Int
    let typeLength: Int
    let identifierLength: Int

    /// Creates a record. Encoding, not this initializer, checks that the combination of parts is valid.
    ///
    /// - Parameters:
    ///   - typeNameFormat: the format of the type.
    ///   - type: the type's bytes.
    ///   - identifier: the identifier's bytes.
    ///   - payload: the payload.
    public init(
        _ typeNameFormat: TypeNameFormat,
        type: some Collection<UInt8> = [],
        identifier: some Collection<UInt8> = [],
        payload: some Collection<UInt8> = []
    ) {
        self.typeNameFormat = typeNameFormat
        storage = Array(type) + identifier + payload
        start = 0
        typeLength = type.count
        identifierLength = identifier.count
        payloadCount = payload.count
    }

    /// Creates a decoded record, which shares `storage`.
    init(_ header: RecordHeader, _ storage: [UInt8], start: Int, payloadCount: Int) {
        typeNameFormat = TypeNameFormat(header: header.flags)
        self.storage = storage
        self.start = start
        typeLength = Int(header.typeCount)
        identifierLength = Int(header.identifierCount)
        self.payloadCount = payloadCount
    }

    var typeRange: Range<Int> { start..<start + typeLength }
    var identifierRange: Range<Int> { typeRange.upperBound..<typeRange.upperBound + identifierLength }
    var payloadRange: Range<Int> { identifierRange.upperBound..<identifierRange.upperBound + payloadCount }

    /// The type's bytes, as a copy. ``typeSlice`` doesn't copy.
    public var type: [UInt8] { Array(typeSlice) }
    /// The identifier's bytes, as a copy. ``identifierSlice`` doesn't copy.
    public var identifier: [UInt8] { Array(identifierSlice) }
    /// The payload, as a copy. ``payloadSlice`` doesn't copy.
    public var payload: [UInt8] { Array(payloadSlice) }

    /// The type's bytes, without a copy. Its indices don't start at 0.
    public var typeSlice: ArraySlice<UInt8> { storage[typeRange] }
    /// The identifier's bytes, without a copy. Its indices don't start at 0.
    public var identifierSlice: ArraySlice<UInt8> { storage[identifierRange] }
    /// The payload, without a copy. Its indices don't start at 0.
    public var payloadSlice: ArraySlice<UInt8> { storage[payloadRange] }
}

extension NDEFRecord: Hashable {
    public static func == (lhs: NDEFRecord, rhs: NDEFRecord) -> Bool {
        lhs.typeNameFormat == rhs.typeNameFormat && lhs.typeSlice == rhs.typeSlice
            && lhs.identifierSlice == rhs.identifierSlice && lhs.payloadSlice == rhs.payloadSlice
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(typeNameFormat)
        hasher.combine(typeSlice)
        hasher.combine(identifierSlice)
        hasher.combine(payloadSlice)
    }
}

/// The format of a record's type (TNF). NFC Forum NDEF 1.0, 3.2.6.
public enum TypeNameFormat: UInt8, Sendable, Hashable, CaseIterable {
    /// An empty record: no type, no identifier, no payload.
    case empty = 0
    /// A type from the NFC Forum's record type definitions, such as `U` or `T`.
    case wellKnown = 1
    /// A media type (RFC 2046), such as `text/vcard`.
    case media = 2
    /// An absolute URI (RFC 3986). The URI is the record's type.
    case absoluteURI = 3
    /// A type that an organisation defines for itself, `domain:name`.
    case external = 4
    /// A payload of unknown type.
    case unknown = 5
    /// A chunk after the first one. A record whose chunks were joined never has this format.
    case unchanged = 6
    /// A reserved value, written back unchanged. As with ``unknown``, such a record has no type.
    case reserved = 7

    /// Reads the format from the low three bits of a record's header byte.
    init(header: UInt8) { self = TypeNameFormat(rawValue: header & 0x07) ?? .reserved }
}

// MARK: Encoding

extension NDEFRecord {
    /// The length of the record in bytes, written in one piece and in the shortest form.
    public var encodedLength: Int { encodedLength(chunkSize: 0) }

    /// Returns the length of the record in bytes, when written in chunks.
    ///
    /// - Parameter chunkSize: the largest number of payload bytes in a chunk; 0 for a record in one piece.
    public func encodedLength(chunkSize: Int) -> Int {
        func length(_ payload: Int) -> Int { (payload > 0xFF ? 6 : 3) + payload }
        let names = typeLength + identifierLength + (identifierLength > 0 ? 1 : 0)
        guard isDivided(by: chunkSize) else { return names + length(payloadCount) }
        let (whole, rest) = payloadCount.quotientAndRemainder(dividingBy: chunkSize)
        return names + whole * length(chunkSize) + (rest == 0 ? 0 : length(rest))
    }

    /// Returns why the record can't be written with this chunk size; nil if it can.
    func encodingFault(chunkSize: Int) -> NDEFError.Code? {
        if chunkSize < 0 { return .invalidChunkSize }
        if typeLength > 0xFF { return .typeTooLong }
        if identifierLength > 0xFF { return .identifierTooLong }
        if UInt64(isDivided(by: chunkSize) ? chunkSize : payloadCount) > UInt64(UInt32.max) { return .payloadTooLong }
        return switch typeNameFormat {
        case .empty: typeLength + identifierLength + payloadCount == 0 ? nil : .emptyRecordNotEmpty
        case .unknown, .reserved: typeLength == 0 ? nil : .typeNotAllowed
        case .unchanged: typeLength == 0 ? .unexpectedUnchanged : .typeNotAllowed
        case .wellKnown, .media, .absoluteURI, .external: nil
        }
    }

    /// Returns whether this chunk size splits the record.
    private func isDivided(by chunkSize: Int) -> Bool {
        chunkSize > 0 && payloadCount > chunkSize
            && (typeLength > 0 || typeNameFormat == .unknown || typeNameFormat == .reserved)
    }

    /// Appends the record, in one piece or in chunks. Only the first chunk contains the type and the identifier. NFC
    /// Forum NDEF 1.0, 2.3.3.
    ///
    /// - Parameters:
    ///   - flags: Message Begin and Message End, if the record has them.
    ///   - chunkSize: the largest number of payload bytes in a chunk; 0 for a record in one piece.
    func append(to bytes: inout [UInt8], flags: UInt8, chunkSize: Int) {
        let end = payloadRange.upperBound
        var offset = payloadRange.lowerBound + (isDivided(by: chunkSize) ? chunkSize : payloadCount)
        appendHeader(
            to: &bytes,
            flags: (offset == end ? flags : flags & RecordHeader.messageBegin | RecordHeader.chunk)
                | typeNameFormat.rawValue,
            payloadLength: offset - payloadRange.lowerBound,
            isFirst: true
        )
        bytes += storage[start..<offset]
        while offset < end {
            let next = min(offset + chunkSize, end)
            appendHeader(
                to: &bytes,
                flags: (next == end ? flags & RecordHeader.messageEnd : RecordHeader.chunk)
                    | TypeNameFormat.unchanged.rawValue,
                payloadLength: next - offset,
                isFirst: false
            )
            bytes += storage[offset..<next]
            offset = next
        }
    }

    /// Appends the header of the record, or of a later chunk, which has no type and no identifier.
    private func appendHeader(to bytes: inout [UInt8], flags: UInt8, payloadLength: Int, isFirst: Bool) {
        let hasIdentifier = isFirst && identifierLength > 0
        let isShort = payloadLength <= 0xFF
        let lengthFlags =
            (hasIdentifier ? RecordHeader.identifierLength : 0) | (isShort ? RecordHeader.shortRecord : 0)
        bytes.append(flags | lengthFlags)
        bytes.append(isFirst ? UInt8(truncatingIfNeeded: typeLength) : 0)
        if !isShort {
            bytes.append(UInt8(truncatingIfNeeded: payloadLength >> 24))
            bytes.append(UInt8(truncatingIfNeeded: payloadLength >> 16))
            bytes.append(UInt8(truncatingIfNeeded: payloadLength >> 8))
        }
        bytes.append(UInt8(truncatingIfNeeded: payloadLength))
        if hasIdentifier { bytes.append(UInt8(truncatingIfNeeded: identifierLength)) }
    }
}

// MARK: Common records

extension NDEFRecord {
    /// Creates a URI record, abbreviated with the longest prefix that matches.
    ///
    /// - Parameters:
    ///   - uri: the URI.
    ///   - identifier: the record's identifier.
    /// - Throws: ``NDEFError`` with `controlCharacter`.
    public static func uri(_ uri: String, identifier: [UInt8] = []) throws(NDEFError) -> NDEFRecord {
        try URIRecord(uri).makeRecord(identifier: identifier)
    }

    /// Creates a text record in UTF-8.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - language: the text's language, an IANA language code (BCP 47) of 1 to 63 ASCII characters.
    ///   - identifier: the record's identifier.
    /// - Throws: ``NDEFError`` with `valueTooLong` or `badEncoding` for the language.
    public static func text(
        _ text: String,
        language: String,
        identifier: [UInt8] = []
    ) throws(NDEFError) -> NDEFRecord {
        try TextRecord(text, language: language).makeRecord(identifier: identifier)
    }

    /// Creates a record of a media type (RFC 2046). A vCard is a record of type `text/vcard`.
    public static func media(
        type: String,
        payload: some Collection<UInt8>,
        identifier: [UInt8] = []
    ) -> NDEFRecord {
        NDEFRecord(.media, type: Array(type.utf8), identifier: identifier, payload: payload)
    }

    /// Creates a record of an external type, `domain:name`. Both parts must be lower case on the tag. NFC Forum RTD
    /// 1.0, 3.3.
    public static func external(
        type: String,
        payload: some Collection<UInt8>,
        identifier: [UInt8] = []
    ) -> NDEFRecord {
        NDEFRecord(.external, type: Array(type.utf8), identifier: identifier, payload: payload)
    }

    /// Creates an Android Application Record. Android opens the named app when it reads the tag.
    public static func androidApplication(package: String, identifier: [UInt8] = []) -> NDEFRecord {
        external(type: "android.com:pkg", payload: Array(package.utf8), identifier: identifier)
    }

    /// Creates a record of format absolute URI. The URI is the record's type and defines what the payload means.
    public static func absoluteURI(
        _ uri: String,
        payload: some Collection<UInt8> = [],
        identifier: [UInt8] = []
    ) -> NDEFRecord {
        NDEFRecord(.absoluteURI, type: Array(uri.utf8), identifier: identifier, payload: payload)
    }

    /// Creates a record of one of the NFC Forum's types.
    static func wellKnown(_ type: String, identifier: [UInt8] = [], payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.wellKnown, type: Array(type.utf8), identifier: identifier, payload: payload)
    }
}
