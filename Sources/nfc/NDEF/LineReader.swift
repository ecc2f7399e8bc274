// SPDX-License-Identifier: Apache-2.0

/// Reads standard input line by line, as many at a time as have come. Keeps no more than a block and a line.
struct LineReader {
    private var pending: [UInt8] = []
    private var isAtEnd = false

    /// Waits for input.
    ///
    /// - Returns: the whole lines that have come, without their line feeds; nil at the end.
    mutating func nextBlock() -> [ArraySlice<UInt8>]? {
        guard !isAtEnd else { return nil }
        var searched = 0
        while true {
            if !StandardInput.read(into: &pending, upTo: 1 << 16) {
                isAtEnd = true
                return pending.isEmpty ? nil : split(pending[...])
            }
            if let last = pending[searched...].lastIndex(of: 0x0A) {
                let lines = split(pending[...last].dropLast())
                pending = Array(pending[(last + 1)...])
                return lines
            }
            searched = pending.count
        }
    }

    private func split(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        text.split(separator: 0x0A, omittingEmptySubsequences: false)
    }
}
