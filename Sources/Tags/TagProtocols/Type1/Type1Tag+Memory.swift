// SPDX-License-Identifier: Apache-2.0

/// Reading and writing the memory.
extension Type1Tag {
    /// The number of bytes that RALL returns.
    static let staticSize = 120
    /// The number of bytes in a segment.
    static let segmentSize = 128
    /// The number of bytes in a block.
    static let blockSize = 8
    /// The number of unread blocks in a segment from which RSEG is faster than one READ8 for each.
    static let blocksWorthSegment = 6

    static let beyondMemory = TagError(
        .lengthOverrun,
        "The data area goes beyond the memory (NFC Forum T1T 1.2, 4.2)."
    )

    /// Reads the whole static memory with RALL (NFC Forum T1T 1.2, 5.4).
    func readStaticMemory() async throws(TagError) {
        let answer = try await exchange([0x00, 0x00, 0x00], answerLength: Self.staticSize + 2)
        guard answer[0] == target?.headerROM0, Array(answer[2..<6]) == target?.uid else {
            throw TagError(.badAnswer, "RALL gives another header or UID than RID (NFC Forum T1T 1.2, 5.4).")
        }
        memory.store(answer[2...], at: 0)
    }

    /// Reads the blocks of a range of bytes that were not read completely yet.
    ///
    /// - Throws: ``TagError`` with `lengthOverrun` when a tag with only static memory does not have them.
    func fetch(_ addresses: Range<Int>) async throws(TagError) {
        try await prepare()
        let size = Self.blockSize
        let blocks = addresses.lowerBound / size..<(addresses.upperBound + size - 1) / size
        func unknown() -> [Int] {
            blocks.filter { block in (block * size..<(block + 1) * size).contains { memory[byte: $0] == nil } }
        }
        var wanted = unknown()
        if !wanted.isEmpty, isStatic || memory[byte: 0] == nil {
            try await readStaticMemory()
            wanted = unknown()
        }
        guard wanted.isEmpty || !isStatic, addresses.upperBound <= Self.maximumSize else {
            throw Self.beyondMemory
        }
        let perSegment = Self.segmentSize / Self.blockSize
        while let first = wanted.first {
            let segment = first / perSegment
            let inSegment = wanted.prefix { $0 / perSegment == segment }
            if inSegment.count >= Self.blocksWorthSegment, segment < 16 {
                let command: [UInt8] = [0x10, UInt8(segment << 4)] + [UInt8](repeating: 0, count: 8)
                let answer = try await exchange(command, answerLength: 1 + Self.segmentSize)
                try check(answer[0], UInt8(segment << 4), "RSEG")
                memory.store(answer[1...], at: segment * Self.segmentSize)
            } else {
                for block in inSegment {
                    let command: [UInt8] = [0x02, UInt8(block)] + [UInt8](repeating: 0, count: 8)
                    let answer = try await exchange(command, answerLength: 1 + Self.blockSize)
                    try check(answer[0], UInt8(block), "READ8")
                    memory.store(answer[1...], at: block * Self.blockSize)
                }
            }
            wanted.removeFirst(inSegment.count)
        }
    }

    /// Writes a unit: a byte with WRITE-E, or a block with WRITE-E8 (NFC Forum T1T 1.2, 5.6 and 5.10). The tag answers
    /// with the new content, which is compared.
    ///
    /// - Parameters:
    ///   - bytes: the unit's bytes.
    ///   - unit: the unit.
    ///   - isErasing: whether bits are cleared too. Otherwise bits are only set.
    /// - Throws: ``TagError`` with `updateFailed` when the tag holds something else afterwards.
    func write(_ bytes: [UInt8], to unit: Int, isErasing: Bool = true) async throws(TagError) {
        memory.forget(unit)
        layout = nil
        let command: UInt8 =
            isStatic ? (isErasing ? 0x53 : 0x1A) : (isErasing ? 0x54 : 0x1B)
        let answer: [UInt8]
        do throws(TagError) {
            answer = try await exchange(
                [command, UInt8(unit)] + bytes,
                answerLength: 1 + bytes.count,
                timeout: Self.writeTimeout
            )
        } catch {
            guard error.code == .badAnswer else { throw error }
            throw TagError(.updateFailed, error.reason, link: error.link)
        }
        guard answer[0] == UInt8(unit) else {
            throw TagError(.updateFailed, "The answer to a write is for another address (NFC Forum T1T 1.2, 5).")
        }
        memory.store(answer[1...], at: unit * memory.unitSize)
        guard zip(answer[1...], bytes).allSatisfy({ isErasing ? $0 == $1 : $0 & $1 == $1 }) else {
            throw TagError(
                .updateFailed,
                "The tag does not hold what was written to \(isStatic ? "byte" : "block") \(unit): it is locked (NFC Forum T1T 1.2, 5)."
            )
        }
    }

    private func check(_ echo: UInt8, _ sent: UInt8, _ name: String) throws(TagError) {
        guard echo == sent else {
            throw TagError(.badAnswer, "The answer to \(name) is for another address (NFC Forum T1T 1.2, 5).")
        }
    }
}
