// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A tag's reaction to a frame.
public struct TagAnswer: Sendable, Hashable {
    /// The frame to send; nil for no answer.
    public var frame: Frame?

    /// How long the tag works before it answers, in addition to the technology's minimum delay.
    public var workTime: Airtime

    /// Whether the command programmed the tag's memory, or would have without the injectedFault. The field counts such
    /// commands as writes.
    public var isWrite: Bool

    /// The time slot of an answer to NFC-F polling; nil for all other answers. Answers in different slots do not
    /// collide. They reach the reader one after the other, in one frame.
    public var slot: Int?

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - frame: the frame to send; nil for no answer.
    ///   - workTime: how long the tag works first.
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
