// SPDX-License-Identifier: Apache-2.0

/// Limits the work of comparing one URL with the rules of files, so that no file and no URL can block the caller.
///
/// It counts steps, not time, so the same URL and the same file give the same answer on every machine. One step is
/// about the work for one byte and one machine word of a pattern.
package struct MatchWork {
    /// The most steps of one match: several hundred times the steps for the largest files of real sites.
    package static let limit = 1 << 23
    /// The number of steps to decode or fold one byte.
    static let decodingSteps = 8

    private var left = limit

    /// The number of steps taken, without those beyond the limit.
    package private(set) var steps = 0

    /// Whether the limit was reached. Comparisons after that have no valid result.
    package private(set) var isExhausted = false

    /// Starts with the whole limit. Share one value for all comparisons of one link, for example with several files.
    package init() {}

    /// Uses steps of the remaining work.
    ///
    /// - Returns: false when the limit is reached.
    mutating func spend(_ steps: Int) -> Bool {
        left -= steps
        if left < 0 { isExhausted = true }
        if !isExhausted { self.steps += steps }
        return !isExhausted
    }
}
