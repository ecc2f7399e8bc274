// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type3Tag {
    /// Writes an NDEF message: the attribute block with WriteF on and a length of 0, the data, the attribute block with
    /// WriteF off and the length (NFC Forum T3T 1.0, 6.4.2).
    ///
    /// A tag that is lost on the way has the old message, or WriteF on and length 0: an empty tag to this reader and to
    /// those that go by the length, and an unfinished write to those that go by WriteF alone; or it has the new message.
    /// A tag that an earlier write has left unfinished can be written.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly` and `messageTooLong` before anything is written, `updateFailed` when the
    ///   tag refused, `tagLost`, and as ``detectNDEF()`` does except `writeInProgress`.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let attributes = try await readAttributes()
        guard attributes.isWritable else {
            throw TagError(.readOnly, "RWFlag or Nbw forbids writing (NFC Forum T3T 1.0, 6.1).")
        }
        guard message.count <= attributes.capacity else {
            throw TagError(
                .messageTooLong,
                "The message has \(message.count) octets, and the tag has room for \(attributes.capacity)."
            )
        }
        var written = attributes
        if !message.isEmpty {
            written.writeFlag = Type3AttributeBlock.writeOn
            written.messageLength = 0
            try await write(written)
            try await writeData(message, attributes)
        }
        written.writeFlag = 0
        written.messageLength = message.count
        try await write(written)
        self.message = message
    }

    /// Makes the tag read-only: RWFlag 00, and on FeliCa Lite and Lite-S the memory configuration block, which locks the
    /// blocks for ever (NFC Forum T3T 1.0, 6.4.3; FeliCa Lite-S User's Manual, 7.3).
    ///
    /// On other products only the flag stands between a writer and the tag.
    ///
    /// - Throws: ``TagError`` with `readOnly` when it is already, `updateFailed` when the tag refused, `tagLost`, and as
    ///   ``detectNDEF()`` does except `writeInProgress`.
    public func lock() async throws(TagError) {
        var attributes = try await readAttributes()
        guard attributes.isWritable else { throw TagError(.readOnly, "The tag is read-only already.") }
        guard !attributes.isTorn else {
            throw TagError(.writeInProgress, "A message whose write was cut off would be locked in for ever.")
        }
        var configuration: [UInt8]?
        if target.isLite {
            configuration = try await check(FeliCaLite.memoryConfiguration..<FeliCaLite.memoryConfiguration + 1)
        }
        attributes.accessFlag = 0
        attributes.writeFlag = 0
        let kept = message
        try await write(attributes)
        message = kept
        if let configuration {
            try await update(FeliCaLite.memoryConfiguration, FeliCaLite.locked(configuration))
        }
    }

    /// Writes the attribute block.
    func write(_ block: Type3AttributeBlock) async throws(TagError) {
        attributes = nil
        message = nil
        try await update(0, block.octets)
        attributes = block
    }

    private func writeData(_ message: [UInt8], _ attributes: Type3AttributeBlock) async throws(TagError) {
        let size = Type3AttributeBlock.blockSize
        let padding = (size - message.count % size) % size
        let octets = message + [UInt8](repeating: 0, count: padding)
        var block = 1
        var rest = octets[...]
        while !rest.isEmpty {
            let count = min(attributes.blocksPerWrite, maximumBlocksPerWrite(at: block), rest.count / size)
            // What is on the tag is uncertain until the attribute block says otherwise.
            self.attributes = nil
            try await update(block, Array(rest.prefix(count * size)))
            rest = rest.dropFirst(count * size)
            block += count
        }
    }

    /// How many blocks an UPDATE holds: LEN is one byte, and blocks from 256 on take a list element of three bytes.
    private func maximumBlocksPerWrite(at block: Int) -> Int {
        let limit = min(255, link.maximumFrameLength - 2)
        let short = (limit - 14) / 18
        return max(1, block + short > 256 ? (limit - 14) / 19 : short)
    }
}

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
        // Bits 6 and 7 of the second byte are not scratch pad blocks: REG, and one that is reserved.
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
