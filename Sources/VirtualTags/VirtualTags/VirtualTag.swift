// SPDX-License-Identifier: Apache-2.0
public import TagLink
@_exported public import TagProducts

/// A tag in memory that answers frames like a real chip.
///
/// A virtual tag speaks one technology. It receives each frame as sent on the air, including those of the activation,
/// and returns its answer. Switching off the field clears its volatile state, but not its memory.
///
/// Conforming types protect their own state: a field delivers one frame at a time, but any thread may read the tag's
/// memory in between. A tag must not call the field that it is in.
public protocol VirtualTag: AnyObject, Sendable {
    /// The technology of the tag.
    var technology: Technology { get }

    /// The identifier that the tag sends during its activation: the UID of NFC-A and NFC-V, the PUPI of NFC-B, the
    /// NFCID2 of NFC-F.
    var identifier: [UInt8] { get }

    /// Returns whether an identifier that a reader reports is this tag's.
    ///
    /// By default, it must equal ``identifier``. A tag that sends only a part also accepts that part.
    func answers(to identifier: [UInt8]) -> Bool

    /// Handles a frame from the reader.
    ///
    /// - Parameters:
    ///   - request: the frame from the reader. If `checksum` is not `.none`, a correct checksum of that kind follows
    ///     `bytes`. With `.none`, `bytes` are the whole frame, and the tag must check with `Frame.payload(checkedBy:)`
    ///     whether they end in a correct checksum.
    ///   - injectedFault: the effect of a fault on the tag in this exchange; nil without a fault.
    /// - Returns: the answer; nil when the tag does not answer and has not programmed its memory.
    func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer?

    /// Resets all volatile state. Called when the field is switched off.
    func losePower()
}

extension VirtualTag {
    public func answers(to identifier: [UInt8]) -> Bool { self.identifier == identifier }
}

protocol TagChip: Sendable {
    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer?
    mutating func losePower()
}

protocol ChipTag: VirtualTag {
    associatedtype Chip: TagChip
    var chip: Locked<Chip> { get }
}

extension ChipTag {
    public func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        chip.withLock { $0.receive(request, injectedFault: injectedFault) }
    }

    public func losePower() { chip.withLock { $0.losePower() } }
}

extension [UInt8] {
    /// The capital hexadecimal digits of the bytes, as chips insert them when they are read.
    var hexadecimalDigits: [UInt8] { Array(hexText().uppercased().utf8) }

    /// Programs bytes at an offset inside the memory. With a power cut, only the part that remains is programmed.
    package mutating func program(
        _ bytes: [UInt8],
        at offset: Int,
        tear: TornWrite?,
        unit: Int,
        isProtected: Bool = false
    ) {
        let range = offset..<(offset + bytes.count)
        var bytes = bytes
        if let tear {
            bytes = tear.remains(of: Array(self[range]), under: bytes, unit: unit, isProtected: isProtected)
        }
        replaceSubrange(range, with: bytes)
    }
}

/// The effect of a fault on a tag itself, rather than on the frames that it sends.
public enum InjectedFault: Sendable, Hashable {
    /// The power is cut if this command programs the memory. The reader then receives nothing.
    case powerCut(TornWrite)
    /// The tag refuses the command with this 4-bit code, and changes its state as after any refusal.
    case refusal(UInt8)
    /// The tag refuses the command with this 4-bit code if it would program the memory.
    case writeRefusal(UInt8)
}

/// A tag's reaction to a frame.
public struct TagAnswer: Sendable, Hashable {
    /// The frame to send; nil for no answer.
    public var frame: Frame?

    /// How long the tag works before it answers, in addition to the technology's minimum delay.
    public var workTime: Airtime

    /// Whether the command programmed the tag's memory, or would have without the fault. The field counts it as a write.
    public var isWrite: Bool

    /// The time slot of an answer to NFC-F polling; nil for all other answers. Answers in different slots do not
    /// collide, and reach the reader in one frame, one after the other.
    public var slot: Int?

    /// Creates an answer.
    @inlinable
    public init(_ frame: Frame?, workTime: Airtime = .zero, isWrite: Bool = false, slot: Int? = nil) {
        self.frame = frame
        self.workTime = workTime
        self.isWrite = isWrite
        self.slot = slot
    }
}

/// The content of a unit of memory, such as a page, after a power cut during its programming.
public enum TornWrite: Sendable, Hashable {
    /// The bytes from before the write.
    case old
    /// The new bytes.
    case new
    /// Bits of both, chosen by the seed. A unit that is protected against tearing has either the old or the new bytes.
    case mixed(seed: UInt64)
}

extension TornWrite {
    /// Whether a unit that is protected against tearing has its new bytes.
    var keepsNew: Bool { remains(of: [0], under: [1], unit: 1, isProtected: true) == [1] }

    /// Returns the memory after a power cut that interrupts programming, which goes unit by unit: new units, then one
    /// unit with bits of both, then old units. If the memory protects its units, no unit is a mixture.
    package func remains(of old: [UInt8], under new: [UInt8], unit: Int, isProtected: Bool = false) -> [UInt8] {
        switch self {
        case .old: return old
        case .new: return new
        case .mixed(let seed):
            var random = SplitMix64(seed: seed)
            let units = max(1, (new.count + unit - 1) / unit)
            let torn = Int(random.next() % UInt64(units))
            var result = Array(new.prefix(torn * unit)) + old.dropFirst(torn * unit)
            if isProtected {
                return random.next() & 1 == 0
                    ? result : Array(new.prefix((torn + 1) * unit)) + old.dropFirst((torn + 1) * unit)
            }
            for index in (torn * unit)..<min(new.count, (torn + 1) * unit) {
                let mask = UInt8(truncatingIfNeeded: random.next())
                result[index] = (old[index] & ~mask) | (new[index] & mask)
            }
            return result
        }
    }
}

extension Frame {
    /// Returns the bytes without their checksum: CRC_A for NFC-A, CRC_B for NFC-B and NFC-V, the FeliCa CRC for NFC-F.
    /// Nil if it is wrong, missing or of another technology.
    public func payload(checkedBy technology: Technology) -> [UInt8]? {
        switch checksum {
        case .automatic: return bytes
        case .crcB: return technology == .nfcB || technology == .nfcV ? bytes : nil
        case .none: return payload(endingInChecksumBy: technology.checksum)
        }
    }

    /// Returns all bytes on the air, including a checksum unless `checksum` is `.none`.
    func bytesOnAir(_ technology: Technology) -> [UInt8] {
        switch checksum {
        case .none: bytes
        case .automatic: bytes + technology.checksum(bytes)
        case .crcB: bytes + Technology.nfcB.checksum(bytes)
        }
    }

    private func payload(endingInChecksumBy checksum: ([UInt8]) -> [UInt8]) -> [UInt8]? {
        guard validBitsInLastByte == 8, bytes.count > 2 else { return nil }
        let payload = Array(bytes.dropLast(2))
        return checksum(payload) == Array(bytes.suffix(2)) ? payload : nil
    }

    /// Returns this answer as the reader reports it for the request's checksum setting; nil for a wrong checksum.
    func received(inAnswerTo request: Frame, _ technology: Technology) -> Frame? {
        if bitCount < 8 || checksum == request.checksum { return self }
        switch request.checksum {
        case .none: return Frame(bytesOnAir(technology), checksum: .none)
        case .automatic:
            guard let payload = payload(checkedBy: technology) else { return nil }
            return Frame(payload)
        case .crcB:
            guard checksum == .none, let payload = payload(endingInChecksumBy: Technology.nfcB.checksum) else {
                return nil
            }
            return Frame(payload, checksum: .crcB)
        }
    }
}

/// A small random number generator. The same seed gives the same numbers on every machine (Steele, Lea, Flood 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SplitMix64 {
    /// Creates a generator from a tag's identifier, so that a tag behaves the same in every run.
    package init(identifier: [UInt8]) { self.init(seed: UInt64(bytes: identifier)) }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 24) }
    }
}
