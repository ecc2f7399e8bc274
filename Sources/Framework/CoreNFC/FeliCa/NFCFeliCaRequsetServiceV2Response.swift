// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The answer to a Request Service v2 command. (The name is misspelled as in Apple's SDK.)
public struct NFCFeliCaRequsetServiceV2Response {
    /// 0 when the command was carried out.
    public var statusFlag1: Int
    /// The reason, when ``statusFlag1`` is not 0.
    public var statusFlag2: Int
    /// The kind of encryption.
    public var encryptionIdentifier: NFCFeliCaEncryptionId
    /// The AES key version of each node, 2 bytes, least significant first.
    public var nodeKeyVersionListAES: [Data]?
    /// The DES key version of each node, 2 bytes, least significant first.
    public var nodeKeyVersionListDES: [Data]?

    /// Creates a value, for example for your own card class. Each argument sets the property of the same name.
    public init(
        statusFlag1: Int,
        statusFlag2: Int,
        encryptionIdentifier: NFCFeliCaEncryptionId,
        nodeKeyVersionListAES: [Data]?,
        nodeKeyVersionListDES: [Data]?
    ) {
        self.statusFlag1 = statusFlag1
        self.statusFlag2 = statusFlag2
        self.encryptionIdentifier = encryptionIdentifier
        self.nodeKeyVersionListAES = nodeKeyVersionListAES
        self.nodeKeyVersionListDES = nodeKeyVersionListDES
    }
}
