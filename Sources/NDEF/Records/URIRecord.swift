// SPDX-License-Identifier: Apache-2.0

/// A URI, or IRI. NFC Forum URI RTD 1.0.
public struct URIRecord: TypedRecord {
    /// The URI in full.
    public let uri: String
    /// The code of the beginning that isn't written out; a reserved one stands for none.
    public let prefixCode: UInt8

    /// Creates a value that is written with the longest beginning that fits.
    ///
    /// - Parameter uri: the URI.
    public init(_ uri: String) {
        self.uri = uri
        prefixCode = URIPrefix.longestCode(for: uri)
    }

    public init(_ record: NDEFRecord) throws(RecordError) {
        try record.require(.uri)
        try self.init(PayloadReader(record))
    }

    init(_ payload: PayloadReader) throws(RecordError) {
        var payload = payload
        guard let code = payload.octet() else { throw RecordError(.emptyPayload) }
        // A reserved code is read as none: the definition says so of readers that don't know it.
        let rest = try payload.string()
        guard !rest.utf8.contains(where: { $0 < 0x20 }) else { throw RecordError(.controlCharacter) }
        prefixCode = code
        uri = code == 0 ? rest : URIPrefix.text(for: code) + rest
    }

    /// Whether the record has a code that was reserved when this was written.
    public var hasReservedPrefix: Bool { Int(prefixCode) >= URIPrefix.all.count }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        guard !uri.utf8.contains(where: { $0 < 0x20 }) else { throw RecordError(.controlCharacter) }
        let prefix = URIPrefix.text(for: prefixCode)
        var payload = [prefixCode]
        payload.append(contentsOf: uri.utf8.dropFirst(prefix.utf8.count))
        return .wellKnown("U", identifier: identifier, payload: payload)
    }
}
