// SPDX-License-Identifier: Apache-2.0

/// What FeliCa Lite and Lite-S have beyond other Type 3 tags (FeliCa Lite-S User's Manual, 7).
enum FeliCaLite {
    /// The memory configuration block, MC.
    static let memoryConfiguration = 0x88
    /// The write counter block of Lite-S, WCNT.
    static let writeCounter = 0x90
    /// How many of the 14 scratch pad blocks hold a message: all but the attribute block.
    static let messageBlocks = 13

    /// MC with every scratch pad block read-only and the system blocks frozen.
    static func locked(_ configuration: [UInt8]) -> [UInt8] {
        var result = configuration
        result[0] = 0x00
        // Bits 6 and 7 of the second octet are not scratch pad blocks: REG, and one that is reserved.
        result[1] &= 0xC0
        result[2] = 0x00
        return result
    }

    /// MC of a tag that answers to system 12FC.
    static func withNDEFSystem(_ configuration: [UInt8]) -> [UInt8] {
        var result = configuration
        result[3] = 0x01
        return result
    }
}

extension Type3Tag {
    /// Makes an empty NDEF tag of a blank FeliCa Lite or Lite-S: an attribute block, and MC such that the tag answers to
    /// system 12FC. The system takes effect when the tag next gets power.
    ///
    /// - Throws: ``TagError`` with `unsupported` for other products, `readOnly` when the system blocks are frozen,
    ///   `updateFailed`, `refused`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        guard target.isLite else {
            throw TagError(.unsupported, "Only FeliCa Lite and Lite-S can be formatted; others need keys.")
        }
        let block = FeliCaLite.memoryConfiguration
        let configuration = try await check(block..<block + 1)
        guard configuration[2] == 0xFF || configuration[3] == 0x01 else {
            throw TagError(.readOnly, "The system blocks are frozen, and the tag has no NDEF system.")
        }
        try await write(Type3AttributeBlock(blocksPerRead: 4, blocksPerWrite: 1, blockCount: FeliCaLite.messageBlocks))
        if configuration[3] != 0x01 {
            try await update(block, FeliCaLite.withNDEFSystem(configuration))
        }
        message = []
    }
}
