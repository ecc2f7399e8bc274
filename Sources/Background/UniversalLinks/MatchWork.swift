// SPDX-License-Identifier: Apache-2.0

/// How much one URL may take to be compared with the rules of a file, so that no file and no URL holds up whoever asks.
///
/// It counts steps and no time: the same URL and the same file have the same answer on every machine. A step is about what one
/// byte and one machine word of a pattern take together.
package struct MatchWork {
    /// The most steps of one match: some hundred times what the largest files of real sites take.
    package static let limit = 1 << 23
    /// The steps that a byte takes whose escapes are resolved, or whose letters are folded.
    static let decodingSteps = 8

    private var left = limit

    /// How many steps were taken, those that went beyond the limit left out.
    package private(set) var steps = 0

    /// Whether the limit was reached. What was compared since says nothing.
    package private(set) var isExhausted = false

    /// Begins with the whole limit. Questions that belong together, such as those to several files about one link, share one.
    package init() {}

    /// Takes steps from what is left.
    ///
    /// - Returns: false when the limit is reached.
    mutating func spend(_ steps: Int) -> Bool {
        left -= steps
        if left < 0 { isExhausted = true }
        if !isExhausted { self.steps += steps }
        return !isExhausted
    }
}
