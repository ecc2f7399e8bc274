// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 1 tag: a Topaz 96 or 512. It answers raw frames with CRC_B over NFC-A.
///
/// ```swift
/// let tag = VirtualType1Tag(.topaz512)
/// ```
///
/// The tag does not answer a forbidden command, such as a write to a locked block, or a command with another UID. Nor
/// does it answer a command that a fault plan refuses.
public final class VirtualType1Tag: ChipTag {
    /// The product.
    public let product: Type1Product
    let chip: Locked<Type1Chip>

    /// The UID of tags that are created without one.
    public static let defaultUID: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x2A]

    /// Creates a tag with the given contents.
    public init(_ contents: Type1Contents) {
        precondition(contents.memory.count == contents.product.memorySize, "the memory must have the product's size")
        precondition(contents.header.count == 2, "the header is HR0 and HR1")
        product = contents.product
        chip = Locked(Type1Chip(contents))
    }

    /// Creates a new tag that is formatted for NDEF but empty, with a UID of 7 bytes.
    public convenience init(_ product: Type1Product, uid: [UInt8] = VirtualType1Tag.defaultUID) {
        precondition(uid.count == 7, "a UID of Type 1 tags has 7 bytes")
        self.init(Type1Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] { chip.withLock { $0.contents.uid } }

    /// Returns whether the UID begins with these bytes. Readers only know the first four, which RID returns.
    public func answers(to identifier: [UInt8]) -> Bool { self.identifier.starts(with: identifier) }

    /// The current persistent state of the tag.
    public var contents: Type1Contents { chip.withLock { $0.contents } }
}

/// The persistent state of a Type 1 tag, as in an image of the tag.
public struct Type1Contents: Sendable, Hashable {
    /// The product.
    public var product: Type1Product
    /// The header bytes HR0 and HR1.
    public var header: [UInt8]
    /// All bytes, starting at block 0. The first seven are the UID.
    public var memory: [UInt8]

    /// Creates contents from an image of the memory. Missing bytes at the end are zero.
    public init(_ product: Type1Product, memory: [UInt8], header: [UInt8]? = nil) {
        self.product = product
        self.header = header ?? product.header
        self.memory = Array((memory + Array(repeating: 0, count: product.memorySize)).prefix(product.memorySize))
    }

    /// Creates a new tag that is formatted for NDEF but empty, with a UID of 7 bytes.
    public init(blank product: Type1Product, uid: [UInt8]) {
        self.init(product, memory: uid + [0x00] + product.factoryData)
        // Blocks 0, D and E are locked.
        memory[112] = 0x01
        memory[113] = 0x60
    }

    /// The UID, 7 bytes.
    public var uid: [UInt8] { Array(memory[0..<7]) }
}

/// The state machine of a Type 1 tag: it receives a frame and returns the answer.
///
/// A Type 1 tag has no anticollision and no SAK. After REQA or WUPA it accepts commands, and each command contains the
/// UID (NFC Forum T1T 1.2, 5). A forbidden command gets no answer.
struct Type1Chip: TagChip {
    /// The time for erasing and programming, and for programming alone. No data sheet was available to check these
    /// values.
    static let eraseTime = Airtime.microseconds(5200)
    static let programTime = Airtime.microseconds(2600)

    var contents: Type1Contents
    private var isReady = false

    init(_ contents: Type1Contents) { self.contents = contents }

    mutating func losePower() { isReady = false }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        if frame.validBitsInLastByte == 7, frame.bytes.count == 1 {
            guard [0x26, 0x52].contains(frame.bytes[0] & 0x7F) else { return nil }
            isReady = true
            return TagAnswer(Frame([0x00, 0x0C], checksum: .none))
        }
        guard isReady, let command = payload(of: frame), let code = command.first else { return nil }
        if case .refusal = injectedFault { return nil }
        var tear: TornWrite?
        if case .powerCut(let rest) = injectedFault { tear = rest }
        let before = contents
        guard var answer = execute(code, command, tear) else { return nil }
        if answer.isWrite, case .writeRefusal = injectedFault {
            contents = before
            answer.frame = nil
        }
        return answer
    }

    /// Returns the bytes before CRC_B, which Type 1 tags use over NFC-A.
    private func payload(of frame: Frame) -> [UInt8]? {
        switch frame.checksum {
        case .crcB: return frame.bytes
        case .automatic: return nil
        case .none: return frame.payload(checkedBy: .nfcB)
        }
    }

    private mutating func execute(_ code: UInt8, _ command: [UInt8], _ tear: TornWrite?) -> TagAnswer? {
        if code == 0x78 {
            guard command.count == 7 else { return nil }
            return answer(contents.header + contents.memory[0..<4])
        }
        guard command.count == 7 || command.count == 14, Array(command.suffix(4)) == Array(contents.memory[0..<4])
        else { return nil }
        let address = command[1]
        let isDynamic = contents.product == .topaz512
        switch (code, command.count) {
        case (0x00, 7): return answer(contents.header + contents.memory[0..<120])
        case (0x01, 7): return read(Int(address))
        case (0x53, 7): return write(Int(address), [command[2]], prefix: address, erases: true, tear)
        case (0x1A, 7): return write(Int(address), [command[2]], prefix: address, erases: false, tear)
        case (0x10, 14) where isDynamic: return readSegment(address)
        case (0x02, 14) where isDynamic: return readBlock(address)
        case (0x54, 14) where isDynamic:
            return write(Int(address) * 8, Array(command[2..<10]), prefix: address, erases: true, tear)
        case (0x1B, 14) where isDynamic:
            return write(Int(address) * 8, Array(command[2..<10]), prefix: address, erases: false, tear)
        default: return nil
        }
    }

    private func answer(_ bytes: [UInt8]) -> TagAnswer { TagAnswer(Frame(bytes, checksum: .crcB)) }

    // MARK: Reading

    /// READ: one of the first 128 bytes.
    private func read(_ address: Int) -> TagAnswer? {
        guard address < min(128, contents.memory.count) else { return nil }
        return answer([UInt8(address), contents.memory[address]])
    }

    /// RSEG: 128 bytes. The upper four bits of the address are the segment.
    private func readSegment(_ address: UInt8) -> TagAnswer? {
        answer([address] + bytes(from: Int(address >> 4) * 128, count: 128))
    }

    /// READ8: one block.
    private func readBlock(_ block: UInt8) -> TagAnswer? {
        answer([block] + bytes(from: Int(block) * 8, count: 8))
    }

    /// Returns bytes of the memory. A tag also answers beyond the end of its memory, but does not store bytes written
    /// there; nfcpy detects the end of a Topaz 512 that way. Reading zeros there is a guess.
    private func bytes(from start: Int, count: Int) -> [UInt8] {
        let present = contents.memory.dropFirst(start).prefix(count)
        return present + Array(repeating: 0, count: count - present.count)
    }

    // MARK: Writing

    /// WRITE-E and WRITE-NE, of one byte or a block. The answer contains the memory after the write.
    private mutating func write(
        _ address: Int,
        _ bytes: [UInt8],
        prefix: UInt8,
        erases: Bool,
        _ tear: TornWrite?
    ) -> TagAnswer? {
        if bytes.count == 8, address >= contents.memory.count { return readBlock(prefix) }
        guard bytes.count == 8 || address < 128, address + bytes.count <= contents.memory.count,
            isWritable(block: address / 8, erases: erases)
        else { return nil }
        let old = Array(contents.memory[address..<(address + bytes.count)])
        let new = erases ? bytes : zip(old, bytes).map { $0 | $1 }
        contents.memory.program(new, at: address, tear: tear, unit: bytes.count)
        return TagAnswer(
            Frame([prefix] + new, checksum: .crcB),
            workTime: erases ? Self.eraseTime : Self.programTime,
            isWrite: true
        )
    }

    /// Returns whether a block can be written. Block 0 contains the UID, and block D is reserved. Block E, and block F
    /// of dynamic memory, contain lock and one-time bits, which can be set but not erased. All other blocks can be
    /// locked. Without a data sheet, two details are guesses: a refused write gets no answer, and erasing in E and F is
    /// refused.
    private func isWritable(block: Int, erases: Bool) -> Bool {
        switch block {
        case 0x0, 0xD: return false
        case 0xE, 0xF: return !erases
        case 0x1...0xC: return !contents.memory.hasBit(112 * 8 + block)
        default: return !contents.memory.hasBit(122 * 8 + block - 0x10)
        }
    }
}
