// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The reader's side of a Type 3 tag: FeliCa Lite-S, FeliCa Standard and similar (NFC Forum T3T 1.0).
///
/// ```swift
/// let answers = try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.ndefSystemCode)
/// if let answer = answers.first {
///     let message = try await Type3Tag(target: answer.target, link: link).readNDEF()
/// }
/// ```
///
/// A FeliCa Lite-S that requires authentication or MACs refuses access until ``authenticate(cardKey:)`` succeeds.
public final class Type3Tag: ForumTag {
    /// The tag's type: always Type 3.
    public var type: ForumTagType? { .type3 }

    /// The link to the tag.
    public let link: any FrameLink

    /// The tag's data from polling. If another system was polled, detection polls for 12FC and updates this value.
    public private(set) var target: NFCFTarget

    private var attributes: Type3AttributeBlock?
    private var message: [UInt8]?
    private var session: FeliCaLiteSSession?
    private var lost: TagError?

    /// The service of NDEF tags for reading without encryption (NFC Forum T3T 1.0, 5.4).
    static let readService: UInt16 = 0x000B
    /// The service for reading and writing without encryption (NFC Forum T3T 1.0, 5.5).
    static let writeService: UInt16 = 0x0009
    /// The time slots (TSN) of consecutive polls: one slot at first, then more in case several tags answer.
    private static let timeSlots: [UInt8] = [0, 3, 15]
    private static let blockSize = Type3AttributeBlock.size

    /// Creates a tag that was found over an NFC-F link, preferably by polling for system 12FC.
    public init(target: NFCFTarget, link: any FrameLink) {
        self.target = target
        self.link = link
    }

    /// Clears the lost state and ends an authentication. The cached memory stays valid.
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
    /// A FeliCa Standard card gets Request Response. This command is intended for presence checks and takes less than
    /// half the airtime of polling (FeliCa Card User's Manual, 4.4.4). FeliCa Lite and Lite-S lack the command. They,
    /// and cards that do not answer it, are polled for their system.
    ///
    /// - Returns: false when the tag left or another tag replaced it.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        if !target.isLite, await answersRequestResponse() { return true }
        if let link = link as? any SelfActivatingLink { return (try? await link.reactivate()) != nil }
        let system = target.systemCode ?? NFCFTarget.anySystemCode
        for timeSlots in Self.timeSlots {
            let answers = try? await NFCFPolling(link: link).poll(
                systemCode: system,
                request: .none,
                timeSlots: timeSlots
            )
            if let answers, answers.contains(where: { $0.target.idm == target.idm }) { return true }
        }
        return false
    }

    /// Sends Request Response only once, because a card that does not answer may lack the command.
    private func answersRequestResponse() async -> Bool {
        let timeout = min(target.maximumResponseTime(.fixed, count: 0), .milliseconds(20)) + FeliCaCard.tolerance
        let request = Frame(card.command(0x04))
        guard let answer = try? await link.transceive(request, timeout: timeout).bytes else { return false }
        return answer.count == 11 && answer[1] == 0x05 && answer[2..<10] == target.idm[...]
    }

    // MARK: NDEF

    /// Runs the NDEF detection procedure: polls for system 12FC if the tag was found by another system, then reads
    /// block 0 with CHECK (NFC Forum T3T 1.0, 6.4.1).
    ///
    /// If WriteF is on and the length is not 0, a write was interrupted. The error is then `writeInProgress`, but the
    /// tag can be written. If WriteF is on and the length is 0, the tag counts as empty.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let attributes = try await readAttributes()
        try attributes.checkLength()
        guard !attributes.isTorn else {
            throw TagError(
                .writeInProgress,
                "WriteF is on: an earlier write was interrupted, so the message can't be trusted (NFC Forum T3T 1.0, 6.4.2)."
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
    /// - Throws: the errors of ``detectNDEF()``, and `refused` when the tag refuses to read blocks.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let length = try await detectNDEF().messageLength
        if let message { return message }
        guard let attributes else { return [] }
        let end = 1 + (length + Self.blockSize - 1) / Self.blockSize
        // An answer to CHECK has up to 15 blocks, or fewer if the reader's frames are short.
        let most = min(attributes.blocksPerRead, max(1, min(15, (link.maximumFrameLength - 2 - 13) / Self.blockSize)))
        var bytes: [UInt8] = []
        for block in stride(from: 1, to: end, by: most) {
            bytes += try await check(block..<min(end, block + most))
        }
        let read = Array(bytes.prefix(length))
        message = read
        return read
    }

    /// Writes an NDEF message in three steps: the attribute block with WriteF on and length 0, the data, then the
    /// attribute block with WriteF off and the length (NFC Forum T3T 1.0, 6.4.2).
    ///
    /// A tag that is lost in between has the old message, the new message, or WriteF on with length 0. In the last
    /// case, readers that use the length, such as this one, see an empty tag; readers that only check WriteF see an
    /// unfinished write. Such a tag can be written again.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        var written = try await readAttributes()
        guard written.isWritable else {
            throw TagError(.readOnly, "RWFlag or Nbw forbids writing (NFC Forum T3T 1.0, 6.1).")
        }
        guard message.count <= written.capacity else { throw .messageTooLong(message, written.capacity) }
        if !message.isEmpty {
            written.writeFlag = Type3AttributeBlock.writeOn
            written.messageLength = 0
            try await write(written)
            // The tag's content is uncertain until the attribute block is written.
            attributes = nil
            try await writeData(message, blocksPerWrite: written.blocksPerWrite)
        }
        written.writeFlag = 0
        written.messageLength = message.count
        try await write(written)
        self.message = message
    }

    /// Makes the tag read-only by setting RWFlag to 00. On FeliCa Lite and Lite-S it also writes the memory
    /// configuration block, which locks the blocks permanently (NFC Forum T3T 1.0, 6.4.3; FeliCa Lite-S User's Manual,
    /// 7.3).
    ///
    /// On other products, only the flag protects the tag against writing.
    public func lock() async throws(TagError) {
        var attributes = try await readAttributes()
        let configuration = try await openConfiguration(attributes)
        try attributes.checkLength()
        guard !attributes.isTorn else {
            throw TagError(.writeInProgress, "An incompletely written message would be locked permanently.")
        }
        attributes.accessFlag = 0
        attributes.writeFlag = 0
        let kept = message
        try await write(attributes)
        message = kept
        if let configuration { try await update(FeliCaLite.memoryConfiguration, FeliCaLite.locked(configuration)) }
    }

    public func checkLocking() async throws(TagError) {
        // Forgets the memory, so that later procedures send the same commands as without this check.
        defer { forgetMemory() }
        _ = try await openConfiguration(readAttributes())
    }

    /// The memory configuration of a FeliCa Lite or Lite-S that can be locked; nil for other products.
    private func openConfiguration(_ attributes: Type3AttributeBlock) async throws(TagError) -> [UInt8]? {
        guard attributes.isWritable || target.isLite else { throw .alreadyReadOnly }
        let block = FeliCaLite.memoryConfiguration
        let configuration = target.isLite ? try await check(block..<block + 1) : nil
        // An earlier call may have lost the tag before its memory configuration was written.
        guard attributes.isWritable || configuration.map({ $0 != FeliCaLite.locked($0) }) == true else {
            throw .alreadyReadOnly
        }
        guard configuration?[2] ?? 0xFF == 0xFF else {
            throw TagError(.unsupported, "The system blocks are frozen, so the tag can't be locked any more.")
        }
        return configuration
    }

    /// Formats a blank FeliCa Lite or Lite-S as an empty NDEF tag: writes an attribute block, and enables system 12FC
    /// in MC. The system becomes active the next time the tag is powered.
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
            // If the reader can't switch its field, the tag has to leave before its new system answers.
            try? await link.resetField()
        }
        message = []
    }

    /// Performs mutual authentication with a FeliCa Lite-S. Afterwards each read is verified and each write has a MAC,
    /// so a tag whose blocks require authentication or MACs can be used like any other.
    ///
    /// - Parameter cardKey: the 16 bytes that were written to block CK.
    /// - Throws: ``TagError`` with `authenticationFailed` when the tag has a different key, `unsupported` for other
    ///   products and when the system's OpenSSL is missing, `refused`, `updateFailed`, `tagLost`, `badAnswer`,
    ///   `cancelled`.
    public func authenticate(cardKey: [UInt8]) async throws(TagError) {
        guard target.icCode == 0xF1 else { throw TagError(.unsupported, "Only FeliCa Lite-S authenticates a reader.") }
        guard cardKey.count == 16 else {
            throw TagError(.unsupported, "A FeliCa Lite-S card key has 16 bytes, not \(cardKey.count).")
        }
        if let lost { throw lost }
        session = nil
        session = try await remembering { () throws(TagError) in
            var begun = try await FeliCaLiteSSession.begin(with: card, cardKey: cardKey)
            try await begun.authenticateReader()
            return begun
        }
    }

    /// Reads and checks the attribute block.
    private func readAttributes() async throws(TagError) -> Type3AttributeBlock {
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

    /// Polls for system 12FC if the tag was found by another system.
    private func selectSystem() async throws(TagError) {
        let system = NFCFTarget.ndefSystemCode
        guard target.systemCode != system else { return }
        for timeSlots in Self.timeSlots {
            let answers = try await remembering { () throws(TagError) in
                try await NFCFPolling(link: link).poll(systemCode: system, request: .none, timeSlots: timeSlots)
            }
            if let answer = answers.first(where: { target.isOfSameCard(as: $0.target) }) {
                target = answer.target
                return
            }
        }
        let reason = "The tag does not answer polling for system 12FC (NFC Forum T3T 1.0, 6.4.1)."
        throw TagError(.noCapabilityContainer, reason)
    }

    // MARK: Blocks

    private func write(_ block: Type3AttributeBlock) async throws(TagError) {
        attributes = nil
        message = nil
        try await update(0, block.bytes)
        attributes = block
    }

    private func writeData(_ message: [UInt8], blocksPerWrite: Int) async throws(TagError) {
        let padding = (Self.blockSize - message.count % Self.blockSize) % Self.blockSize
        var rest = (message + [UInt8](repeating: 0, count: padding))[...]
        var block = 1
        while !rest.isEmpty {
            let count = min(blocksPerWrite, maximumBlocksPerWrite(at: block), rest.count / Self.blockSize)
            try await update(block, Array(rest.prefix(count * Self.blockSize)))
            rest = rest.dropFirst(count * Self.blockSize)
            block += count
        }
    }

    /// Returns how many blocks fit in an UPDATE. LEN is one byte; a block from 256 on takes three bytes in the list.
    private func maximumBlocksPerWrite(at block: Int) -> Int {
        let limit = min(255, link.maximumFrameLength - 2)
        let short = (limit - 14) / 18
        return max(1, block + short > 256 ? (limit - 14) / 19 : short)
    }

    /// Reads consecutive blocks.
    func check(_ blocks: Range<Int>) async throws(TagError) -> [UInt8] {
        if let lost { throw lost }
        let result = try await remembering { () throws(TagError) -> Result<[UInt8], FeliCaCard.Status> in
            if let session { return .success(try await session.read(blocks)) }
            return try await card.read(service: Self.readService, blocks: Array(blocks))
        }
        switch result {
        case .success(let bytes): return bytes
        // B1: the block needs an authentication.
        case .failure(let status) where status.flag2 == 0xB1 && target.icCode == 0xF1:
            throw TagError(.readProtected, "Blocks from \(blocks.lowerBound) on can be read only with the card key.")
        case .failure(let status):
            throw TagError(
                .refused,
                "CHECK of blocks \(blocks.lowerBound) to \(blocks.upperBound - 1) gave \(status) (NFC Forum T3T 1.0, 5.4)."
            )
        }
    }

    /// Writes consecutive blocks. In a session, each block is written separately with a MAC.
    func update(_ first: Int, _ bytes: [UInt8]) async throws(TagError) {
        if let lost { throw lost }
        let blocks = first..<first + bytes.count / Self.blockSize
        if var session {
            defer { self.session = session }
            for block in blocks {
                let start = (block - first) * Self.blockSize
                let data = Array(bytes[start..<start + Self.blockSize])
                try await remembering { () throws(TagError) in
                    try await session.write(UInt8(truncatingIfNeeded: block), data)
                }
            }
            return
        }
        let status: FeliCaCard.Status
        do throws(TagError) {
            status = try await remembering { () throws(TagError) in
                try await card.write(service: Self.writeService, blocks: Array(blocks), data: bytes)
            }
        } catch {
            throw error.ofWrite
        }
        guard status.isSuccess else {
            // A5 and B1: the block needs a MAC, or an authentication.
            if target.icCode == 0xF1, [0xA5, 0xB1].contains(status.flag2), first <= FeliCaLite.messageBlocks,
                let configuration = try? await readMemoryConfiguration(),
                let start = FeliCaLite.protection(configuration).first, start < blocks.upperBound
            {
                throw TagError(.keyNeeded, "Blocks from \(start) on can be written only with the card key.")
            }
            throw TagError(
                .updateFailed,
                "UPDATE of blocks \(first) to \(blocks.upperBound - 1) gave \(status) (NFC Forum T3T 1.0, 5.5)."
            )
        }
    }

    private var card: FeliCaCard { FeliCaCard(link: link, target: target) }

    /// Runs `body`, and stores its error if the tag was lost.
    private func remembering<Value>(_ body: () async throws(TagError) -> Value) async throws(TagError) -> Value {
        do throws(TagError) {
            return try await body()
        } catch {
            throw error.remembered(in: &lost)
        }
    }

    // MARK: Data besides the message

    /// Reads block 88 of a FeliCa Lite or Lite-S, the memory configuration; nil when the tag refuses to read it.
    package func readMemoryConfiguration() async throws(TagError) -> [UInt8]? {
        try await readBlock(FeliCaLite.memoryConfiguration)
    }

    /// Reads block 90 of a FeliCa Lite-S, the write counter; nil when the tag refuses to read it.
    package func readWriteCounter() async throws(TagError) -> UInt32? {
        try await readBlock(FeliCaLite.writeCounter).map { UInt32(bytes: $0.prefix(3).reversed()) }
    }

    /// Reads a block; nil when the tag refuses to read it.
    package func readBlock(_ block: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            return try await check(block..<block + 1)
        } catch {
            guard error.isRefusedRead || error.code == .badAnswer else { throw error }
            return nil
        }
    }
}

/// Block 0 of a Type 3 tag, the attribute information block (NFC Forum T3T 1.0, 6.1).
private struct Type3AttributeBlock {
    /// The mapping version: 0x10 is 1.0.
    var version: UInt8 = 0x10
    /// Nbr: the number of blocks that one CHECK can read.
    var blocksPerRead: Int
    /// Nbw: the number of blocks that one UPDATE can write.
    var blocksPerWrite: Int
    /// Nmaxb: the number of blocks for a message.
    var blockCount: Int
    /// Four unused bytes, written back unchanged.
    var unused: [UInt8] = [0, 0, 0, 0]
    /// WriteF: nonzero while a write is in progress.
    var writeFlag: UInt8 = 0
    /// RWFlag: 1 when the tag can be written.
    var accessFlag: UInt8 = 1
    /// Ln: the message's length.
    var messageLength = 0

    /// The value of WriteF while a write is in progress.
    static let writeOn: UInt8 = 0x0F
    /// The number of bytes in a block.
    static let size = 16

    var capacity: Int { blockCount * Self.size }
    var isWritable: Bool { accessFlag == 0x01 && blocksPerWrite > 0 }
    /// Whether an earlier write was interrupted while the length was not 0, so that the content can't be trusted. This
    /// reader sets the length to 0 together with WriteF, so its interrupted writes leave an empty tag.
    var isTorn: Bool { writeFlag != 0 && messageLength > 0 }

    /// Checks that the message's length does not exceed the capacity.
    func checkLength() throws(TagError) {
        guard messageLength <= capacity else {
            let reason = "Ln is \(messageLength), but the tag only has room for \(capacity) (NFC Forum T3T 1.0, 6.1)."
            throw TagError(.lengthOverrun, reason)
        }
    }

    /// Creates the block of an empty tag.
    init(blocksPerRead: Int, blocksPerWrite: Int, blockCount: Int) {
        self.blocksPerRead = blocksPerRead
        self.blocksPerWrite = blocksPerWrite
        self.blockCount = blockCount
    }

    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == Self.size, bytes.contains(where: { $0 != 0 }) else {
            throw TagError(.noCapabilityContainer, "The attribute information block is empty (NFC Forum T3T 1.0, 6.1).")
        }
        guard Self.checksum(bytes[..<14]) == [bytes[14], bytes[15]] else {
            let reason = "The checksum of the attribute information block is wrong (NFC Forum T3T 1.0, 6.1)."
            throw TagError(.badChecksum, reason)
        }
        guard bytes[0] >> 4 == 1 else { throw .badVersion(bytes[0] >> 4, bytes[0] & 0x0F, "T3T 1.0, 6.2") }
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

    var bytes: [UInt8] {
        var result = [version, UInt8(blocksPerRead), UInt8(blocksPerWrite)] + UInt16(blockCount).bigEndianBytes
        result += unused + [writeFlag, accessFlag]
        result += [UInt8](bigEndian: messageLength, count: 3)
        return result + Self.checksum(result[...])
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        UInt16(truncatingIfNeeded: bytes.reduce(0) { $0 + Int($1) }).bigEndianBytes
    }
}

/// Properties that only FeliCa Lite and Lite-S have (FeliCa Lite-S User's Manual, 7).
enum FeliCaLite {
    /// The memory configuration block, MC.
    static let memoryConfiguration = 0x88
    /// The write counter block of Lite-S, WCNT.
    static let writeCounter = 0x90
    /// The number of scratch pad blocks that can hold a message: 14 minus the attribute block.
    static let messageBlocks = 13

    /// Returns the MC that makes every scratch pad block read-only and freezes the system blocks.
    static func locked(_ configuration: [UInt8]) -> [UInt8] {
        // Bits 6 and 7 of the second byte, for REG and reserved, are kept.
        [0x00, configuration[1] & 0xC0, 0x00] + configuration[3...]
    }

    /// Returns the MC that makes the tag answer polling for system 12FC.
    static func withNDEFSystem(_ configuration: [UInt8]) -> [UInt8] {
        configuration[..<3] + [0x01] + configuration[4...]
    }
}
