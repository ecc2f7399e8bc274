// SPDX-License-Identifier: Apache-2.0

/// The configuration of a Wi-Fi network, `application/vnd.wfa.wsc`. Wi-Fi Simple Configuration 2.0.7, 10.
public struct WiFiRecord: TypedRecord {
    /// The record's type.
    public static let mediaType = "application/vnd.wfa.wsc"

    /// A data element: identifier and value.
    public struct Attribute: Sendable, Hashable {
        /// The attribute's identifier, which gives the value's meaning.
        public var id: UInt16
        /// The value.
        public var value: [UInt8]

        /// Creates an attribute.
        public init(id: UInt16, value: [UInt8]) {
            self.id = id
            self.value = value
        }
    }

    /// The attributes, in the order of the payload.
    public let attributes: [Attribute]
    /// The credentials among the attributes, one for each network.
    public let credentials: [WiFiCredential]

    /// Creates a record from attributes.
    ///
    /// - Throws: ``RecordError`` with `attributeOverrun` when one of the credentials is damaged.
    public init(attributes: [Attribute]) throws(RecordError) {
        self.attributes = attributes
        var credentials: [WiFiCredential] = []
        for attribute in attributes where attribute.id == WiFiCredential.attributeID {
            let inner = try Self.read(PayloadReader(attribute.value, 0..<attribute.value.count))
            credentials.append(WiFiCredential(inner))
        }
        self.credentials = credentials
    }

    /// Creates a record with the credential of one network.
    ///
    /// - Throws: ``RecordError`` with `valueTooLong`.
    public init(_ credential: WiFiCredential) throws(RecordError) {
        let value = try Self.bytes(credential.attributes)
        try self.init(attributes: [Attribute(id: WiFiCredential.attributeID, value: value)])
    }

    public init(_ record: NDEFRecord) throws(RecordError) {
        try record.require(.wifi)
        try self.init(PayloadReader(record))
    }

    /// Reads attributes. Some writers put the total length, in two bytes, before the first attribute.
    init(_ payload: PayloadReader) throws(RecordError) {
        guard !payload.isAtEnd else { throw RecordError(.emptyPayload) }
        do {
            try self.init(attributes: try Self.read(payload))
        } catch {
            var rest = payload
            guard let total = rest.integer16(), total > 0, Int(total) == rest.count else { throw error }
            try self.init(attributes: try Self.read(rest))
        }
    }

    static func read(_ payload: PayloadReader) throws(RecordError) -> [Attribute] {
        var payload = payload
        var attributes: [Attribute] = []
        while !payload.isAtEnd {
            guard let id = payload.integer16(), let count = payload.integer16(),
                let value = payload.nextBytes(Int(count))
            else { throw RecordError(.attributeOverrun) }
            attributes.append(Attribute(id: id, value: value))
        }
        return attributes
    }

    static func bytes(_ attributes: [Attribute]) throws(RecordError) -> [UInt8] {
        var bytes: [UInt8] = []
        for attribute in attributes {
            guard let count = UInt16(exactly: attribute.value.count) else { throw RecordError(.valueTooLong) }
            bytes.append(contentsOf: WiFiCredential.bytes(attribute.id) + WiFiCredential.bytes(count))
            bytes.append(contentsOf: attribute.value)
        }
        return bytes
    }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        guard !attributes.isEmpty else { throw RecordError(.emptyPayload) }
        return .media(type: Self.mediaType, payload: try Self.bytes(attributes), identifier: identifier)
    }
}
