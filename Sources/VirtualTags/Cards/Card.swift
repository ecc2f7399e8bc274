// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What sits above ISO-DEP on a Type 4 tag: whole messages go in, and whole answers come out.
///
/// Most cards speak ISO/IEC 7816-4 and are an ``ApplicationCard``; MIFARE DESFire has commands of its own. A card is a
/// value: a copy of it is a copy of its memory.
public protocol Card: Sendable {
    /// Carries out a message.
    ///
    /// - Parameters:
    ///   - message: the reader's message, put together from all blocks of a chain.
    ///   - tear: what a power cut leaves of the memory that this message programs; nil when the power stays.
    /// - Returns: the answer, status included.
    mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer

    /// Forgets all volatile state: what is selected, and who is authenticated.
    mutating func losePower()
}

/// A card's answer to one message.
public struct CardAnswer: Sendable, Hashable {
    /// The answer as it is sent, status included.
    public var bytes: [UInt8]
    /// How long the card works before it answers. ISO-DEP asks for more time by itself when this is longer than the
    /// frame waiting time.
    public var workTime: Airtime
    /// Whether the message programmed the card's memory.
    public var isWrite: Bool
    /// Multipliers of waiting time extensions, 1 to 59, that the card asks for before it answers, in order.
    public var waitingTimeExtensions: [UInt8]

    /// Creates an answer from its octets.
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

    /// Creates an answer of ISO/IEC 7816-4: data and a status.
    public init(
        _ data: [UInt8] = [],
        status: CardStatus,
        workTime: Airtime = .zero,
        isWrite: Bool = false
    ) {
        self.init(data + status.bytes, workTime: workTime, isWrite: isWrite)
    }
}

extension Card {
    /// Carries out a message under a fault: a refusal by the fault gives 6400, one of a write 6581.
    mutating func process(_ message: [UInt8], disturbance: Disturbance?) -> CardAnswer {
        switch disturbance {
        case nil:
            return process(message, tear: nil)
        case .powerCut(let rest):
            return process(message, tear: rest)
        case .refusal:
            return CardAnswer(status: .executionError)
        case .writeRefusal:
            let before = self
            let answer = process(message, tear: nil)
            guard answer.isWrite else { return answer }
            self = before
            return CardAnswer(status: .memoryFailure, isWrite: true)
        }
    }
}
