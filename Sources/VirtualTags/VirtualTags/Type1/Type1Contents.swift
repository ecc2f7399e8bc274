// SPDX-License-Identifier: Apache-2.0

/// The persistent state of a Type 1 tag, as in an image of the tag.
public struct Type1Contents: Sendable, Hashable {
    /// The product.
    public var product: Type1Product
    /// The header bytes HR0 and HR1.
    public var header: [UInt8]
    /// All bytes from block 0 on. The first seven are the UID.
    public var memory: [UInt8]

    /// Creates contents from an image of the memory.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - memory: the memory from block 0 on. Missing bytes at the end are zero.
    ///   - header: HR0 and HR1; nil for the product's.
    public init(_ product: Type1Product, memory: [UInt8], header: [UInt8]? = nil) {
        self.product = product
        self.header = header ?? product.header
        self.memory = Array((memory + Array(repeating: 0, count: product.memorySize)).prefix(product.memorySize))
    }

    /// Creates a new tag with an empty NDEF format.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - uid: the UID, 7 bytes.
    public init(blank product: Type1Product, uid: [UInt8]) {
        self.init(product, memory: uid + [0x00] + product.factoryData)
        // Blocks 0, D and E are locked.
        memory[112] = 0x01
        memory[113] = 0x60
    }

    /// The UID, 7 bytes.
    public var uid: [UInt8] { Array(memory[0..<7]) }
}
