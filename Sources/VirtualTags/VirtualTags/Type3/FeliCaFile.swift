// SPDX-License-Identifier: Apache-2.0

/// A file of a FeliCa system: blocks, and the services that give access to them.
///
/// Several services may share the blocks, such as 0009 (read and write) and 000B (read only) of a Type 3 tag.
public struct FeliCaFile: Sendable, Hashable {
    /// The codes of the services: a number in the upper ten bits, and an attribute in the lower six.
    public var serviceCodes: [UInt16]
    /// The blocks, 16 bytes each.
    public var memory: [UInt8]
    /// The version of the services' keys, for Request Service.
    public var keyVersion: UInt16

    /// Creates a file. The memory is padded to a whole block.
    public init(serviceCodes: [UInt16], memory: [UInt8], keyVersion: UInt16 = 0) {
        self.serviceCodes = serviceCodes
        self.memory = memory + Array(repeating: 0, count: (16 - memory.count % 16) % 16)
        self.keyVersion = keyVersion
    }

    /// The number of blocks.
    public var blockCount: Int { memory.count / 16 }
}
