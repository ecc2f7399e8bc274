// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A tag that exists in memory alone, and answers frames as the silicon does.
///
/// A tag is brought near a ``VirtualField``, which gives it every frame that the reader sends in its technology.
public protocol VirtualTag: AnyObject, Sendable {
    /// The technology in which the tag speaks.
    var technology: Technology { get }

    /// Takes a frame and answers it, or keeps silent.
    ///
    /// - Parameter frame: the frame as it was on the air.
    /// - Returns: the answer, or nil for silence.
    func receive(_ frame: AirFrame) -> TagAnswer?

    /// Loses power: everything volatile is gone.
    func losePower()
}

/// A frame as it is on the air: with its checksum, where it has one.
public struct AirFrame: Sendable, Hashable {
    /// The octets, without the checksum.
    public var bytes: [UInt8]
    /// How many bits of the last octet there are.
    public var validBitsInLastByte: Int
    /// Whether the frame ended in a right checksum.
    public var hasChecksum: Bool
}

/// What a tag answers.
public struct TagAnswer: Sendable, Hashable {
    /// The octets, without the checksum.
    public var bytes: [UInt8]
    /// How many bits of the last octet are sent.
    public var validBitsInLastByte: Int
    /// Whether the tag appends the technology's checksum.
    public var hasChecksum: Bool
    /// How long the tag works before it answers.
    public var workTime: Airtime
    /// Whether the tag programs its memory before it answers.
    public var programs: Bool

    public init(
        _ bytes: [UInt8],
        validBitsInLastByte: Int = 8,
        hasChecksum: Bool = true,
        workTime: Airtime = .zero,
        programs: Bool = false
    ) {
        self.bytes = bytes
        self.validBitsInLastByte = validBitsInLastByte
        self.hasChecksum = hasChecksum
        self.workTime = workTime
        self.programs = programs
    }
}
