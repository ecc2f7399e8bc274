// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A file of a FeliCa system: blocks, and the services that give access to them.
///
/// Several services may share the blocks, such as 0009 (read and write) and 000B (read only) of a Type 3 tag.
public struct FeliCaFile: Sendable, Hashable {
    /// The codes of the services: a number in the upper ten bits, an attribute in the lower six.
    public var serviceCodes: [UInt16]
    /// The blocks, 16 octets each.
    public var memory: [UInt8]
    /// The version of the services' keys, as Request Service tells it.
    public var keyVersion: UInt16

    /// Creates a file. Octets are filled up to a whole block.
    public init(serviceCodes: [UInt16], memory: [UInt8], keyVersion: UInt16 = 0) {
        self.serviceCodes = serviceCodes
        self.memory = memory + Array(repeating: 0, count: (16 - memory.count % 16) % 16)
        self.keyVersion = keyVersion
    }

    /// How many blocks there are.
    public var blockCount: Int { memory.count / 16 }
}

/// A system of a FeliCa Standard card: files, found by a system code.
public struct FeliCaSystem: Sendable, Hashable {
    /// The system code.
    public var code: UInt16
    /// The files.
    public var files: [FeliCaFile]
    /// The most blocks of one Read Without Encryption.
    public var maximumRead: Int
    /// The most blocks of one Write Without Encryption.
    public var maximumWrite: Int

    /// Creates a system.
    public init(code: UInt16, files: [FeliCaFile], maximumRead: Int = 15, maximumWrite: Int = 13) {
        self.code = code
        self.files = files
        self.maximumRead = maximumRead
        self.maximumWrite = maximumWrite
    }

    /// Creates the NDEF system of a Type 3 tag: system 12FC, services 0009 and 000B.
    ///
    /// - Parameter memory: all blocks, the attribute information block first; its Nbr and Nbw are the limits of the
    ///   system, where they are not 0.
    public init(ndef memory: [UInt8]) {
        let read = memory.count > 1 ? Int(memory[1]) : 0
        let write = memory.count > 2 ? Int(memory[2]) : 0
        self.init(
            code: 0x12FC,
            files: [FeliCaFile(serviceCodes: [0x0009, 0x000B], memory: memory)],
            maximumRead: read == 0 ? 15 : read,
            maximumWrite: write == 0 ? 13 : write
        )
    }

    /// Creates an empty NDEF system (NFC Forum T3T 1.0, 6.1).
    ///
    /// - Parameters:
    ///   - blockCount: Nmaxb, how many blocks there are for the message.
    ///   - maximumRead: Nbr.
    ///   - maximumWrite: Nbw.
    public init(ndefBlocks blockCount: Int, maximumRead: UInt8 = 12, maximumWrite: UInt8 = 8) {
        self.init(
            ndef: Self.attributes(blockCount: blockCount, maximumRead: maximumRead, maximumWrite: maximumWrite)
                + Array(repeating: 0, count: blockCount * 16)
        )
    }

    /// The attribute information block of an empty tag.
    static func attributes(blockCount: Int, maximumRead: UInt8, maximumWrite: UInt8) -> [UInt8] {
        var block: [UInt8] = [0x10, maximumRead, maximumWrite, UInt8(blockCount >> 8), UInt8(blockCount & 0xFF)]
        block += [0, 0, 0, 0, 0x00, 0x01, 0, 0, 0]
        let sum = block.reduce(0) { $0 + Int($1) }
        return block + UInt16(sum).bigEndianOctets
    }
}
