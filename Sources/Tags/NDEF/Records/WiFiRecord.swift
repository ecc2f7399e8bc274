// SPDX-License-Identifier: Apache-2.0

/// The configuration of a Wi-Fi network, `application/vnd.wfa.wsc`. Wi-Fi Simple Configuration 2.0.7, 10.
public struct WiFiRecord: PayloadRecord {
    static let kind = RecordKind.wifi

    /// The record's type.
    public static let mediaType = "application/vnd.wfa.wsc"

    /// A data element: identifier and value.
    public struct Attribute: Sendable, Hashable {
        /// The attribute's identifier, which defines the value's meaning.
        public var id: UInt16
        /// The value, without the identifier and the length.
        public var value: [UInt8]

        /// Creates an attribute.
        public init(id: UInt16, value: [UInt8]) {
            self.id = id
            self.value = value
        }
    }

    /// The attributes, in the order of the payload.
    public let attributes: [Attribute]
    /// The network credentials found in `attributes`.
    public let credentials: [WiFiCredential]

    /// Creates a record from attributes.
    ///
    /// - Throws: ``NDEFError`` with `attributeOverrun` when one of the credentials is damaged.
    public init(attributes: [Attribute]) throws(NDEFError) {
        self.attributes = attributes
        var credentials: [WiFiCredential] = []
        for attribute in attributes where attribute.id == WiFiCredential.attributeID {
            let inner = try Self.read(PayloadReader(attribute.value, attribute.value.indices))
            credentials.append(WiFiCredential(inner))
        }
        self.credentials = credentials
    }

    /// Creates a record with the credential of one network.
    ///
    /// - Throws: ``NDEFError`` with `valueTooLong`.
    public init(_ credential: WiFiCredential) throws(NDEFError) {
        let value = try Self.bytes(credential.attributes)
        try self.init(attributes: [Attribute(id: WiFiCredential.attributeID, value: value)])
    }

    /// Reads attributes. Some writers put the total length, in two bytes, before the first attribute.
    init(_ payload: PayloadReader) throws(NDEFError) {
        guard !payload.isAtEnd else { throw NDEFError(.emptyPayload) }
        do {
            try self.init(attributes: try Self.read(payload))
        } catch {
            var rest = payload
            guard let total = rest.integer16(), total > 0, Int(total) == rest.count else { throw error }
            try self.init(attributes: try Self.read(rest))
        }
    }

    static func read(_ payload: PayloadReader) throws(NDEFError) -> [Attribute] {
        var payload = payload
        var attributes: [Attribute] = []
        while !payload.isAtEnd {
            guard let id = payload.integer16(), let count = payload.integer16(),
                let value = payload.nextBytes(Int(count))
            else { throw NDEFError(.attributeOverrun) }
            attributes.append(Attribute(id: id, value: value))
        }
        return attributes
    }

    static func bytes(_ attributes: [Attribute]) throws(NDEFError) -> [UInt8] {
        var bytes: [UInt8] = []
        for attribute in attributes {
            guard let count = UInt16(exactly: attribute.value.count) else { throw NDEFError(.valueTooLong) }
            bytes.append(contentsOf: attribute.id.bytes + count.bytes)
            bytes.append(contentsOf: attribute.value)
        }
        return bytes
    }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        guard !attributes.isEmpty else { throw NDEFError(.emptyPayload) }
        return .media(type: Self.mediaType, payload: try Self.bytes(attributes), identifier: identifier)
    }
}

/// The data that a device needs to join a Wi-Fi network (attribute 0x100E). Wi-Fi Simple Configuration 2.0.7, 12.
public struct WiFiCredential: Sendable, Hashable {
    static let attributeID: UInt16 = 0x100E

    /// The network's name.
    public var ssid: [UInt8]
    /// The network key; empty for an open network.
    public var key: [UInt8]
    /// The authentication type: 1 open, 2 WPA personal, 0x20 WPA2 personal, and others.
    public var authentication: UInt16?
    /// The encryption type: 1 none, 4 TKIP, 8 AES.
    public var encryption: UInt16?
    /// The network index. The current specification always uses 1.
    public var networkIndex: UInt8?
    /// The MAC address that the credential is for; six bytes FF for any address.
    public var macAddress: [UInt8]?

    /// Creates a credential; each argument is the property of that name.
    public init(
        ssid: String,
        key: String,
        authentication: UInt16? = 0x20,
        encryption: UInt16? = 8,
        networkIndex: UInt8? = 1,
        macAddress: [UInt8]? = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    ) {
        self.ssid = Array(ssid.utf8)
        self.key = Array(key.utf8)
        self.authentication = authentication
        self.encryption = encryption
        self.networkIndex = networkIndex
        self.macAddress = macAddress
    }

    init(_ attributes: [WiFiRecord.Attribute]) {
        self.init(ssid: "", key: "", authentication: nil, encryption: nil, networkIndex: nil, macAddress: nil)
        for attribute in attributes {
            switch attribute.id {
            case 0x1026: networkIndex = attribute.value.count == 1 ? attribute.value.first : nil
            case 0x1045: ssid = attribute.value
            case 0x1003: authentication = Self.integer(attribute.value)
            case 0x100F: encryption = Self.integer(attribute.value)
            case 0x1027: key = attribute.value
            case 0x1020: macAddress = attribute.value
            default: break
            }
        }
    }

    /// The network's name as text. Bytes that aren't valid UTF-8 are replaced.
    public var ssidText: String { String(decoding: ssid, as: UTF8.self) }
    /// The key as text. Bytes that aren't valid UTF-8 are replaced.
    public var keyText: String { String(decoding: key, as: UTF8.self) }

    /// The attributes inside the credential, in the specification's order.
    var attributes: [WiFiRecord.Attribute] {
        var attributes: [WiFiRecord.Attribute] = []
        if let networkIndex { attributes.append(.init(id: 0x1026, value: [networkIndex])) }
        attributes.append(.init(id: 0x1045, value: ssid))
        if let authentication { attributes.append(.init(id: 0x1003, value: authentication.bytes)) }
        if let encryption { attributes.append(.init(id: 0x100F, value: encryption.bytes)) }
        attributes.append(.init(id: 0x1027, value: key))
        if let macAddress { attributes.append(.init(id: 0x1020, value: macAddress)) }
        return attributes
    }

    private static func integer(_ bytes: [UInt8]) -> UInt16? {
        var reader = PayloadReader(bytes, bytes.indices)
        return reader.count == 2 ? reader.integer16() : nil
    }
}
