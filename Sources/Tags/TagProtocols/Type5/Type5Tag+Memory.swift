// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts

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
        let count = target.family?.blockSize ?? 4 == 4 ? 4 : 2
        if case .bytes(let bytes) = try await exchange(.readMultipleBlocks, [0, UInt8(count - 1)]) {
            return try begin(bytes, count)
        }
        readsMultiple = false
        switch try await exchange(.readSingleBlock, [0]) {
        case .bytes(let bytes): return try begin(bytes, 1)
        case .refused(let code):
            throw TagError(.noCapabilityContainer, "Block 0 can't be read: \(code) (NFC Forum T5T 1.0, 6.2).")
        case .silent(let error): throw loss(error)
        }
    }

    /// Reads the block in which the container begins, also again after a write of it that was not confirmed.
    func fetchFirstBlock() async throws(TagError) {
        try await fetch(0..<1)
    }

    private func begin(_ bytes: [UInt8], _ count: Int) throws(TagError) {
        guard bytes.count % count == 0, [4, 8, 16, 32].contains(bytes.count / count) else {
            throw TagError(
                .badAnswer,
                "\(count) blocks have \(bytes.count) bytes; a block has 4, 8, 16 or 32 (NFC Forum T5T 1.0, 4.1)."
            )
        }
        blockSize = bytes.count / count
        memory = TLVMemory(unitSize: blockSize, limit: Self.maximumBlockCount * blockSize)
        memory.store(bytes, at: 0)
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
        if target.family?.readsWithinSectors == true { count = min(count, 32 - block % 32) }
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
                ? try await exchange(.extendedReadMultipleBlocks, place.bytes + [last, 0])
                : try await exchange(.readMultipleBlocks, place.bytes + [last])
            if case .bytes(let bytes) = answer {
                try store(bytes, first, count)
                return
            }
            // The tag may support READ MULTIPLE BLOCKS, but not this range, for example when it ends after the memory.
        }
        let command: ISO15693Command = place.isLong ? .extendedReadSingleBlock : .readSingleBlock
        switch try await exchange(command, place.bytes) {
        case .bytes(let bytes):
            if count > 1 { readsMultiple = false }
            try store(bytes, first, 1)
        case .refused(let code):
            throw TagError(
                .lengthOverrun,
                "Block \(first) of the data area can't be read: \(code) (NFC Forum T5T 1.0, 4.3.3)."
            )
        case .silent(let error): throw loss(error)
        }
    }

    private func store(_ bytes: [UInt8], _ first: Int, _ count: Int) throws(TagError) {
        guard bytes.count == count * blockSize else {
            throw TagError(
                .badAnswer,
                "A read of \(count) blocks brought \(bytes.count) bytes (NFC Forum T5T 1.0, 5.2)."
            )
        }
        memory.store(bytes, at: first * blockSize)
    }

    /// Returns the size of the memory, if the tag reports it: by GET SYSTEM INFORMATION, or by the extended command.
    func readMemorySize() async throws(TagError) -> Int? {
        if let known = target.family?.memorySize { return known }
        if let bytes = try await systemInformation(.getSystemInformation, []),
            let info = try? ISO15693SystemInfo(bytes), let count = info.blockCount, let size = info.blockSize
        {
            return count * size
        }
        // Bit 2 of the request: the memory's size.
        if let bytes = try await systemInformation(.extendedGetSystemInformation, [0x04]),
            let info = try? ISO15693SystemInfo(bytes, isExtended: true),
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
            if case .bytes(let bytes) = try await exchange(command, parameters) { return bytes }
        } catch {
            guard error.code == .unsupported else { throw error }
        }
        return nil
    }
}
