// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 1 tag from the reader's side: Topaz 96 and Topaz 512 (NFC Forum T1T 1.2).
///
/// ```swift
/// let tag = Type1Tag(link: link)
/// let message = try await tag.readNDEF()
/// ```
public final class Type1Tag: ForumTag {
    /// The tag's type: always Type 1.
    public var type: ForumTagType { .type1 }

    /// The tag's answer to RID; nil before RID was sent by ``prepare()`` or the first procedure.
    public internal(set) var target: Type1Target?

    /// The link to the tag.
    public let link: any FrameLink

    /// The seven bytes of the UID; nil before the memory was read.
    public var uid: [UInt8]? {
        memory[byte: 6] == nil ? nil : (0..<7).compactMap { memory[byte: $0] }
    }

    /// The memory that was read.
    var memory: TLVMemory
    /// The position of the message, once it was found.
    var layout: TLVLayout?
    /// The error that every procedure throws once the tag is lost.
    var lost: TagError?

    /// How often a command is repeated. All commands of this type may be repeated.
    static let retries = 2
    /// How long the tag may take to answer.
    static let answerTimeout = Airtime.milliseconds(2)
    /// How long the tag may take to write: 7 ms to erase and write (Topaz data sheet), and a tolerance.
    static let writeTimeout = Airtime.milliseconds(10)
    /// The largest memory that a capability container can describe.
    static let maximumSize = 2048

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - target: the tag's answer to RID, if it was sent.
    ///   - link: the NFC-A link to the tag.
    public init(target: Type1Target? = nil, link: any FrameLink) {
        self.link = link
        self.memory = TLVMemory(unitSize: 1, limit: Self.maximumSize)
        if let target { identified(target) }
    }

    /// Sends RID, unless it was sent before.
    public func prepare() async throws(TagError) {
        if let lost { throw lost }
        guard target == nil else { return }
        do throws(TagError) {
            identified(try await Type1Target.identify(link: link))
        } catch {
            if error.code == .tagLost { lost = error }
            throw error
        }
    }

    private func identified(_ target: Type1Target) {
        self.target = target
        memory = TLVMemory(unitSize: target.isStatic ? 1 : 8, limit: Self.maximumSize)
    }

    /// Whether the tag has static memory alone.
    var isStatic: Bool { target?.isStatic ?? true }

    /// Marks the tag as answering again. A Type 1 tag has no state to reset.
    public func wasActivated() {
        lost = nil
    }

    public func forgetMemory() {
        memory = TLVMemory(unitSize: memory.unitSize, limit: Self.maximumSize)
        layout = nil
    }

    /// Returns whether the tag still answers RID.
    ///
    /// - Returns: false when the tag is gone or another one is in its place.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        do throws(TagError) {
            let present = try await Type1Target.identify(link: link)
            return target == nil || present == target
        } catch {
            return false
        }
    }

    /// Sends a command followed by the UID, and repeats it until it is answered.
    ///
    /// - Parameters:
    ///   - bytes: the command and its parameters.
    ///   - answerLength: the number of bytes in the answer.
    ///   - timeout: how long the tag may take.
    func exchange(
        _ bytes: [UInt8],
        answerLength: Int,
        timeout: Airtime = Type1Tag.answerTimeout
    ) async throws(TagError) -> [UInt8] {
        try await prepare()
        let uid = target?.uid ?? []
        var failure = LinkError(.timeout, "The tag does not answer.")
        for _ in 0...Self.retries {
            do throws(LinkError) {
                let answer = try await link.transceive(Frame(bytes + uid, checksum: .crcB), timeout: timeout)
                guard answer.bytes.count == answerLength, answer.validBitsInLastByte == 8 else {
                    throw LinkError(
                        .protocolViolation,
                        "An answer has \(answer.bytes.count) bytes and has to have \(answerLength) (NFC Forum T1T 1.2, 5)."
                    )
                }
                return answer.bytes
            } catch {
                failure = error
                if TagError(fatal: error) != nil { break }
            }
        }
        let error = TagError(link: failure, over: .nfcA)
        if error.code == .tagLost { lost = error }
        throw error
    }
}

extension Type1Tag {
    /// Reads the memory from block 0 on.
    ///
    /// - Parameter count: the number of bytes, such as 120 or 512.
    /// - Returns: nil when the tag has fewer bytes.
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
}

extension Type1Tag {
    /// Runs the NDEF detection procedure: RALL, and on larger tags the reads that the TLVs require (NFC Forum T1T 1.2,
    /// 6.3).
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`, `lengthOverrun`,
    ///   `readProtected` when reading is restricted, `tagLost`, `badAnswer`, `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: try container().isWritable)
    }

    /// Reads the NDEF message (NFC Forum T1T 1.2, 6.4).
    ///
    /// - Returns: the message's bytes; empty when the tag is empty. Bytes that were read before are not fetched again.
    /// - Throws: the errors of ``detectNDEF()``.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let addresses = try await locate().messageAddresses
        // Blocks that are only reserved are skipped.
        for run in runs(addresses) { try await fetch(run) }
        return addresses.map { memory[byte: $0] ?? 0 }
    }

    /// Writes an NDEF message. A tag that is lost between two writes holds the old message, no message, or the new one
    /// (NFC Forum T1T 1.2, 6.5). Each write's answer is compared with the written bytes.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly`, `messageTooLong` and `lengthOverrun` before anything is written,
    ///   `updateFailed` when a byte did not change, `tagLost`, and the errors of ``detectNDEF()``.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(isForWriting: true)
        guard try container().isWritable else {
            throw TagError(.readOnly, "The capability container does not grant writing (NFC Forum T1T 1.2, 6.1).")
        }
        try layout.checkCapacity(for: message)
        let size = memory.unitSize
        let plan = TLVWritePlan(message, layout: layout, unitSize: size)
        // The container of a small tag may claim more memory than its commands can address.
        guard !isStatic || plan.units.allSatisfy({ $0 * size < Self.staticSize }) else { throw Self.beyondMemory }
        for unit in plan.unitsToPreserve { try await fetch(unit * size..<(unit + 1) * size) }
        let locked = plan.units.first { isLocked(block: $0 * size / Self.blockSize) }
        guard locked == nil else {
            throw TagError(.readOnly, "A block of the data area is locked (NFC Forum T1T 1.2, 4.3).")
        }
        for step in plan.steps(memory) { try await write(step.bytes, to: step.unit) }
        self.layout = layout.holding(message)
    }

    /// Makes the tag permanently read-only. It sets the container's write access, the static lock bits, and the lock
    /// bits that a lock control TLV describes (NFC Forum T1T 1.2, 6.6).
    ///
    /// - Throws: ``TagError`` with `readOnly` when the tag is read-only already, `updateFailed`, `tagLost`, and the
    ///   errors of ``detectNDEF()``.
    public func lock() async throws(TagError) {
        let layout = try await locate()
        guard try container().isWritable else { throw TagError(.readOnly, "The tag is read-only already.") }
        let access = Type1CapabilityContainer.address + 3
        try await set([(memory[byte: access] ?? 0) | 0x0F], at: access, isErasing: true)
        try await set([0xFF, 0xFF], at: Self.staticLocks.lowerBound, isErasing: false)
        for range in layout.controls.filter(\.isLock).map(\.range) where range.upperBound <= Self.maximumSize {
            try await set([UInt8](repeating: 0xFF, count: range.count), at: range.lowerBound, isErasing: false)
        }
        self.layout = layout
    }

    /// Formats a Topaz 96 or 512 as an empty NDEF tag.
    ///
    /// - Throws: ``TagError`` with `unsupported` for other products, `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        let content: [UInt8]
        try await prepare()
        switch (target?.headerROM0, target?.headerROM1) {
        case (0x11, _): content = [0xE1, 0x10, 0x0E, 0x00, 0x03, 0x00, 0xFE, 0x00]
        case (0x12, 0x4C):
            content = [
                0xE1, 0x10, 0x3F, 0x00, 0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03, 0x03, 0x00,
            ]
        default: throw TagError(.unsupported, "Only Topaz 96 and Topaz 512 can be formatted.")
        }
        try await fetch(0..<Self.staticSize)
        if let present = try? container(), !present.isWritable {
            throw TagError(.readOnly, "The capability container does not grant writing (NFC Forum T1T 1.2, 6.1).")
        }
        // From the end, so that the magic number E1 is written last.
        let size = memory.unitSize
        for start in stride(from: 0, to: content.count, by: size).reversed() {
            let unit = (Type1CapabilityContainer.address + start) / size
            try await write(Array(content[start..<start + size]), to: unit)
        }
    }

    /// LOCK-0 and LOCK-1: bit n for block n.
    static let staticLocks = 112..<114

    private func isLocked(block: Int) -> Bool {
        guard block < 16, let byte = memory[byte: Self.staticLocks.lowerBound + block / 8] else { return false }
        return byte >> (block % 8) & 1 != 0
    }

    /// Writes bytes at any address, unit by unit.
    private func set(_ bytes: [UInt8], at address: Int, isErasing: Bool) async throws(TagError) {
        let size = memory.unitSize
        let units = address / size..<(address + bytes.count + size - 1) / size
        for unit in units {
            var content = [UInt8](repeating: 0, count: size)
            if isErasing {
                try await fetch(unit * size..<(unit + 1) * size)
                content = memory.unit(unit) ?? content
            }
            for index in 0..<size {
                let place = unit * size + index - address
                if bytes.indices.contains(place) { content[index] = bytes[place] }
            }
            try await write(content, to: unit, isErasing: isErasing)
        }
    }

    private func container() throws(TagError) -> Type1CapabilityContainer {
        let start = Type1CapabilityContainer.address
        return try Type1CapabilityContainer((start..<start + 4).compactMap { memory[byte: $0] })
    }

    private func locate(isForWriting: Bool = false) async throws(TagError) -> TLVLayout {
        if let lost { throw lost }
        if let layout { return layout }
        try await prepare()
        guard target?.hasNDEF == true else {
            throw TagError(
                .noCapabilityContainer,
                "HR0 is not 1x: no NDEF (NFC Forum T1T 1.2, 5.3)."
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

    /// Returns consecutive addresses as ranges.
    private func runs(_ addresses: [Int]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for address in addresses {
            if let last = result.last, last.upperBound == address {
                result[result.count - 1] = last.lowerBound..<address + 1
            } else {
                result.append(address..<address + 1)
            }
        }
        return result
    }
}

/// The capability container of a Type 1 tag, bytes 8 to 11 (NFC Forum T1T 1.2, 6.1).
struct Type1CapabilityContainer: Equatable {
    /// The address of the container.
    static let address = 8
    /// Blocks D to F, reserved for lock and one-time programmable bits, up to the end of the static memory or of
    /// segment 0.
    static let reserved = 104..<128

    var bytes: [UInt8]

    /// Reads a container.
    ///
    /// - Throws: ``TagError`` with `noCapabilityContainer` or `badVersion`.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == 4, bytes[0] == 0xE1 else {
            throw TagError(.noCapabilityContainer, "Byte 8 is not E1 (NFC Forum T1T 1.2, 6.1).")
        }
        guard bytes[1] >> 4 == 1 else {
            throw .badVersion(bytes[1] >> 4, bytes[1] & 0x0F, "T1T 1.2, 6.1")
        }
        self.bytes = bytes
    }

    /// The data area, including its reserved bytes.
    var area: Range<Int> { 12..<max(12, (Int(bytes[2]) + 1) * 8) }
    /// Whether reading is unrestricted.
    var isReadable: Bool { bytes[3] >> 4 == 0 }
    /// Whether writing is unrestricted.
    var isWritable: Bool { bytes[3] & 0x0F == 0 }
}

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

/// A Type 1 tag's answer to RID (NFC Forum T1T 1.2, 5.3).
public struct Type1Target: Sendable, Hashable {
    /// HR0: 1x for NDEF. 11 means 96 bytes of static memory; 12 and others mean dynamic memory.
    public var headerROM0: UInt8
    /// HR1: 48 on Topaz 96, 4C on Topaz 512.
    public var headerROM1: UInt8
    /// The first four bytes of the UID. Every command contains them.
    public var uid: [UInt8]

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - headerROM0: HR0.
    ///   - headerROM1: HR1.
    ///   - uid: four bytes.
    public init(headerROM0: UInt8, headerROM1: UInt8, uid: [UInt8]) {
        precondition(uid.count == 4, "RID gives four bytes of UID")
        self.headerROM0 = headerROM0
        self.headerROM1 = headerROM1
        self.uid = uid
    }

    /// Whether the tag is made for NDEF.
    public var hasNDEF: Bool { headerROM0 >> 4 == 1 }
    /// Whether the tag has 120 bytes, written one byte at a time. Otherwise it has more, written in blocks of eight.
    public var isStatic: Bool { headerROM0 & 0x0F == 1 }

    /// Identifies the Type 1 tag in the field with RID. Call it after REQA or WUPA.
    ///
    /// - Parameter link: the NFC-A link that its ATQA was received over.
    /// - Returns: the tag's answer.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `readerUnavailable`, `unsupported`, `cancelled`.
    public static func identify(link: any FrameLink) async throws(TagError) -> Type1Target {
        var failure = TagError(.tagLost, "The tag does not answer RID.")
        for _ in 0...Type1Tag.retries {
            let bytes: [UInt8]
            do throws(LinkError) {
                let request = Frame([0x78, 0, 0, 0, 0, 0, 0], checksum: .crcB)
                bytes = try await link.transceive(request, timeout: Type1Tag.answerTimeout).bytes
            } catch {
                if let fatal = TagError(fatal: error) { throw fatal }
                failure = TagError(link: error, over: .nfcA)
                continue
            }
            guard bytes.count == 6 else {
                throw TagError(
                    .badAnswer,
                    "RID brought \(bytes.count) bytes, not 6 (NFC Forum T1T 1.2, 5.3)."
                )
            }
            return Type1Target(headerROM0: bytes[0], headerROM1: bytes[1], uid: Array(bytes[2...]))
        }
        throw failure
    }
}
