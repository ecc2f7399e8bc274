// SPDX-License-Identifier: Apache-2.0
import CardCryptography
public import TagLink
import TagProducts

/// The reader's side of a Type 5 tag: ICODE SLIX, ST25TV, ST25DV and similar (NFC Forum T5T 1.0).
///
/// A tag that is alone in the field is addressed without its UID, which saves eight bytes, 2.4 ms, in every command. A
/// repeated exchange and the first write of a message include the UID. So a different tag is never written by mistake.
///
/// ```swift
/// let targets = try await NFCVInventory(link: link).findAll()
/// if let target = targets.first {
///     let tag = Type5Tag(target: target, link: link, isAlone: targets.count == 1)
///     let message = try await tag.readNDEF()
/// }
/// ```
public final class Type5Tag: ForumTag {
    /// The tag's type: always Type 5.
    public var type: ForumTagType? { .type5 }

    /// The tag's data from the inventory.
    public let target: NFCVTarget

    /// The link to the tag.
    public let link: any FrameLink

    /// Whether no other tag is in the field.
    public let isAlone: Bool

    /// The number of bytes in a block; 0 until the first answer.
    public internal(set) var blockSize = 0

    var memory = TagMemory(unitSize: 4, limit: 0)
    private var capabilityContainer: Type5CapabilityContainer?
    /// The end of the data area. It differs from the container's value if that is wrong.
    private var areaEnd = 0
    private var layout: TLVLayout?
    /// Whether READ MULTIPLE BLOCKS works with this tag.
    private var readsMultiple = true
    /// Whether writes need the option flag. Then the tag answers them after an EOF.
    private(set) var writesWithOption: Bool
    /// Whether ``lock()`` started and has not finished. The next call then continues, even if the container already
    /// says read-only.
    private var isLocking = false
    /// The passwords that an ICODE has accepted since it was powered, by their numbers.
    @Hidden var presented: [UInt8: [UInt8]] = [:]
    /// Whether a password protects a part of the memory; nil until the tag refuses a command.
    var hasProtection: Bool?
    var isUnlocked = false
    /// Whether the next command must include the UID.
    var needsAddress = false
    private var lost: TagError?

    /// Creates a tag that an inventory found over an NFC-V link, alone or among others.
    public init(target: NFCVTarget, link: any FrameLink, isAlone: Bool) {
        self.target = target
        self.link = link
        self.isAlone = isAlone
        // Texas Instruments' tags only accept writes with the option flag.
        self.writesWithOption = target.manufacturer == 0x07
    }

    /// Clears the lost state. The cached memory stays valid.
    public func wasActivated() {
        lost = nil
        presented = [:]
        isUnlocked = false
    }

    public func forgetMemory() {
        blockSize = 0
        memory = TagMemory(unitSize: 4, limit: 0)
        capabilityContainer = nil
        hasProtection = nil
        isLocking = false
        areaEnd = 0
        layout = nil
    }

    /// Returns whether the tag still answers READ SINGLE BLOCK with its UID; false if it left or was replaced.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        needsAddress = true
        do throws(TagError) {
            if case .silent = try await exchange(.readSingleBlock, [0]) { return false }
            return true
        } catch {
            return error.code == .badAnswer
        }
    }

    // MARK: NDEF

    /// Runs the NDEF detection procedure (NFC Forum T5T 1.0, 6.2).
    ///
    /// The first read returns the capability container and the start of the data area. Some tools write the size of the
    /// whole memory into the container. If the container's size looks like that, the tag is asked for its memory size,
    /// and the area is limited to the memory.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: capabilityContainer?.isWritable == true)
    }

    /// Reads the NDEF message (NFC Forum T5T 1.0, 6.3). Blocks already read are not read again.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let addresses = try await locate().messageAddresses
        guard let first = addresses.first, let last = addresses.last else { return [] }
        try await fetch(first..<last + 1)
        return addresses.map { memory[byte: $0] ?? 0 }
    }

    /// Writes an NDEF message (NFC Forum T5T 1.0, 6.4). Before a message that takes several writes, the tag is asked
    /// which blocks are locked, if it reports them.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(isForWriting: true)
        guard let container = capabilityContainer, container.isWritable else { throw Self.forbiddenByContainer }
        try layout.checkCapacity(for: message)
        let plan = TLVWritePlan(message, layout: layout, unitSize: blockSize)
        for unit in plan.unitsToPreserve { try await fetch(unit * blockSize..<(unit + 1) * blockSize) }
        let steps = plan.steps(memory)
        try await checkLocks(steps.map(\.unit))
        needsAddress = true
        for step in steps { try await write(step.bytes, to: step.unit) }
        self.layout = layout.holding(message)
    }

    /// Makes the tag permanently read-only: write access 11 in the capability container, then LOCK BLOCK on every block
    /// of the container and of the data area (NFC Forum T5T 1.0, 6.5). Some tags, such as ST25DV, can only lock their
    /// first blocks; programs that ignore the container can then still write the rest.
    public func lock() async throws(TagError) {
        let layout = try await locate()
        guard let container = capabilityContainer else { throw .alreadyReadOnly }
        if !container.isWritable, !isLocking, try await !hasUnlockedBlocks() { throw .alreadyReadOnly }
        try await fetch(0..<blockSize)
        guard var first = memory[unit: 0] else { return }
        needsAddress = true
        isLocking = true
        first[1] = container.readOnly.bytes[1]
        // The first block of a tag that an earlier call has lost may be locked already.
        if container.isWritable { try await write(first, to: 0) }
        capabilityContainer = container.readOnly
        // The container is locked first, so that its write access stays off. ST25DV can only lock blocks 0 and 1.
        let containerBlocks = (container.bytes.count + blockSize - 1) / blockSize
        for block in 0..<containerBlocks { try await lock(block: block) }
        for block in containerBlocks..<max(containerBlocks, (areaEnd + blockSize - 1) / blockSize) {
            do throws(TagError) {
                try await lock(block: block)
            } catch {
                guard error.code == .updateFailed, block <= max(2, containerBlocks) else { throw error }
                break
            }
        }
        self.layout = layout
        isLocking = false
    }

    /// Checks that the capability container is not locked while it grants writing, as far as the tag reports it.
    public func checkLocking() async throws(TagError) {
        // Forgets the memory, so that later procedures send the same commands as without this check.
        defer { forgetMemory() }
        _ = try await locate(isForWriting: true)
        let isWritable = capabilityContainer?.isWritable == true
        if !isWritable, try await !hasUnlockedBlocks() { throw .alreadyReadOnly }
        if !isUnlocked, await isProtected(0x12) { throw Self.protected }
        guard isWritable else { return }
        needsAddress = true
        guard let locked = try await readPermanentlyLockedBlocks(in: 0..<1), !locked.isEmpty else { return }
        throw TagError(
            .unsupported,
            "The locked capability container grants writing permanently (NFC Forum T5T 1.0, 5.7)."
        )
    }

    package func lock(blocks: ClosedRange<Int>, performs: Bool) async throws(TagError) -> [Int] {
        _ = try await locate()
        let container = capabilityContainer?.bytes.count ?? 0
        try checkBehindContainer(blocks, endingIn: (container + blockSize - 1) / blockSize - 1)
        if let size = try await readMemorySize(), blocks.upperBound >= size / blockSize {
            throw TagError(.unsupported, "The tag has blocks 0 to \(size / blockSize - 1).")
        }
        if blocks.upperBound > 1, locksFirstBlocksOnly {
            throw TagError(
                .unsupported,
                "This tag can lock only blocks 0 and 1; passwords protect its areas (ST25DV, 5.6)."
            )
        }
        if !isUnlocked, await isProtected(0x12) { throw Self.protected }
        needsAddress = true
        let locked = try await readPermanentlyLockedBlocks(in: Range(blocks)) ?? []
        let open = blocks.filter { !locked.contains($0) }
        if performs { for block in open { try await lock(block: block) } }
        return open
    }

    /// Returns whether an earlier ``lock()`` lost the tag before all blocks were locked, as far as the tag reports it.
    private func hasUnlockedBlocks() async throws(TagError) -> Bool {
        needsAddress = true
        let blocks = 0..<(locksFirstBlocksOnly ? 2 : (areaEnd + blockSize - 1) / blockSize)
        if let locked = try await readPermanentlyLockedBlocks(in: blocks) { return locked.count < blocks.count }
        guard await isPresent() else { throw loss(LinkError(.timeout, "The tag does not answer.")) }
        return false
    }

    private var locksFirstBlocksOnly: Bool {
        target.family?.products.contains { $0.features.contains(.locksFirstBlocksOnly) } == true
    }

    /// Formats a blank tag as an empty NDEF tag: writes a capability container for its memory, and an empty message.
    ///
    /// - Throws: ``TagError`` with `readOnly` when a container forbids writing, `unsupported` when the tag does not
    ///   report its memory size, `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        try await fetch(0..<1)
        if let present = try? readContainerFromMemory(), !present.isWritable { throw Self.forbiddenByContainer }
        guard let size = try await readMemorySize(),
            let container = Type5CapabilityContainer(forMemoryOf: size, hasLongAddresses: size / blockSize > 256)
        else {
            throw TagError(.unsupported, "The tag does not report the size of its memory (ISO/IEC 15693-3, 10.4.12).")
        }
        needsAddress = true
        var bytes = container.bytes + [0x03, 0x00, 0xFE]
        while bytes.count % blockSize != 0 { bytes.append(0) }
        capabilityContainer = nil
        // The first block is written last. Until then the tag is not an NDEF tag, so nothing can be misread.
        for block in (0..<bytes.count / blockSize).reversed() {
            try await write(Array(bytes[block * blockSize..<(block + 1) * blockSize]), to: block)
        }
        layout = nil
    }

    /// Finds the NDEF message TLV; for writing, even one with an invalid length.
    private func locate(isForWriting: Bool = false) async throws(TagError) -> TLVLayout {
        if let lost { throw lost }
        if let layout { return layout }
        let container = try await readCapabilityContainer()
        var walk = TLVWalk(
            area: container.bytes.count..<areaEnd,
            hasControls: false,
            specification: "NFC Forum T5T 1.0, 4.4",
            isForWriting: isForWriting
        )
        // Usually only a few bytes precede a message. If there are many, larger reads take less time. The first read
        // covers the container, a TLV and the start of a short message.
        var piece = 16
        while true {
            switch try walk.advance(in: memory) {
            case .found(let found):
                if !found.isBroken { layout = found }
                return found
            case .read(let address):
                try await fetch(address..<min(areaEnd, address + piece))
                piece = min(2 * piece, Self.maximumBlocksPerRead * blockSize)
            }
        }
    }

    private func readCapabilityContainer() async throws(TagError) -> Type5CapabilityContainer {
        if let capabilityContainer { return capabilityContainer }
        try await fetch(0..<1)
        if memory[unit: 0].map(Type5CapabilityContainer.isLong) == true { try await fetch(0..<8) }
        let container = try readContainerFromMemory()
        guard container.isReadable else {
            let reason = "The capability container does not grant reading (NFC Forum T5T 1.0, 4.3.2)."
            throw TagError(.readProtected, reason)
        }
        // Block addresses have at most two bytes.
        areaEnd = min(container.area.upperBound, Self.maximumBlockCount * blockSize)
        // A correct size excludes the container itself. A power of two suggests the size of the whole memory.
        if let knownSize = target.family?.memorySize {
            areaEnd = min(areaEnd, knownSize)
        } else if container.areaLength.nonzeroBitCount == 1, let size = try await readMemorySize() {
            areaEnd = max(container.bytes.count, min(areaEnd, size))
        }
        writesWithOption = writesWithOption || container.usesSpecialFrame
        capabilityContainer = container
        return container
    }

    private func readContainerFromMemory() throws(TagError) -> Type5CapabilityContainer {
        try Type5CapabilityContainer((0..<8).prefix { memory[byte: $0] != nil }.map { memory[byte: $0] ?? 0 })
    }

    /// Checks that no block to write is locked, as far as the tag reports it. A single write is not checked: if the tag
    /// refuses it, nothing has changed.
    func checkLocks(_ blocks: [Int]) async throws(TagError) {
        guard let first = blocks.min(), let last = blocks.max(), first < last else { return }
        // When addressed with its UID, a tag that does not know the command reports an error at once.
        needsAddress = true
        guard let locked = try await readPermanentlyLockedBlocks(in: first..<last + 1),
            let block = locked.first(where: { blocks.contains($0) })
        else { return }
        if await isProtected(0x12) { throw Self.needsPassword(.keyNeeded, block: block) }
        throw TagError(.readOnly, "Block \(block) of the tag is locked (NFC Forum T5T 1.0, 5.7).")
    }

    static let forbiddenByContainer = TagError(
        .readOnly,
        "The capability container does not grant writing (NFC Forum T5T 1.0, 4.3.2)."
    )

    // MARK: Reading blocks

    /// The maximum number of blocks in one READ MULTIPLE BLOCKS. Tags that have a limit use this one.
    private static let maximumBlocksPerRead = 32
    /// The number of blocks that can be addressed.
    private static let maximumBlockCount = 65536

    func fetch(_ addresses: Range<Int>) async throws(TagError) {
        if blockSize == 0 { try await readFirstBlocks() }
        var units = addresses.lowerBound / blockSize..<(addresses.upperBound + blockSize - 1) / blockSize
        while let run = memory.firstUnknownRun(in: units) {
            try await readBlocks(run.lowerBound, min(run.count, blocksPerRead(from: run.lowerBound)))
            // All blocks before this run are read.
            units = run.lowerBound..<units.upperBound
        }
    }

    /// Reads the first blocks, which also determines the block size.
    ///
    /// It reads four blocks if the expected block size is four bytes, as on almost all tags. This covers a whole
    /// message of up to 10 bytes, and never needs more exchanges than a shorter first read.
    func readFirstBlocks() async throws(TagError) {
        let count = target.family?.blockSize ?? 4 == 4 ? 4 : 2
        if case .bytes(let bytes) = try await exchange(.readMultipleBlocks, [0, UInt8(count - 1)]) {
            return try begin(bytes, count)
        }
        readsMultiple = false
        switch try await exchange(.readSingleBlock, [0]) {
        case .bytes(let bytes): return try begin(bytes, 1)
        case .refused(let code):
            if await isProtected(code.rawValue) { throw Self.needsPassword(.readProtected, block: 0) }
            throw TagError(.noCapabilityContainer, "Block 0 can't be read: \(code) (NFC Forum T5T 1.0, 6.2).")
        case .silent(let error): throw loss(error)
        }
    }

    private func begin(_ bytes: [UInt8], _ count: Int) throws(TagError) {
        guard bytes.count % count == 0, [4, 8, 16, 32].contains(bytes.count / count) else {
            throw TagError(
                .badAnswer,
                "\(count) blocks have \(bytes.count) bytes; a block has 4, 8, 16 or 32 (NFC Forum T5T 1.0, 4.1)."
            )
        }
        blockSize = bytes.count / count
        memory = TagMemory(unitSize: blockSize, limit: Self.maximumBlockCount)
        memory.store(bytes, at: 0)
    }

    /// Returns how many blocks to read from `block` on. The command, the reader's frame, and the sector for products
    /// with sectors limit this.
    private func blocksPerRead(from block: Int) -> Int {
        guard readsMultiple else { return 1 }
        var count = max(1, min(Self.maximumBlocksPerRead, (link.maximumFrameLength - 3) / blockSize))
        if target.family?.readsWithinSectors == true { count = min(count, 32 - block % 32) }
        // A read must not cross block 256, where the extended commands start.
        if block < 256 { count = min(count, 256 - block) }
        return count
    }

    private func readBlocks(_ first: Int, _ count: Int) async throws(TagError) {
        if count > 1, case .bytes(let bytes) = try await exchange(.readMultipleBlocks, on: first, count: count) {
            return try store(bytes, first, count)
        }
        // The tag may support READ MULTIPLE BLOCKS but refuse this range, for example if it exceeds the memory.
        switch try await exchange(.readSingleBlock, on: first) {
        case .bytes(let bytes):
            if count > 1 { readsMultiple = false }
            try store(bytes, first, 1)
        case .refused(let code):
            if await isProtected(code.rawValue) { throw Self.needsPassword(.readProtected, block: first) }
            let reason = "Block \(first) of the data area can't be read: \(code) (NFC Forum T5T 1.0, 4.3.3)."
            throw TagError(.lengthOverrun, reason)
        case .silent(let error): throw loss(error)
        }
    }

    private func store(_ bytes: [UInt8], _ first: Int, _ count: Int) throws(TagError) {
        guard bytes.count == count * blockSize else {
            let reason = "A read of \(count) blocks returned \(bytes.count) bytes (NFC Forum T5T 1.0, 5.2)."
            throw TagError(.badAnswer, reason)
        }
        memory.store(bytes, at: first)
    }

    /// Reads the whole memory.
    ///
    /// - Returns: the bytes, with zeros in blocks that the tag refuses to read, and the numbers of these blocks; nil
    ///   when the tag does not report the size of its memory.
    package func readMemory() async throws(TagError) -> (bytes: [UInt8], unread: [Int])? {
        do throws(TagError) {
            try await fetch(0..<1)
        } catch {
            // A protected first block does not show the size of the others.
            guard error.code == .readProtected, let size = try await readSystemInfo()?.blockSize else { throw error }
            blockSize = size
            memory = TagMemory(unitSize: size, limit: Self.maximumBlockCount)
        }
        guard let size = try await readMemorySize() else { return nil }
        var unread: [Int] = []
        var block = 0
        while block < size / blockSize {
            do throws(TagError) {
                try await fetch(block * blockSize..<size)
                break
            } catch {
                guard error.isRefusedRead, let run = memory.firstUnknownRun(in: block..<size / blockSize)
                else { throw error }
                unread.append(run.lowerBound)
                block = run.lowerBound + 1
            }
        }
        return ((0..<size).map { memory[byte: $0] ?? 0 }, unread)
    }

    // MARK: Writing blocks

    /// Writes a block. If the tag refuses, the block's content is uncertain.
    func write(_ bytes: [UInt8], to block: Int) async throws(TagError) {
        // Until the tag confirms, the content of this block and of the message is uncertain.
        memory.forget(block)
        layout = nil
        let container = capabilityContainer
        if let container, block * blockSize < container.bytes.count { capabilityContainer = nil }
        switch try await program(.writeSingleBlock, block, bytes) {
        case .bytes:
            memory.store(bytes, at: block)
            capabilityContainer = container
        case .refused(let code):
            if await isProtected(code.rawValue) { throw Self.needsPassword(.keyNeeded, block: block) }
            throw TagError(.updateFailed, "The tag refused to write block \(block): \(code) (NFC Forum T5T 1.0, 5.3).")
        case .silent(let error): throw loss(error)
        }
    }

    private static let protected = TagError(.keyNeeded, "The tag is protected by a password, so it can't be locked.")

    /// Locks a block permanently. A block that is already locked is not an error.
    func lock(block: Int) async throws(TagError) {
        switch try await program(.lockBlock, block, []) {
        case .bytes: break
        case .refused(let code):
            guard code.rawValue != 0x11 else { break }
            throw TagError(.updateFailed, "The tag refused to lock block \(block): \(code) (NFC Forum T5T 1.0, 5.7).")
        case .silent(let error): throw loss(error)
        }
    }

    /// Sends a command that programs a block, with the option flag if the tag requires it.
    private func program(_ command: ISO15693Command, _ block: Int, _ data: [UInt8]) async throws(TagError) -> Answer {
        do throws(TagError) {
            let answer = try await exchange(command, on: block, data, isWrite: true)
            guard case .refused(let code) = answer, code.rawValue == 0x03 else { return answer }
            // The refusal means that the tag does not support the option flag, or requires it.
            writesWithOption.toggle()
            return try await exchange(command, on: block, data, isWrite: true)
        } catch {
            throw error.ofWrite
        }
    }

    // MARK: Data besides the message

    /// The bytes of the capability container; nil before it is read, and if it is invalid.
    package var capabilityContainerBytes: [UInt8]? { capabilityContainer?.bytes }

    /// Sends GET SYSTEM INFORMATION, and the extended command to a tag that only reports its size there. Nil when the
    /// tag does not answer, or its reader can't send these commands.
    package func readSystemInfo() async throws(TagError) -> ISO15693SystemInfo? {
        // Requests DSFID, AFI, memory and IC reference.
        try await readSystemInfo(extended: 0x0F)
    }

    /// Returns the memory size from GET SYSTEM INFORMATION or the extended command, without the block of a known product's
    /// counter; nil if the tag does not report it.
    func readMemorySize() async throws(TagError) -> Int? {
        if let knownSize = target.family?.memorySize { return knownSize }
        // Bit 2 requests the memory size.
        guard let info = try await readSystemInfo(extended: 0x04), let count = info.blockCount,
            let size = info.blockSize
        else { return nil }
        let product = target.family?.products.first { $0.blockCount == count && $0.blockSize == size }
        return (product?.dataBlockCount ?? count) * size
    }

    private func readSystemInfo(extended request: UInt8) async throws(TagError) -> ISO15693SystemInfo? {
        let info = try await ask(.getSystemInformation).flatMap { try? ISO15693SystemInfo($0) }
        if info?.blockCount != nil { return info }
        let extended = try await ask(.extendedGetSystemInformation, [request])
            .flatMap { try? ISO15693SystemInfo($0, isExtended: true) }
        return extended ?? info
    }

    /// Returns which of the first `count` blocks are locked, using GET MULTIPLE BLOCK SECURITY STATUS; nil when the tag
    /// or its reader does not support the command.
    package func readLockedBlocks(of count: Int) async throws(TagError) -> [Int]? {
        try await readSecurityStatus(of: 0..<count).map { status in status.indices.filter { status[$0] & 0x01 != 0 } }
    }

    /// Returns the permanently locked blocks in a range; nil when the tag or its reader does not report them.
    ///
    /// M24LR sets further bits beside the lock bit if the block can still be written, with or without a password
    /// (M24LR64-R data sheet, sector security status). On other tags these bits are 0.
    func readPermanentlyLockedBlocks(in blocks: Range<Int>) async throws(TagError) -> [Int]? {
        try await readSecurityStatus(of: blocks).map { status in
            blocks.filter { status[$0 - blocks.lowerBound] == 0x01 }
        }
    }

    private func readSecurityStatus(of blocks: Range<Int>) async throws(TagError) -> [UInt8]? {
        var status: [UInt8] = []
        var first = blocks.lowerBound
        while first < blocks.upperBound {
            // A command must not cross block 256, where the extended commands start.
            let end = first < 256 ? min(256, blocks.upperBound) : blocks.upperBound
            let count = min(Self.maximumBlocksPerRead, end - first)
            let (command, parameters) = blockCommand(.getMultipleBlockSecurityStatus, on: first, count: count)
            guard let bytes = try await ask(command, parameters), bytes.count == count else { return nil }
            status += bytes
            first += count
        }
        return status
    }

    /// Reads the 32 bytes of NXP's READ SIGNATURE (SL2S2602 data sheet); nil when the tag has no signature, or its
    /// reader can't send the command.
    package func readSignature() async throws(TagError) -> [UInt8]? {
        guard target.family?.hasSignature == true,
            let bytes = try await ask(ISO15693Command(rawValue: 0xBD), [target.manufacturer])
        else { return nil }
        return bytes.count == 32 && bytes.contains { $0 != 0 } ? bytes : nil
    }

    /// Reads the signature of an ST25TV512C or ST25TV02KC: from block 63 on, K04S and then 64 hexadecimal digits as text.
    package func readSTSignature() async throws(TagError) -> [UInt8]? {
        guard target.uid.starts(with: [0xE0, 0x02, 0x08]) else { return nil }
        var text: [UInt8] = []
        for block: UInt8 in 63..<80 {
            guard let bytes = try await ask(.readSingleBlock, [block]), bytes.count == 4 else { return nil }
            text += bytes
            guard text.starts(with: Array("K04S".utf8)) else { return nil }
        }
        return [UInt8](hexadecimal: text[4...])
    }

    /// Reads the counter of an ICODE SLIX2; nil for other tags.
    package func readCounter() async throws(TagError) -> UInt16? {
        guard let block = target.family?.counterBlock,
            let bytes = try await ask(.readSingleBlock, [block]), bytes.count == 4
        else { return nil }
        return UInt16(high: bytes[1], low: bytes[0])
    }

    /// Sends an optional command; nil when the tag does not answer it, or its reader can't send it.
    private func ask(_ command: ISO15693Command, _ parameters: [UInt8] = []) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            if case .bytes(let bytes) = try await exchange(command, parameters) { return bytes }
        } catch {
            guard error.code == .unsupported else { throw error }
        }
        return nil
    }

    // MARK: Exchanges

    /// The number of times that a command is repeated. All commands sent here may be repeated.
    static let retries = 2
    /// How long to wait for an answer after t1.
    private static let answerTimeout = Airtime.milliseconds(1)
    /// How long a tag may take to program its memory (ISO/IEC 15693-3, 8.4.2: 20 ms).
    private static let writeTimeout = Airtime.milliseconds(21)

    enum Answer {
        case bytes([UInt8])
        case refused(ISO15693ErrorCode)
        /// No answer: the tag has left, or it ignores the commands that it does not support.
        case silent(LinkError)
    }

    /// Returns a block command and its parameters. From block 256 on, the command has its extended form.
    private func blockCommand(
        _ command: ISO15693Command,
        on block: Int,
        count: Int? = nil
    ) -> (ISO15693Command, [UInt8]) {
        let size = block < 256 ? 1 : 2
        let last = count.map { [UInt8](littleEndian: $0 - 1, count: size) } ?? []
        return (size == 1 ? command : command.extended, [UInt8](littleEndian: block, count: size) + last)
    }

    private func exchange(
        _ command: ISO15693Command,
        on block: Int,
        count: Int? = nil,
        _ data: [UInt8] = [],
        isWrite: Bool = false
    ) async throws(TagError) -> Answer {
        let (command, parameters) = blockCommand(command, on: block, count: count)
        return try await exchange(command, parameters + data, isWrite: isWrite)
    }

    /// Sends a command, and repeats it a few times until the tag answers.
    func exchange(
        _ command: ISO15693Command,
        _ parameters: [UInt8],
        isWrite: Bool = false,
        attempts: Int = 1 + retries
    ) async throws(TagError) -> Answer {
        if let lost { throw lost }
        var failure = LinkError(.timeout, "The tag does not answer.")
        var isAddressed = !isAlone || needsAddress
        for _ in 0..<attempts {
            var flags: ISO15693RequestFlags = .highDataRate
            if isWrite, writesWithOption { flags.insert(.option) }
            let request = Frame(command.request(flags: flags, uid: isAddressed ? target.uid : nil, parameters))
            // Repeats include the UID, so that only this tag answers.
            isAddressed = true
            do throws(LinkError) {
                let answer = try await send(request, isWrite: isWrite)
                needsAddress = false
                switch ISO15693Response(answer) {
                case .success(let bytes): return .bytes(bytes)
                case .failure(let code): return .refused(code)
                case nil: throw LinkError(.protocolViolation, "A response has no flags (ISO/IEC 15693-3, 7.4).")
                }
            } catch {
                if TagError(fatal: error) != nil { throw TagError(link: error, over: .nfcV).remembered(in: &lost) }
                failure = error
            }
        }
        guard failure.code == .timeout else {
            let reason = "Answers were damaged \(attempts) times (\(TagError.framingRule(.nfcV)))."
            throw TagError(.badAnswer, reason, link: failure)
        }
        return .silent(failure)
    }

    private func send(_ request: Frame, isWrite: Bool) async throws(LinkError) -> Frame {
        guard isWrite, writesWithOption else {
            return try await link.transceive(request, timeout: isWrite ? Self.writeTimeout : Self.answerTimeout)
        }
        do throws(LinkError) {
            return try await link.transceive(request, timeout: Self.writeTimeout)
        } catch {
            // The tag has programmed its memory, and answers after an EOF (ISO/IEC 15693-3, 10.4.2).
            guard error.code == .timeout else { throw error }
            let answer = try await link.transceive(Frame([], checksum: .none), timeout: Self.answerTimeout)
            // The link did not check this answer. If it still contains a checksum, that must be right.
            let (content, checksum) = (Array(answer.bytes.dropLast(2)), Array(answer.bytes.suffix(2)))
            guard answer.checksum != .none || content.isEmpty || link.technology.checksum(content) == checksum else {
                throw LinkError(.transmission, "The checksum of an answer to an EOF is wrong (ISO/IEC 15693-3, 7.2).")
            }
            return answer
        }
    }

    func loss(_ error: LinkError) -> TagError { TagError(link: error, over: .nfcV).remembered(in: &lost) }
}

/// The capability container of a Type 5 tag, 4 or 8 bytes at the start of the memory (NFC Forum T5T 1.0, 4.3).
struct Type5CapabilityContainer: Equatable {
    /// The bytes, 4 or 8.
    var bytes: [UInt8]
    /// MLEN: the size of the data area in units of 8 bytes.
    var areaLength: Int

    /// Returns whether the container has 8 bytes, judging by its first four.
    static func isLong(_ bytes: [UInt8]) -> Bool { bytes.count > 2 && bytes[2] == 0 }

    /// Reads the container from the memory's first bytes: at least four, and all eight of a long container.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count >= 4, bytes[0] == 0xE1 || bytes[0] == 0xE2 else {
            let reason = "The memory does not begin with E1 or E2 (NFC Forum T5T 1.0, 4.3.1)."
            throw TagError(.noCapabilityContainer, reason)
        }
        guard bytes[1] >> 6 == 1 else { throw .badVersion(bytes[1] >> 6, bytes[1] >> 4 & 3, "T5T 1.0, 4.3.2") }
        if Self.isLong(bytes) {
            guard bytes.count >= 8 else {
                let reason = "The memory ends within the capability container (NFC Forum T5T 1.0, 4.3.1)."
                throw TagError(.noCapabilityContainer, reason)
            }
            self.bytes = Array(bytes[..<8])
            self.areaLength = Int(high: bytes[6], low: bytes[7])
        } else {
            self.bytes = Array(bytes[..<4])
            self.areaLength = Int(bytes[2])
        }
    }

    /// Creates the container for a memory. A memory of more than 256 blocks has long addresses.
    init?(forMemoryOf size: Int, hasLongAddresses: Bool) {
        guard size >= 16 else { return nil }
        let magic: UInt8 = hasLongAddresses ? 0xE2 : 0xE1
        let short = (size - 4) / 8
        if short <= 255, !hasLongAddresses {
            bytes = [magic, 0x40, UInt8(short), 0x01]
            areaLength = short
        } else {
            let long = min(0xFFFF, (size - 8) / 8)
            bytes = [magic, 0x40, 0x00, 0x01, 0x00, 0x00, UInt8(long >> 8), UInt8(long & 0xFF)]
            areaLength = long
        }
    }

    /// The addresses of the data area, according to the container.
    var area: Range<Int> { bytes.count..<bytes.count + 8 * areaLength }
    var isReadable: Bool { bytes[1] >> 2 & 3 == 0 }
    var isWritable: Bool { bytes[1] & 3 == 0 }
    /// Whether the tag answers a write only after an EOF.
    var usesSpecialFrame: Bool { bytes[3] & 0x10 != 0 }

    /// A copy of this container with write access 11, which means no access.
    var readOnly: Type5CapabilityContainer {
        var result = self
        result.bytes[1] |= 0x03
        return result
    }
}
