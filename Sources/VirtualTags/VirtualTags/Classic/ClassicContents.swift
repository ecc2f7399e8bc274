// SPDX-License-Identifier: Apache-2.0

/// The persistent state of a MIFARE Classic, as in an image of the card.
public struct ClassicContents: Sendable, Hashable {
    /// The product.
    public var product: ClassicProduct
    /// The UID, 4 or 7 bytes. A 4-byte UID need not be unique. It is also at the start of the memory.
    public var uid: [UInt8]
    /// ATQA. The low byte is sent first.
    public var atqa: UInt16
    /// SAK.
    public var sak: UInt8
    /// All blocks, 16 bytes each, including keys.
    public var memory: [UInt8]
    /// The positions of bytes in ``memory`` that are missing in a dump. They are zero.
    public var unknownBytes: Set<Int> = []
    /// The originality signature of MIFARE Classic EV1, 32 bytes; empty when there is none.
    public var signature: [UInt8] = []

    /// Creates contents from an image of the memory.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - memory: the memory from block 0 on. Missing bytes at the end are zero.
    ///   - uid: the UID; nil for the one at the start of the memory.
    public init(_ product: ClassicProduct, memory: [UInt8], uid: [UInt8]? = nil) {
        let missing = max(0, product.memorySize - memory.count)
        self.product = product
        self.memory = Array((memory + Array(repeating: 0, count: missing)).prefix(product.memorySize))
        self.uid = uid ?? Self.uid(inBlock0: self.memory)
        atqa = product.atqa(uidLength: self.uid.count)
        sak = product.sak
    }

    /// Creates a new card: every sector has the transport keys FFFFFFFFFFFF (MF1S50yyX data sheet, 8.6).
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - uid: the UID, 4 or 7 bytes.
    public init(blank product: ClassicProduct, uid: [UInt8]) {
        var memory = [UInt8](repeating: 0, count: product.memorySize)
        let key = [UInt8](repeating: 0xFF, count: 6)
        for sector in 0..<product.sectorCount {
            let start = ClassicProduct.trailer(ofSector: sector) * 16
            memory.replaceSubrange(start..<(start + 16), with: key + [0xFF, 0x07, 0x80, 0x69] + key)
        }
        let atqa = product.atqa(uidLength: uid.count)
        var head = uid.count == 4 ? uid + [uid.reduce(0, ^)] : uid
        head += [product.sak, UInt8(atqa & 0xFF), UInt8(atqa >> 8)]
        memory.replaceSubrange(0..<head.count, with: head)
        self.init(product, memory: memory, uid: uid)
    }

    /// Returns the UID at the start of the memory. After a 7-byte UID, ATQA shows its length. A 4-byte UID is followed
    /// by the exclusive or of its bytes.
    ///
    /// - Parameter memory: the memory of a whole card.
    package static func uid(inBlock0 memory: [UInt8]) -> [UInt8] {
        let short = Array(memory.prefix(4))
        let isDouble = memory[0] == 0x04 && memory[8] & 0xC0 == 0x40 && memory[9] == 0x00
        return memory[4] == short.reduce(0, ^) && !isDouble ? short : Array(memory.prefix(7))
    }
}
