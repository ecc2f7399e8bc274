// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Lines that are printed only once.
final class PrintedLines: Sendable {
    private let lines = Locked<Set<String>>([])

    /// - Returns: false when the line was printed before.
    func add(_ line: String) -> Bool { lines.withLock { $0.insert(line).inserted } }
}
