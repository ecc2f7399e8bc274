// SPDX-License-Identifier: Apache-2.0

/// What a device needs to join a Wi-Fi network (attribute 0x100E). Wi-Fi Simple Configuration 2.0.7, 12.
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
        self.init(
            ssid: "",
            key: "",
            authentication: nil,
            encryption: nil,
            networkIndex: nil,
            macAddress: nil
        )
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
        if let authentication { attributes.append(.init(id: 0x1003, value: Self.bytes(authentication))) }
        if let encryption { attributes.append(.init(id: 0x100F, value: Self.bytes(encryption))) }
        attributes.append(.init(id: 0x1027, value: key))
        if let macAddress { attributes.append(.init(id: 0x1020, value: macAddress)) }
        return attributes
    }

    static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    private static func integer(_ bytes: [UInt8]) -> UInt16? {
        guard bytes.count == 2, let high = bytes.first, let low = bytes.last else { return nil }
        return UInt16(high) << 8 | UInt16(low)
    }
}
