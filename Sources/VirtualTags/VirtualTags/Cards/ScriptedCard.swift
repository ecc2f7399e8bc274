// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A card that answers from a script: pairs of a command and its answer.
///
/// ```swift
/// var card = ScriptedCard()
/// card.answer([0x00, 0xB0, 0x00, 0x00, 0x02], with: [0xCA, 0xFE, 0x90, 0x00])
/// ```
///
/// If a command is in the script several times, its answers are given in order, and the last one is repeated.
public struct ScriptedCard: Card {
    private var answers: [[UInt8]: [CardAnswer]] = [:]
    private var given: [[UInt8]: Int] = [:]
    /// The answer to commands that are not in the script; 6D00 by default.
    public var otherwise: CardAnswer

    /// Creates a card from commands and their answers, including the status, and the answer to all other commands.
    public init(
        _ pairs: [(command: [UInt8], answer: [UInt8])] = [],
        otherwise: CardAnswer = CardAnswer(status: .unknownInstruction)
    ) {
        self.otherwise = otherwise
        for pair in pairs { answer(pair.command, with: pair.answer) }
    }

    /// Adds the whole answer to a whole command, and how long the card works and which extensions it requests first.
    public mutating func answer(
        _ command: [UInt8],
        with answer: [UInt8],
        workTime: Airtime = .zero,
        waitingTimeExtensions: [UInt8] = []
    ) {
        answers[command, default: []].append(
            CardAnswer(answer, workTime: workTime, waitingTimeExtensions: waitingTimeExtensions)
        )
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        guard let script = answers[message], let last = script.last else { return otherwise }
        let count = given[message, default: 0]
        given[message] = count + 1
        return count < script.count ? script[count] : last
    }

    /// Restarts the script.
    public mutating func losePower() {
        given = [:]
    }
}
