// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Block 0 of a Type 3 tag, the attribute information block (NFC Forum T3T 1.0, 6.1).
struct Type3AttributeBlock: Equatable {
    /// The mapping version: 0x10 is 1.0.
    var version: UInt8
    /// Nbr: the number of blocks that one CHECK can read.
    var blocksPerRead: Int
    /// Nbw: the number of blocks that one UPDATE can write.
    var blocksPerWrite: Int
    /// Nmaxb: the number of blocks for a message.
    var blockCount: Int
    /// Four unused bytes, kept as they are.
    var unused: [UInt8]
    /// WriteF: not 0 while a write is in progress.
    var writeFlag: UInt8
    /// RWFlag: 1 when the tag can be written.
    var accessFlag: UInt8
    /// Ln: the message's length.
    var messageLength: Int

    /// The value of WriteF while a write is in progress.
    static let writeOn: UInt8 = 0x0F
    /// The number of bytes in a block.
    static let blockSize = 16

    /// The longest message.
    var capacity: Int { blockCount * Self.blockSize }
    /// Whether the tag can be written.
    var isWritable: Bool { accessFlag == 0x01 && blocksPerWrite > 0 }
    /// Checks that the message's length is not beyond the capacity. A write replaces such a length.
    ///
    /// - Throws: ``TagError`` with `lengthOverrun`.
    func checkLength() throws(TagError) {
        guard messageLength <= capacity else {
            throw TagError(
                .lengthOverrun,
                "Ln is \(messageLength), and the tag has room for \(capacity) (NFC Forum T3T 1.0, 6.1)."
            )
        }
    }

    /// Whether an earlier write was interrupted while there was a message, so that the content can't be trusted. This
    /// reader sets the length to 0 together with WriteF, so its interrupted writes leave an empty tag.
    var isTorn: Bool { writeFlag != 0 && messageLength > 0 }

    /// Creates a block.
    init(blocksPerRead: Int, blocksPerWrite: Int, blockCount: Int) {
        self.version = 0x10
        self.blocksPerRead = blocksPerRead
        self.blocksPerWrite = blocksPerWrite
        self.blockCount = blockCount
        self.unused = [0, 0, 0, 0]
        self.writeFlag = 0
        self.accessFlag = 1
        self.messageLength = 0
    }

    /// Reads a block.
    ///
    /// - Parameter bytes: the block's 16 bytes.
    /// - Throws: ``TagError`` with `badChecksum`, `badVersion`, `noCapabilityContainer`.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == Self.blockSize, bytes.contains(where: { $0 != 0 }) else {
            throw TagError(.noCapabilityContainer, "The attribute information block is empty (NFC Forum T3T 1.0, 6.1).")
        }
        guard Self.checksum(bytes[..<14]) == [bytes[14], bytes[15]] else {
            throw TagError(
                .badChecksum,
                "The checksum of the attribute information block is wrong (NFC Forum T3T 1.0, 6.1)."
            )
        }
        guard bytes[0] >> 4 == 1 else {
            throw .badVersion(bytes[0] >> 4, bytes[0] & 0x0F, "T3T 1.0, 6.2")
        }
        version = bytes[0]
        blocksPerRead = Int(bytes[1])
        blocksPerWrite = Int(bytes[2])
        blockCount = Int(high: bytes[3], low: bytes[4])
        unused = Array(bytes[5..<9])
        writeFlag = bytes[9]
        accessFlag = bytes[10]
        messageLength = Int(bytes: bytes[11...13])
        guard blocksPerRead > 0 else {
            throw TagError(.noCapabilityContainer, "Nbr is 0: nothing can be read (NFC Forum T3T 1.0, 6.1).")
        }
    }

    /// The block's 16 bytes, with their checksum.
    var bytes: [UInt8] {
        var result = [version, UInt8(blocksPerRead), UInt8(blocksPerWrite)] + UInt16(blockCount).bigEndianBytes
        result += unused + [writeFlag, accessFlag]
        result += [UInt8](bigEndian: messageLength, count: 3)
        return result + Self.checksum(result[...])
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let sum = bytes.reduce(0) { $0 + Int($1) }
        return UInt16(truncatingIfNeeded: sum).bigEndianBytes
    }
}
