// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A card's answer to one message.
public struct CardAnswer: Sendable, Hashable {
    /// The answer as it is sent, including the status.
    public var bytes: [UInt8]
    /// How long the card works before it answers. If this is longer than the frame waiting time, ISO-DEP asks for more
    /// time.
    public var workTime: Airtime
    /// Whether the message programmed the card's memory.
    public var isWrite: Bool
    /// The multipliers of the waiting time extensions, 1 to 59, that the card requests before it answers, in order.
    public var waitingTimeExtensions: [UInt8]

    /// Creates an answer from its bytes.
    public init(
        _ bytes: [UInt8],
        workTime: Airtime = .zero,
        isWrite: Bool = false,
        waitingTimeExtensions: [UInt8] = []
    ) {
        self.bytes = bytes
        self.workTime = workTime
        self.isWrite = isWrite
        self.waitingTimeExtensions = waitingTimeExtensions
    }

    /// Creates an ISO/IEC 7816-4 answer from data and a status.
    public init(
        _ data: [UInt8] = [],
        status: CardStatus,
        workTime: Airtime = .zero,
        isWrite: Bool = false
    ) {
        self.init(data + status.bytes, workTime: workTime, isWrite: isWrite)
    }
}
