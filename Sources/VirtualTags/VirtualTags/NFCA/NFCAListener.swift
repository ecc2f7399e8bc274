// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The tag's side of NFC-A activation. It answers each frame, or passes the frame to the layer above.
///
/// The states are those of ISO/IEC 14443-3, 6.3: IDLE, READY, ACTIVE and HALT. READY* and ACTIVE* apply to a tag that
/// was woken from HALT and returns to it.
struct NFCAListener: Sendable {
    enum State: Sendable, Hashable {
        case idle
        /// The tag waits for anticollision or SELECT of this cascade level, starting at 0.
        case ready(level: Int)
        case active
        case halt
    }

    enum Outcome: Sendable, Hashable {
        case silence
        case answer(Frame)
        /// The answer to REQA or WUPA, which starts an activation.
        case woken(Frame)
        /// A command for the layer above, without its checksum.
        case command([UInt8])
        /// A frame for the layer above, with a wrong checksum.
        case damaged
    }

    /// The UID with cascade tags and check bytes: five bytes per cascade level (ISO/IEC 14443-3, 6.5.4).
    private var levels: [[UInt8]]
    private var atqa: Frame
    private let sak: UInt8

    private(set) var state = State.idle
    /// Whether the tag was woken from HALT and returns to it.
    private(set) var wasHalted = false

    /// Creates the layer for a UID of 4, 7 or 10 bytes. The low byte of ATQA is sent first. SAK is for the last level.
    init(uid: [UInt8], atqa: UInt16, sak: UInt8) {
        var levels: [[UInt8]] = []
        var rest = uid[...]
        while rest.count > 4 {
            levels.append([0x88] + rest.prefix(3))
            rest = rest.dropFirst(3)
        }
        levels.append(Array(rest))
        self.levels = levels.map { $0 + [$0.reduce(0, ^)] }
        self.atqa = Frame(atqa.littleEndianBytes, checksum: .none)
        self.sak = sak
    }

    /// Replaces the 4-byte UID of a tag with random UIDs when it is powered. The length must not change, because ATQA
    /// contains it (ISO/IEC 14443-3, 6.5.2).
    mutating func replaceIdentifier(_ uid: [UInt8]) {
        levels = [uid + [uid.reduce(0, ^)]]
        atqa.bytes[0] &= 0x3F
    }

    mutating func losePower() {
        state = .idle
        wasHalted = false
    }

    /// Returns to IDLE, or to HALT if the tag was woken from there, after an error or an unexpected command.
    mutating func deselect() { state = wasHalted ? .halt : .idle }

    mutating func receive(_ frame: Frame) -> Outcome {
        if frame.checksum == .none, frame.bytes.count == 1, frame.validBitsInLastByte == 7 {
            return receiveShortFrame(frame.bytes[0] & 0x7F)
        }
        switch state {
        case .idle, .halt: return .silence
        case .ready(let level): return receiveWhileReady(frame, level: level)
        case .active:
            guard let command = frame.payload(checkedBy: .nfcA) else {
                if frame.validBitsInLastByte != 8 {
                    deselect()
                    return .silence
                }
                return .damaged
            }
            if command == [0x50, 0x00] {
                state = .halt
                return .silence
            }
            return .command(command)
        }
    }

    /// REQA wakes a tag in IDLE; WUPA wakes a tag in IDLE or HALT. In any other state, both are errors.
    private mutating func receiveShortFrame(_ command: UInt8) -> Outcome {
        switch (state, command) {
        case (.idle, 0x26), (.idle, 0x52): wasHalted = false
        case (.halt, 0x52): wasHalted = true
        case (.idle, _), (.halt, _): return .silence
        default:
            deselect()
            return .silence
        }
        state = .ready(level: 0)
        return .woken(atqa)
    }

    /// Anticollision and SELECT (ISO/IEC 14443-3, 6.5.3). A tag with another UID returns to its resting state.
    private mutating func receiveWhileReady(_ frame: Frame, level: Int) -> Outcome {
        let select: [UInt8] = [0x93, 0x95, 0x97]
        let levelBytes = levels[level]
        if frame.bytes.count >= 2, frame.bytes[0] == select[level] {
            let nvb = frame.bytes[1]
            if nvb == 0x70 {
                if let payload = frame.payload(checkedBy: .nfcA), payload.dropFirst(2) == levelBytes[...] {
                    if level + 1 < levels.count {
                        state = .ready(level: level + 1)
                        return .answer(Frame([sak | 0x04]))
                    }
                    state = .active
                    return .answer(Frame([sak & ~0x04]))
                }
            } else if frame.checksum == .none {
                let bits = Int(nvb >> 4) * 8 + Int(nvb & 0x0F) - 16
                let sent = Array(frame.bytes.dropFirst(2))
                if nvb & 0x0F < 8, (0..<40).contains(bits), frame.bitCount == bits + 16,
                    levelBytes.startsWithBits(bits, of: sent)
                {
                    return .answer(levelBytes.bits(from: bits))
                }
            }
        }
        deselect()
        return .silence
    }
}

/// A virtual NFC-A tag that can be activated but answers no commands, such as a tag from a dump without memory.
///
/// It has no ISO-DEP, so it does not send bit 5 of its SAK: readers would lose it at RATS, and never find it
/// (flipperzero-firmware #1472). A payment card of which only UID and SAK are known, for example, is found with
/// SAK 00.
public final class NFCATag: ChipTag {
    /// The data of the tag.
    public let contents: NFCAContents
    let chip: Locked<NFCAListener>

    /// Creates a tag. Its UID must have 4, 7 or 10 bytes.
    public init(_ contents: NFCAContents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
        self.contents = contents
        chip = Locked(NFCAListener(uid: contents.uid, atqa: contents.atqa, sak: contents.sak & ~0x20))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] { contents.uid }
}

/// A chip that can only be activated. Any command deselects it.
extension NFCAListener: TagChip {
    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        switch receive(frame) {
        case .answer(let answer), .woken(let answer): return TagAnswer(answer)
        case .command, .damaged:
            deselect()
            return nil
        case .silence: return nil
        }
    }
}

/// The data of an NFC-A tag known only by its activation.
public struct NFCAContents: Sendable, Hashable {
    /// The UID, 4, 7 or 10 bytes.
    public var uid: [UInt8]
    /// ATQA. The low byte is sent first.
    public var atqa: UInt16
    /// SAK.
    public var sak: UInt8

    /// Creates contents.
    public init(uid: [UInt8], atqa: UInt16, sak: UInt8) {
        self.uid = uid
        self.atqa = atqa
        self.sak = sak
    }
}
