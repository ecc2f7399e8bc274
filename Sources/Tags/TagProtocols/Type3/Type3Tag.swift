// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 3 tag from the reader's side: FeliCa Lite-S, FeliCa Standard and similar (NFC Forum T3T 1.0).
///
/// ```swift
/// let answers = try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.ndefSystemCode)
/// if let answer = answers.first {
///     let message = try await Type3Tag(target: answer.target, link: link).readNDEF()
/// }
/// ```
///
/// A FeliCa Lite-S whose blocks require authentication or MACs refuses until ``authenticate(cardKey:)`` was called.
public final class Type3Tag: ForumTag {
    /// The tag's type: always Type 3.
    public var type: ForumTagType { .type3 }

    /// The link to the tag.
    public let link: any FrameLink

    /// The tag as polling found it. When it was found by another system, detection polls for 12FC and updates this
    /// property.
    public internal(set) var target: NFCFTarget

    /// The attribute information block, once it was read and checked.
    var attributes: Type3AttributeBlock?
    /// The message, once it was read.
    var message: [UInt8]?
    /// The session with a FeliCa Lite-S whose key is known.
    var session: FeliCaLiteSSession?
    /// The error that every procedure throws once the tag is lost.
    var lost: TagError?

    /// The service of NDEF tags for reading without encryption (NFC Forum T3T 1.0, 5.4).
    static let readService: UInt16 = 0x000B
    /// The service for reading and writing without encryption (NFC Forum T3T 1.0, 5.5).
    static let writeService: UInt16 = 0x0009

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - target: the tag as polling found it, preferably for system 12FC.
    ///   - link: the NFC-F link that it was found over.
    public init(target: NFCFTarget, link: any FrameLink) {
        self.target = target
        self.link = link
    }

    /// Marks the tag as answering again. The cached memory stays valid; an authentication does not.
    public func wasActivated() {
        lost = nil
        session = nil
    }

    public func forgetMemory() {
        attributes = nil
        message = nil
    }

    /// Returns whether the tag still answers.
    ///
    /// A FeliCa Standard card gets Request Response. This command is intended for it and takes less than half the
    /// airtime of polling (FeliCa Card User's Manual, 4.4.4). FeliCa Lite and Lite-S do not have the command. They, and
    /// cards that do not answer it, are polled for their system.
    ///
    /// - Returns: false when the tag is gone or another tag is in its place.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        if !target.isLite, await answersRequestResponse() { return true }
        if let link = link as? any SelfActivatingLink { return (try? await link.reactivate()) != nil }
        let polling = NFCFPolling(link: link)
        for timeSlots in Self.timeSlots {
            let answers = try? await polling.poll(
                systemCode: target.systemCode ?? NFCFTarget.anySystemCode,
                request: .none,
                timeSlots: timeSlots
            )
            if let answers, answers.contains(where: { $0.target.idm == target.idm }) { return true }
        }
        return false
    }

    /// Sends Request Response only once, because a card that does not answer may not have the command.
    private func answersRequestResponse() async -> Bool {
        let command = Frame(FeliCaCommand.requestResponse(idm: target.idm))
        let timeout = min(target.maximumResponseTime(.fixed, count: 0), .milliseconds(20)) + FeliCaCard.tolerance
        guard let answer = try? await link.transceive(command, timeout: timeout).bytes else { return false }
        return answer.count == 11 && answer[1] == 0x05 && answer[2..<10] == target.idm[...]
    }

    /// The time slots of consecutive polls: one slot for a tag that is alone, more when there are others.
    static let timeSlots: [UInt8] = [0, 3, 15]

    /// The tag as a card for FeliCa commands.
    var card: FeliCaCard { FeliCaCard(link: link, target: target) }

    /// Reads consecutive blocks.
    ///
    /// - Throws: ``TagError`` with `refused` when the tag answers with status flags.
    func check(_ blocks: Range<Int>) async throws(TagError) -> [UInt8] {
        if let lost { throw lost }
        if let session {
            do throws(TagError) {
                return try await check(blocks, in: session)
            } catch {
                throw remember(error)
            }
        }
        let elements = blocks.map { FeliCaCommand.BlockElement(block: UInt16(truncatingIfNeeded: $0)) }
        let result: Result<[UInt8], FeliCaCard.Status>
        do throws(TagError) {
            result = try await card.read(services: [Self.readService], blocks: elements)
        } catch {
            throw remember(error)
        }
        switch result {
        case .success(let bytes): return bytes
        case .failure(let status):
            throw TagError(
                .refused,
                "CHECK of blocks \(blocks.lowerBound) to \(blocks.upperBound - 1) gave \(status) (NFC Forum T3T 1.0, 5.4)."
            )
        }
    }

    /// Writes consecutive blocks.
    ///
    /// - Throws: ``TagError`` with `updateFailed` when the tag answers with status flags.
    func update(_ first: Int, _ bytes: [UInt8]) async throws(TagError) {
        if let lost { throw lost }
        if let session {
            do throws(TagError) {
                return try await update(first, bytes, in: session)
            } catch {
                throw remember(error)
            }
        }
        let count = bytes.count / Type3AttributeBlock.blockSize
        let elements = (first..<first + count).map {
            FeliCaCommand.BlockElement(block: UInt16(truncatingIfNeeded: $0))
        }
        let status: FeliCaCard.Status
        do throws(TagError) {
            status = try await card.write(services: [Self.writeService], blocks: elements, data: bytes)
        } catch {
            let error = remember(error)
            guard error.code == .badAnswer else { throw error }
            throw TagError(.updateFailed, error.reason, link: error.link)
        }
        guard status.isSuccess else {
            throw TagError(
                .updateFailed,
                "UPDATE of blocks \(first) to \(first + count - 1) gave \(status) (NFC Forum T3T 1.0, 5.5)."
            )
        }
    }

    func remember(_ error: TagError) -> TagError {
        if error.code == .tagLost { lost = error }
        return error
    }
}

extension Type3Tag {
    /// Reads block 88 of a FeliCa Lite or Lite-S, the memory configuration; nil when the tag does not let it be read.
    package func readMemoryConfiguration() async throws(TagError) -> [UInt8]? {
        try await register(FeliCaLite.memoryConfiguration)
    }

    /// Reads block 90 of a FeliCa Lite-S, the write counter; nil when the tag does not let it be read.
    package func readWriteCounter() async throws(TagError) -> UInt32? {
        try await register(FeliCaLite.writeCounter).map { UInt32(bytes: $0.prefix(3).reversed()) }
    }

    private func register(_ block: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            return try await check(block..<block + 1)
        } catch {
            guard error.code == .refused || error.code == .badAnswer else { throw error }
            return nil
        }
    }
}

extension Type3Tag {
    /// Runs the NDEF detection procedure: polls for system 12FC if the tag was found by another one, then reads block 0
    /// with CHECK (NFC Forum T3T 1.0, 6.4.1).
    ///
    /// WriteF with a length other than 0 means that a write was interrupted. Then the error is `writeInProgress`, but
    /// the tag can be written. WriteF with a length of 0 counts as an empty tag.
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer` when the tag has no NDEF system or no attribute block,
    ///   `badChecksum`, `badVersion`, `lengthOverrun`, `writeInProgress`, `tagLost`, `badAnswer`, `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let attributes = try await readAttributes()
        try attributes.checkLength()
        guard !attributes.isTorn else {
            throw TagError(
                .writeInProgress,
                "WriteF is on: an earlier write was cut off, and the message can't be trusted (NFC Forum T3T 1.0, 6.4.2)."
            )
        }
        return NDEFDetection(
            access: attributes.isWritable ? .readWrite : .readOnly,
            capacity: attributes.capacity,
            messageLength: attributes.messageLength
        )
    }

    /// Reads the NDEF message, Nbr blocks at a time (NFC Forum T3T 1.0, 6.4.1).
    ///
    /// - Returns: the message's bytes; empty when the tag is empty.
    /// - Throws: the errors of ``detectNDEF()``, and `refused` when the tag does not let blocks be read.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let length = try await detectNDEF().messageLength
        if let message { return message }
        guard let attributes else { return [] }
        let size = Type3AttributeBlock.blockSize
        let end = 1 + (length + size - 1) / size
        let most = min(attributes.blocksPerRead, maximumBlocksPerRead)
        var bytes: [UInt8] = []
        var block = 1
        while block < end {
            let next = min(end, block + most)
            bytes += try await check(block..<next)
            block = next
        }
        let read = Array(bytes.prefix(length))
        message = read
        return read
    }

    /// Reads and checks the attribute block.
    func readAttributes() async throws(TagError) -> Type3AttributeBlock {
        if let lost { throw lost }
        if let attributes { return attributes }
        try await selectSystem()
        let bytes: [UInt8]
        do throws(TagError) {
            bytes = try await check(0..<1)
        } catch {
            guard error.code == .refused else { throw error }
            throw TagError(.noCapabilityContainer, "The attribute block can't be read: \(error.reason)")
        }
        let read = try Type3AttributeBlock(bytes)
        attributes = read
        return read
    }

    /// Polls for system 12FC when the tag was found by another system.
    private func selectSystem() async throws(TagError) {
        guard target.systemCode != NFCFTarget.ndefSystemCode else { return }
        let polling = NFCFPolling(link: link)
        for timeSlots in Self.timeSlots {
            let answers: [NFCFPolling.Answer]
            do throws(TagError) {
                answers = try await polling.poll(
                    systemCode: NFCFTarget.ndefSystemCode,
                    request: .none,
                    timeSlots: timeSlots
                )
            } catch {
                throw remember(error)
            }
            if let answer = answers.first(where: { target.isOfSameCard(as: $0.target) }) {
                target = answer.target
                return
            }
        }
        throw TagError(
            .noCapabilityContainer,
            "The tag does not answer to polling for system 12FC (NFC Forum T3T 1.0, 6.4.1)."
        )
    }

    /// The number of blocks in an answer to CHECK: 15 by the standard, fewer when the reader's frames are short.
    var maximumBlocksPerRead: Int {
        max(1, min(15, (link.maximumFrameLength - 2 - 13) / Type3AttributeBlock.blockSize))
    }
}

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

/// The properties of FeliCa Lite and Lite-S that other Type 3 tags don't have (FeliCa Lite-S User's Manual, 7).
enum FeliCaLite {
    /// The memory configuration block, MC.
    static let memoryConfiguration = 0x88
    /// The write counter block of Lite-S, WCNT.
    static let writeCounter = 0x90
    /// The number of scratch pad blocks that can hold a message: 14 without the attribute block.
    static let messageBlocks = 13

    /// Returns MC with every scratch pad block read-only and the system blocks frozen.
    static func locked(_ configuration: [UInt8]) -> [UInt8] {
        var result = configuration
        result[0] = 0x00
        // Bits 6 and 7 of the second byte are not for scratch pad blocks: REG, and a reserved one.
        result[1] &= 0xC0
        result[2] = 0x00
        return result
    }

    /// Returns MC of a tag that answers to system 12FC.
    static func withNDEFSystem(_ configuration: [UInt8]) -> [UInt8] {
        var result = configuration
        result[3] = 0x01
        return result
    }
}
