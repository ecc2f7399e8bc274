// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A tag that lives in memory and answers frames as its silicon does.
///
/// A virtual tag speaks one technology. It gets each frame as it is on the air, activation included, and says what it
/// sends back. Its volatile state is lost with the field's power; its memory is not.
///
/// Conforming types protect their own state: a field delivers one frame at a time, and the tag's memory may be looked
/// at from any thread in between. A tag must not call back into the field it is in.
public protocol VirtualTag: AnyObject, Sendable {
    /// The technology that the tag answers.
    var technology: Technology { get }

    /// The identifier that the tag gives while it is activated: the UID of NFC-A and NFC-V, the PUPI of NFC-B, the
    /// NFCID2 of NFC-F.
    var identifier: [UInt8] { get }

    /// Whether the tag is the one that a reader knows by this identifier.
    ///
    /// The default compares it with ``identifier``. A tag that gives a part of it in some commands accepts that part too.
    ///
    /// - Parameter identifier: the identifier as the reader got it.
    func answers(to identifier: [UInt8]) -> Bool

    /// Takes a frame from the reader and answers it.
    ///
    /// - Parameters:
    ///   - request: the frame as the reader sent it. `checksum` other than `.none` means that the right checksum of that
    ///     kind is on the air after `bytes`; with `.none` the octets are all there is, and whether the last two are a
    ///     right checksum is the tag's to find out, with ``TagLink/Frame/payload(checkedBy:)``.
    ///   - disturbance: what a fault does to the tag in this exchange; nil when nothing does.
    /// - Returns: the answer, or nil when the tag is silent and has not programmed its memory.
    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer?

    /// Loses the field: all volatile state is gone.
    func losePower()
}

extension VirtualTag {
    public func answers(to identifier: [UInt8]) -> Bool { self.identifier == identifier }
}

/// What a tag does with one frame.
public struct TagAnswer: Sendable, Hashable {
    /// What the tag sends; nil when it is silent.
    public var frame: Frame?

    /// How long the tag works before it answers, beyond the technology's minimum delay.
    public var workTime: Airtime

    /// Whether the command programmed the tag's memory, or would have without the disturbance. Writes are counted by
    /// this.
    public var isWrite: Bool

    /// The time slot of an answer to NFC-F polling; nil for all other answers. Answers in different slots do not meet:
    /// they reach the reader one after the other, in one frame.
    public var slot: Int?

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - frame: what the tag sends, or nil when it is silent.
    ///   - workTime: how long it works first.
    ///   - isWrite: whether the command programmed its memory.
    ///   - slot: the time slot of an answer to NFC-F polling.
    @inlinable
    public init(_ frame: Frame?, workTime: Airtime = .zero, isWrite: Bool = false, slot: Int? = nil) {
        self.frame = frame
        self.workTime = workTime
        self.isWrite = isWrite
        self.slot = slot
    }
}

/// What a fault does to a tag itself, as opposed to the frames that it sends.
public enum Disturbance: Sendable, Hashable {
    /// Power goes while the memory is being programmed, if this command programs it. The reader hears nothing.
    case powerCut(TornWrite)
    /// The tag refuses the command with this 4-bit code, and does what it does after any refusal.
    case refusal(UInt8)
    /// The tag refuses the command with this 4-bit code if it would program the memory.
    case writeRefusal(UInt8)
}

/// What is left of the unit of memory, such as a page, that was being programmed when the power went.
public enum TornWrite: Sendable, Hashable {
    /// The octets from before the write.
    case old
    /// The octets that were written.
    case new
    /// Bits of both, chosen by the seed. Where the tag protects the unit against tearing it is the old or the new one.
    case mixed(seed: UInt64)
}

extension TornWrite {
    /// What a memory holds when the power went while octets were being programmed, one unit after the other.
    ///
    /// - Parameters:
    ///   - old: the octets from before.
    ///   - new: the octets that were to be written; as many.
    ///   - unit: how many octets are programmed at a time.
    ///   - isProtected: whether the memory makes sure that a unit is never a mixture.
    /// - Returns: units of `new`, one unit with bits of both, and units of `old`.
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

extension [UInt8] {
    /// Programs octets at an offset, or as much of them as a power cut lets.
    ///
    /// The range must lie inside.
    package mutating func program(
        _ octets: [UInt8],
        at offset: Int,
        tear: TornWrite?,
        unit: Int,
        isProtected: Bool = false
    ) {
        let range = offset..<(offset + octets.count)
        var octets = octets
        if let tear {
            octets = tear.remains(of: Array(self[range]), under: octets, unit: unit, isProtected: isProtected)
        }
        replaceSubrange(range, with: octets)
    }
}
