// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The reader's side of a Type 1 tag: Topaz 96 and Topaz 512 (NFC Forum T1T 1.2).
///
/// ```swift
/// let tag = Type1Tag(link: link)
/// let message = try await tag.readNDEF()
/// ```
public final class Type1Tag: ForumTag {
    /// The tag's type: always Type 1.
    public var type: ForumTagType? { .type1 }

    /// The tag's answer to RID; nil until ``prepare()`` or the first procedure sends RID.
    public private(set) var target: Type1Target?

    /// The link to the tag.
    public let link: any FrameLink

    /// The seven bytes of the UID; nil until the memory is read.
    public var uid: [UInt8]? { memory[byte: 6] == nil ? nil : (0..<7).compactMap { memory[byte: $0] } }

    private(set) var memory = TagMemory(unitSize: 1, limit: Type1Tag.maximumSize)
    private var layout: TLVLayout?
    private var lost: TagError?

    /// The maximum number of times that a command is sent. All commands of this tag type may be repeated.
    static let attempts = 3
    /// How long the tag may take to answer.
    static let answerTimeout = Airtime.milliseconds(2)
    /// How long the tag may take to write: 7 ms to erase and write (Topaz data sheet), plus a tolerance.
    private static let writeTimeout = Airtime.milliseconds(10)
    /// The largest memory that a capability container can describe.
    private static let maximumSize = 2048
    /// The number of bytes that RALL returns.
    private static let staticSize = 120
    private static let blockSize = 8
    private static let blocksPerSegment = 16
    /// From this number of unread blocks in a segment, one RSEG is faster than a READ8 for each block.
    private static let blocksWorthSegment = 6
    /// The addresses of LOCK-0 and LOCK-1: bit n locks block n.
    private static let staticLocks = 112..<114

    /// Creates a tag over an NFC-A link. Pass its answer to RID, if already known.
    public init(target: Type1Target? = nil, link: any FrameLink) {
        self.link = link
        if let target { identified(target) }
    }

    /// Sends RID, unless it was already sent.
    public func prepare() async throws(TagError) {
        if let lost { throw lost }
        guard target == nil else { return }
        do throws(TagError) {
            identified(try await Type1Target.identify(link: link))
        } catch {
            throw error.remembered(in: &lost)
        }
    }

    private func identified(_ target: Type1Target) {
        self.target = target
        let size = target.isStatic ? 1 : Self.blockSize
        memory = TagMemory(unitSize: size, limit: Self.maximumSize / size)
    }

    /// Clears the lost state. A Type 1 tag has no other state to reset.
    public func wasActivated() { lost = nil }

    public func forgetMemory() {
        memory = TagMemory(unitSize: memory.unitSize, limit: memory.limit)
        layout = nil
    }

    /// Returns whether the tag still answers RID; false when it left or another tag replaced it.
    public func isPresent() async -> Bool {
        guard lost == nil, let present = try? await Type1Target.identify(link: link) else { return false }
        return target == nil || present == target
    }

    // MARK: NDEF

    /// Runs the NDEF detection procedure: RALL, then the reads that the TLVs require (NFC Forum T1T 1.2, 6.3).
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: try container().isWritable)
    }

    /// Reads the NDEF message (NFC Forum T1T 1.2, 6.4). Bytes already read are not fetched again.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let addresses = try await locate().messageAddresses
        // Blocks with only reserved bytes are skipped.
        for run in RangeSet(addresses.map { $0..<$0 + 1 }).ranges { try await fetch(run) }
        return addresses.map { memory[byte: $0] ?? 0 }
    }

    /// Writes an NDEF message (NFC Forum T1T 1.2, 6.5). Each write's answer is compared with the written bytes.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(isForWriting: true)
        guard try container().isWritable else { throw Self.forbiddenByContainer }
        try layout.checkCapacity(for: message)
        let size = memory.unitSize
        let plan = TLVWritePlan(message, layout: layout, unitSize: size)
        // The container of a static tag may claim more memory than its commands can address.
        guard !isStatic || plan.units.allSatisfy({ $0 * size < Self.staticSize }) else { throw Self.beyondMemory }
        for unit in plan.unitsToPreserve { try await fetch(unit * size..<(unit + 1) * size) }
        guard !plan.units.contains(where: { isLocked(block: $0 * size / Self.blockSize) }) else {
            throw TagError(.readOnly, "A block of the data area is locked (NFC Forum T1T 1.2, 4.3).")
        }
        for step in plan.steps(memory) { try await write(step.bytes, to: step.unit) }
        self.layout = layout.holding(message)
    }

    /// Makes the tag permanently read-only. Sets the container's write access, the static lock bits, and the lock bits
    /// that a lock control TLV describes (NFC Forum T1T 1.2, 6.6).
    public func lock() async throws(TagError) {
        let layout = try await locate()
        let locks = try await openLocks(layout)
        let access = Type1CapabilityContainer.address + 3
        if try container().isWritable {
            try await set([(memory[byte: access] ?? 0) | 0x0F], at: access, isErasing: true)
        }
        for range in locks {
            try await set([UInt8](repeating: 0xFF, count: range.count), at: range.lowerBound, isErasing: false)
        }
        self.layout = layout
    }

    public func checkLocking() async throws(TagError) {
        // Forgets the memory, so that later procedures send the same commands as without this check.
        defer { forgetMemory() }
        _ = try await openLocks(locate(isForWriting: true))
    }

    package func lock(blocks: ClosedRange<Int>, performs: Bool) async throws(TagError) -> [Int] {
        _ = try await locate()
        try checkBehindContainer(blocks, endingIn: Type1CapabilityContainer.address / Self.blockSize)
        guard blocks.upperBound <= 12 else {
            throw TagError(.unsupported, "Only blocks up to 12 can be locked one by one (NFC Forum T1T 1.2, 4.3).")
        }
        try await fetch(Self.staticLocks)
        let open = blocks.filter { !isLocked(block: $0) }
        guard performs, !open.isEmpty else { return open }
        let bits = open.reduce(0) { $0 | 1 << $1 }
        try await set([UInt8(bits & 0xFF), UInt8(bits >> 8)], at: Self.staticLocks.lowerBound, isErasing: false)
        return open
    }

    /// The lock bytes to set: all, or those that an earlier ``lock()`` left because it lost the tag.
    private func openLocks(_ layout: TLVLayout) async throws(TagError) -> [Range<Int>] {
        var locks = [Self.staticLocks] + layout.controls.filter(\.isLock).map(\.range)
        locks.removeAll { $0.upperBound > Self.maximumSize }
        guard try !container().isWritable else { return locks }
        for range in locks { try await fetch(range) }
        locks.removeAll { $0.allSatisfy { memory[byte: $0] == 0xFF } }
        if locks.isEmpty { throw .alreadyReadOnly }
        return locks
    }

    /// Formats a Topaz 96 or 512 as an empty NDEF tag.
    ///
    /// - Throws: ``TagError`` with `unsupported` for other products, `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        try await prepare()
        let content: [UInt8]
        switch (target?.headerROM0, target?.headerROM1) {
        case (0x11, _): content = [0xE1, 0x10, 0x0E, 0x00, 0x03, 0x00, 0xFE, 0x00]
        case (0x12, 0x4C):
            content = [
                0xE1, 0x10, 0x3F, 0x00, 0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03, 0x03, 0x00,
            ]
        default: throw TagError(.unsupported, "Only Topaz 96 and Topaz 512 can be formatted.")
        }
        try await fetch(0..<Self.staticSize)
        if let present = try? container(), !present.isWritable { throw Self.forbiddenByContainer }
        // Writes from the end, so that the magic number E1 is written last.
        let size = memory.unitSize
        for start in stride(from: 0, to: content.count, by: size).reversed() {
            let unit = (Type1CapabilityContainer.address + start) / size
            try await write(Array(content[start..<start + size]), to: unit)
        }
    }

    private func locate(isForWriting: Bool = false) async throws(TagError) -> TLVLayout {
        if let lost { throw lost }
        if let layout { return layout }
        try await prepare()
        guard target?.hasNDEF == true else {
            throw TagError(
                .noCapabilityContainer,
                "HR0 is not 1x, so the tag does not support NDEF (NFC Forum T1T 1.2, 5.3)."
            )
        }
        try await fetch(0..<Self.staticSize)
        let container = try container()
        guard container.isReadable else {
            throw TagError(.readProtected, "The capability container does not grant reading (NFC Forum T1T 1.2, 6.1).")
        }
        var walk = TLVWalk(
            area: container.area,
            reserved: [Type1CapabilityContainer.reserved],
            hasControls: !isStatic,
            specification: "NFC Forum T1T 1.2, 2.4",
            isForWriting: isForWriting
        )
        while true {
            switch try walk.advance(in: memory) {
            case .found(let found):
                if !found.isBroken { layout = found }
                return found
            case .read(let address): try await fetch(address..<address + 1)
            }
        }
    }

    private func container() throws(TagError) -> Type1CapabilityContainer {
        let start = Type1CapabilityContainer.address
        return try Type1CapabilityContainer((start..<start + 4).compactMap { memory[byte: $0] })
    }

    func isLocked(block: Int) -> Bool {
        guard block < 16, let byte = memory[byte: Self.staticLocks.lowerBound + block / 8] else { return false }
        return byte >> (block % 8) & 1 != 0
    }

    static let forbiddenByContainer = TagError(
        .readOnly,
        "The capability container does not grant writing (NFC Forum T1T 1.2, 6.1)."
    )
    private static let beyondMemory = TagError(
        .lengthOverrun,
        "The data area exceeds the memory (NFC Forum T1T 1.2, 4.2)."
    )

    // MARK: Memory

    private var isStatic: Bool { target?.isStatic ?? true }

    /// Reads the first `count` bytes, such as 120 or 512; nil when the tag has fewer.
    package func readBytes(_ count: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            try await fetch(0..<count)
        } catch {
            guard error.code == .lengthOverrun else { throw error }
            return nil
        }
        let bytes = (0..<count).compactMap { memory[byte: $0] }
        return bytes.count == count ? bytes : nil
    }

    /// Reads the uncached blocks of a byte range: RALL, RSEG and READ8 (NFC Forum T1T 1.2, 5.4, 5.8 and 5.9).
    ///
    /// - Throws: ``TagError`` with `lengthOverrun` for bytes beyond the memory of a tag with only static memory.
    func fetch(_ addresses: Range<Int>) async throws(TagError) {
        try await prepare()
        let size = Self.blockSize
        let blocks = addresses.lowerBound / size..<(addresses.upperBound + size - 1) / size
        func unknown() -> [Int] {
            blocks.filter { block in (block * size..<(block + 1) * size).contains { memory[byte: $0] == nil } }
        }
        var wanted = unknown()
        if !wanted.isEmpty, isStatic || memory[byte: 0] == nil {
            let answer = try await exchange([0x00, 0x00, 0x00], answerLength: Self.staticSize + 2)
            guard answer[0] == target?.headerROM0, Array(answer[2..<6]) == target?.uid else {
                throw TagError(.badAnswer, "RALL returns a different header or UID than RID (NFC Forum T1T 1.2, 5.4).")
            }
            memory.store(answer[2...], at: 0)
            wanted = unknown()
        }
        guard wanted.isEmpty || !isStatic, addresses.upperBound <= Self.maximumSize else { throw Self.beyondMemory }
        while let first = wanted.first {
            let segment = first / Self.blocksPerSegment
            let inSegment = wanted.prefix { $0 / Self.blocksPerSegment == segment }
            if inSegment.count >= Self.blocksWorthSegment, segment < 16 {
                try await read(0x10, "RSEG", UInt8(segment << 4), unit: segment * Self.blocksPerSegment, count: 128)
            } else {
                for block in inSegment { try await read(0x02, "READ8", UInt8(block), unit: block, count: size) }
            }
            wanted.removeFirst(inSegment.count)
        }
    }

    private func read(
        _ command: UInt8,
        _ name: String,
        _ address: UInt8,
        unit: Int,
        count: Int
    ) async throws(TagError) {
        let answer = try await exchange(
            [command, address] + [UInt8](repeating: 0, count: Self.blockSize),
            answerLength: 1 + count
        )
        guard answer[0] == address else {
            throw TagError(.badAnswer, "The answer to \(name) is for another address (NFC Forum T1T 1.2, 5).")
        }
        memory.store(answer[1...], at: unit)
    }

    /// Writes bytes at any address, unit by unit.
    private func set(_ bytes: [UInt8], at address: Int, isErasing: Bool) async throws(TagError) {
        let size = memory.unitSize
        for unit in address / size..<(address + bytes.count + size - 1) / size {
            var content = [UInt8](repeating: 0, count: size)
            if isErasing {
                try await fetch(unit * size..<(unit + 1) * size)
                content = memory[unit: unit] ?? content
            }
            for index in 0..<size where bytes.indices.contains(unit * size + index - address) {
                content[index] = bytes[unit * size + index - address]
            }
            try await write(content, to: unit, isErasing: isErasing)
        }
    }

    /// Writes a unit: a byte with WRITE-E, or a block with WRITE-E8 (NFC Forum T1T 1.2, 5.6 and 5.10). Compares the
    /// tag's answer, the new content, with the written bytes. Without `isErasing`, the write can only set bits.
    func write(_ bytes: [UInt8], to unit: Int, isErasing: Bool = true) async throws(TagError) {
        memory.forget(unit)
        layout = nil
        let command: UInt8 = isStatic ? (isErasing ? 0x53 : 0x1A) : (isErasing ? 0x54 : 0x1B)
        let answer: [UInt8]
        do throws(TagError) {
            answer = try await exchange(
                [command, UInt8(unit)] + bytes,
                answerLength: 1 + bytes.count,
                timeout: Self.writeTimeout
            )
        } catch {
            throw error.ofWrite
        }
        guard answer[0] == UInt8(unit) else {
            throw TagError(.updateFailed, "The answer to a write is for another address (NFC Forum T1T 1.2, 5).")
        }
        memory.store(answer[1...], at: unit)
        guard zip(answer[1...], bytes).allSatisfy({ isErasing ? $0 == $1 : $0 & $1 == $1 }) else {
            throw TagError(
                .updateFailed,
                "The tag does not contain the data written to \(isStatic ? "byte" : "block") \(unit): it is locked (NFC Forum T1T 1.2, 5)."
            )
        }
    }

    // MARK: Exchanges

    /// Sends a command followed by the UID, and repeats it a few times until the tag answers.
    private func exchange(
        _ bytes: [UInt8],
        answerLength: Int,
        timeout: Airtime = Type1Tag.answerTimeout
    ) async throws(TagError) -> [UInt8] {
        try await prepare()
        let request = Frame(bytes + (target?.uid ?? []), checksum: .crcB)
        do throws(LinkError) {
            let answer = try await link.transceive(request, timeout: timeout, attempts: Self.attempts)
            guard answer.bytes.count == answerLength, answer.validBitsInLastByte == 8 else {
                throw LinkError(
                    .protocolViolation,
                    "An answer has \(answer.bytes.count) bytes instead of \(answerLength) (NFC Forum T1T 1.2, 5)."
                )
            }
            return answer.bytes
        } catch {
            throw TagError(link: error, over: .nfcA).remembered(in: &lost)
        }
    }
}

/// A Type 1 tag's answer to RID (NFC Forum T1T 1.2, 5.3).
public struct Type1Target: Sendable, Hashable {
    /// HR0: 1x for NDEF. 11 means 96 bytes of static memory; 12 and others mean dynamic memory.
    public var headerROM0: UInt8
    /// HR1: 48 on Topaz 96, 4C on Topaz 512.
    public var headerROM1: UInt8
    /// The first four bytes of the UID. Every command contains them.
    public var uid: [UInt8]

    /// Creates a target; the UID must have four bytes.
    public init(headerROM0: UInt8, headerROM1: UInt8, uid: [UInt8]) {
        precondition(uid.count == 4, "RID returns four bytes of the UID")
        self.headerROM0 = headerROM0
        self.headerROM1 = headerROM1
        self.uid = uid
    }

    /// Whether the tag is designed for NDEF.
    public var hasNDEF: Bool { headerROM0 >> 4 == 1 }
    /// Whether the tag has 120 bytes, written one at a time. Other tags have more, written in blocks of eight.
    public var isStatic: Bool { headerROM0 & 0x0F == 1 }

    /// Identifies the Type 1 tag in the field with RID. Call it after REQA or WUPA.
    ///
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `readerUnavailable`, `unsupported`, `cancelled`.
    public static func identify(link: any FrameLink) async throws(TagError) -> Type1Target {
        let request = Frame([0x78, 0, 0, 0, 0, 0, 0], checksum: .crcB)
        let bytes: [UInt8]
        do throws(LinkError) {
            let (timeout, attempts) = (Type1Tag.answerTimeout, Type1Tag.attempts)
            bytes = try await link.transceive(request, timeout: timeout, attempts: attempts).bytes
        } catch {
            throw TagError(link: error, over: .nfcA)
        }
        guard bytes.count == 6 else {
            throw TagError(.badAnswer, "RID returned \(bytes.count) bytes, not 6 (NFC Forum T1T 1.2, 5.3).")
        }
        return Type1Target(headerROM0: bytes[0], headerROM1: bytes[1], uid: Array(bytes[2...]))
    }
}

/// The capability container of a Type 1 tag, bytes 8 to 11 (NFC Forum T1T 1.2, 6.1).
struct Type1CapabilityContainer {
    /// The address of the container.
    static let address = 8
    /// Blocks D to F, reserved for lock and one-time bits, up to the end of the static memory or of segment 0.
    static let reserved = 104..<128

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == 4, bytes[0] == 0xE1 else {
            throw TagError(.noCapabilityContainer, "Byte 8 is not E1 (NFC Forum T1T 1.2, 6.1).")
        }
        guard bytes[1] >> 4 == 1 else { throw .badVersion(bytes[1] >> 4, bytes[1] & 0x0F, "T1T 1.2, 6.1") }
        self.bytes = bytes
    }

    /// The addresses of the data area, including its reserved bytes.
    var area: Range<Int> { 12..<max(12, (Int(bytes[2]) + 1) * 8) }
    var isReadable: Bool { bytes[3] >> 4 == 0 }
    var isWritable: Bool { bytes[3] & 0x0F == 0 }
}
