// SPDX-License-Identifier: Apache-2.0
import PropertyTesting

/// Sessions, and what happens to them.
struct SessionStory: Sendable {
    enum Kind: CaseIterable { case tags, messages, firstMessage, cards }

    /// What an app does with the session of a number, or a person with the tag of a number.
    enum Step: Sendable {
        case begin(Int), invalidate(Int), fail(Int), restart(Int), connect(Int), read(Int)
        case message(Int, String)
        case bring(Int), takeAway(Int), cancel
        /// So many milliseconds pass.
        case wait(Int)

        init(_ draws: inout Draws) {
            let kind = draws.int(in: 0...16)
            let number = draws.int(in: 0...2)
            switch kind {
            case 0...3: self = .begin(number)
            case 4...5: self = .bring(number % 2)
            case 6: self = .takeAway(number % 2)
            case 7: self = .invalidate(number)
            case 8: self = .fail(number)
            case 9: self = .restart(number)
            case 10...11: self = .connect(number)
            case 12: self = .read(number)
            case 13: self = .message(number, "Message \(draws.int(in: 0...9))")
            case 14: self = .cancel
            default: self = .wait(draws.element(of: [10, 600, 3_000, 21_000, 59_000, 61_000]))
            }
        }
    }

    var kinds: [Kind]
    var steps: [Step]

    init(_ draws: inout Draws) {
        kinds = draws.array(count: 1...3) { $0.element(of: Kind.allCases) }
        steps = draws.array(count: 1...14) { Step(&$0) }
    }
}
