// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Reading blocks.
extension Type5Tag {
    /// The most blocks in one READ MULTIPLE BLOCKS. Tags with a limit have this one.
    static let maximumBlocksPerRead = 32
    /// The number of blocks that can be addressed.
    static let maximumBlockCount = 65536
    /// The number of bytes in the first read: the container, a TLV and the start of a short message.
    static let firstReadLength = 16

    /// Reads the first blocks, which also determines the block size.
    ///
    /// It reads four blocks if they have four bytes, as almost all tags do. This includes a whole message of up to 10
    /// bytes, and never needs more exchanges than a shorter first read.
    func readFirstBlocks() async throws(TagError) {
        guard blockSize == 0 else { return }
        let count = Type5Product.assumedBlockSize(target) == 4 ? 4 : 2
        if case .octets(let octets) = try await exchange(.readMultipleBlocks, [0, UInt8(count - 1)]) {
            return try begin(octets, count)
        }
        readsMultiple = false
        switch try await exchange(.readSingleBlock, [0]) {
        case .octets(let octets): return try begin(octets, 1)
        case .refused(let code):
            throw TagError(.noCapabilityContainer, "Block 0 can't be read: \(code) (NFC Forum T5T 1.0, 6.2).")
        case .silent(let error): throw loss(error)
        }
    }

    private func begin(_ octets: [UInt8], _ count: Int) throws(TagError) {
        guard octets.count % count == 0, [4, 8, 16, 32].contains(octets.count / count) else {
            throw TagError(
                .badAnswer,
                "\(count) blocks have \(octets.count) bytes; a block has 4, 8, 16 or 32 (NFC Forum T5T 1.0, 4.1)."
            )
        }
        blockSize = octets.count / count
        memory = TLVMemory(unitSize: blockSize, limit: Self.maximumBlockCount * blockSize)
        memory.store(octets, at: 0)
    }

    /// Reads the bytes of a range that were not read yet.
    ///
    /// - Throws: ``TagError`` with `lengthOverrun` when a block does not exist.
    func fetch(_ addresses: Range<Int>) async throws(TagError) {
        try await readFirstBlocks()
        var units = addresses.lowerBound / blockSize..<(addresses.upperBound + blockSize - 1) / blockSize
        while let run = memory.firstUnknownRun(in: units) {
            try await readBlocks(run.lowerBound, run.prefix(blocksPerRead(from: run.lowerBound)).count)
            // Everything before it was read.
            units = run.lowerBound..<units.upperBound
        }
    }

    /// Returns how many blocks to read, starting at one: limited by the command, by the reader's frame, and by the
    /// sector for products with sectors.
    private func blocksPerRead(from block: Int) -> Int {
        guard readsMultiple else { return 1 }
        var count = max(1, min(Self.maximumBlocksPerRead, (link.maximumFrameLength - 3) / blockSize))
        if Type5Product.readsWithinSectors(target) { count = min(count, 32 - block % 32) }
        // A read does not cross the address where the commands change.
        if block < 256 { count = min(count, 256 - block) }
        return count
    }

    private func readBlocks(_ first: Int, _ count: Int) async throws(TagError) {
        let place = address(first)
        if count > 1 {
            let last = UInt8(count - 1)
            let answer =
                place.isLong
                ? try await exchange(.extendedReadMultipleBlocks, place.octets + [last, 0])
                : try await exchange(.readMultipleBlocks, place.octets + [last])
            if case .octets(let octets) = answer {
                try store(octets, first, count)
                return
            }
            // The tag may support READ MULTIPLE BLOCKS, but not this range, for example when it ends after the memory.
        }
        let command: ISO15693Command = place.isLong ? .extendedReadSingleBlock : .readSingleBlock
        switch try await exchange(command, place.octets) {
        case .octets(let octets):
            if count > 1 { readsMultiple = false }
            try store(octets, first, 1)
        case .refused(let code):
            throw TagError(
                .lengthOverrun,
                "Block \(first) of the data area can't be read: \(code) (NFC Forum T5T 1.0, 4.3.3)."
            )
        case .silent(let error): throw loss(error)
        }
    }

    private func store(_ octets: [UInt8], _ first: Int, _ count: Int) throws(TagError) {
        guard octets.count == count * blockSize else {
            throw TagError(
                .badAnswer,
                "A read of \(count) blocks brought \(octets.count) bytes (NFC Forum T5T 1.0, 5.2)."
            )
        }
        memory.store(octets, at: first * blockSize)
    }

    /// Returns the size of the memory, if the tag reports it: by GET SYSTEM INFORMATION, or by the extended command.
    func readMemorySize() async throws(TagError) -> Int? {
        if let known = Type5Product.memorySize(target) { return known }
        if let octets = try await systemInformation(.getSystemInformation, []),
            let info = try? ISO15693SystemInfo(octets), let count = info.blockCount, let size = info.blockSize
        {
            return count * size
        }
        // Bit 2 of the request: the memory's size.
        if let octets = try await systemInformation(.extendedGetSystemInformation, [0x04]),
            let info = try? ISO15693SystemInfo(octets, isExtended: true),
            let count = info.blockCount, let size = info.blockSize
        {
            return count * size
        }
        return nil
    }

    /// Sends a command that not all tags have. Returns nil when the tag does not answer it, or its reader can't send
    /// it.
    func systemInformation(
        _ command: ISO15693Command,
        _ parameters: [UInt8]
    ) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            if case .octets(let octets) = try await exchange(command, parameters) { return octets }
        } catch {
            guard error.code == .unsupported else { throw error }
        }
        return nil
    }
}

/// Facts about Type 5 products by their UID, without an exchange.
enum Type5Product {
    /// Returns the expected block size. The first answer determines the real one.
    static func assumedBlockSize(_ target: NFCVTarget) -> Int {
        // Fujitsu's FRAM tags: MB89R118 has 8, MB89R119 has 4.
        target.manufacturer == 0x08 ? 8 : 4
    }

    /// Returns the bytes of memory for a message, if it is the same for every tag with that UID range.
    static func memorySize(_ target: NFCVTarget) -> Int? {
        guard target.manufacturer == 0x04, target.uid[2] == 0x01 else { return nil }
        switch target.uid[3] >> 3 & 3 {
        // ICODE SLI and SLIX: 28 blocks.
        case 0b00, 0b10: return 112
        // ICODE SLIX2: 80 blocks; the last one is the counter.
        case 0b01: return 316
        default: return nil
        }
    }

    /// Returns whether READ MULTIPLE BLOCKS can't cross sectors of 32 blocks, as on ST's LRIS64K, M24LR04E, M24LR16E
    /// and M24LR64, and on ON Semiconductor's N24RF.
    static func readsWithinSectors(_ target: NFCVTarget) -> Bool {
        switch target.manufacturer {
        // The high six bits are the product code.
        case 0x02: [0x2C, 0x44, 0x4C, 0x5C, 0x58].contains(target.uid[2] & 0xFC)
        case 0x67: true
        default: false
        }
    }
}
