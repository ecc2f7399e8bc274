// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type3Tag {
    /// Writes an NDEF message in three steps: the attribute block with WriteF on and length 0, the data, then the
    /// attribute block with WriteF off and the length (NFC Forum T3T 1.0, 6.4.2).
    ///
    /// A tag that is lost in between has the old message, the new message, or WriteF on with length 0. The last is an
    /// empty tag for this reader and others that use the length, and an unfinished write for readers that only look at
    /// WriteF. A tag with an unfinished write can be written.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly` and `messageTooLong` before anything is written, `updateFailed` when the
    ///   tag refused, `tagLost`, and the errors of ``detectNDEF()`` except `writeInProgress` and `lengthOverrun`.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let attributes = try await readAttributes()
        guard attributes.isWritable else {
            throw TagError(.readOnly, "RWFlag or Nbw forbids writing (NFC Forum T3T 1.0, 6.1).")
        }
        guard message.count <= attributes.capacity else {
            throw TagError(
                .messageTooLong,
                "The message has \(message.count) bytes, and the tag has room for \(attributes.capacity)."
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

    /// Makes the tag read-only: RWFlag 00. On FeliCa Lite and Lite-S it also writes the memory configuration block,
    /// which locks the blocks permanently (NFC Forum T3T 1.0, 6.4.3; FeliCa Lite-S User's Manual, 7.3).
    ///
    /// On other products only the flag protects the tag from being written.
    ///
    /// - Throws: ``TagError`` with `readOnly` when it is read-only already, `updateFailed` when the tag refused,
    ///   `tagLost`, and the errors of ``detectNDEF()``.
    public func lock() async throws(TagError) {
        var attributes = try await readAttributes()
        guard attributes.isWritable else { throw TagError(.readOnly, "The tag is read-only already.") }
        try attributes.checkLength()
        guard !attributes.isTorn else {
            throw TagError(.writeInProgress, "A message whose write was cut off would be locked permanently.")
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
        try await update(0, block.bytes)
        attributes = block
    }

    private func writeData(_ message: [UInt8], _ attributes: Type3AttributeBlock) async throws(TagError) {
        let size = Type3AttributeBlock.blockSize
        let padding = (size - message.count % size) % size
        let bytes = message + [UInt8](repeating: 0, count: padding)
        var block = 1
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(attributes.blocksPerWrite, maximumBlocksPerWrite(at: block), rest.count / size)
            // The tag's content is uncertain until the attribute block is written.
            self.attributes = nil
            try await update(block, Array(rest.prefix(count * size)))
            rest = rest.dropFirst(count * size)
            block += count
        }
    }

    /// Returns the number of blocks in an UPDATE. LEN is one byte, and blocks from 256 on need a list element of three
    /// bytes.
    private func maximumBlocksPerWrite(at block: Int) -> Int {
        let limit = min(255, link.maximumFrameLength - 2)
        let short = (limit - 14) / 18
        return max(1, block + short > 256 ? (limit - 14) / 19 : short)
    }
}

extension Type3Tag {
    /// Formats a blank FeliCa Lite or Lite-S as an empty NDEF tag: writes an attribute block, and enables system 12FC
    /// in MC. The system becomes active when the tag is powered the next time.
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
