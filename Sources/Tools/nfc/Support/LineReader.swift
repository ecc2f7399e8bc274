// SPDX-License-Identifier: Apache-2.0
import LinuxSupport

/// Reads standard input in blocks of the lines that have arrived. Buffers at most a block and a line.
struct LineReader {
    private let input = InputFile.standardInput(limit: .max)
    private let maximumLength: Int
    private var pending: [UInt8] = []
    private var isAtEnd = false

    /// Starts to read.
    ///
    /// - Parameter maximumLength: the maximum length of a line in bytes. The default is four times the maximum size of a
    ///   message, enough for hex with separators.
    init(maximumLength: Int = 4 * StandardInput.maximumSize) {
        self.maximumLength = maximumLength
    }

    /// Waits for input.
    ///
    /// - Returns: the complete lines that have arrived, without line feeds; nil at the end.
    /// - Throws: ``InputError`` when input can't be read or a line is too long. Reading then stops.
    mutating func nextBlock() throws(InputError) -> [ArraySlice<UInt8>]? {
        guard !isAtEnd else { return nil }
        var searched = 0
        while true {
            guard try isMore() else {
                isAtEnd = true
                return pending.isEmpty ? nil : split(pending[...])
            }
            if let last = pending[searched...].lastIndex(of: 0x0A) {
                let lines = split(pending[...last].dropLast())
                pending = Array(pending[(last + 1)...])
                return lines
            }
            searched = pending.count
            guard searched <= maximumLength else {
                isAtEnd = true
                throw InputError(
                    name: "line-too-long",
                    offset: searched,
                    message: "The line has more than \(maximumLength) characters. Reading stopped there."
                )
            }
        }
    }

    private mutating func isMore() throws(InputError) -> Bool {
        do throws(StorageError) {
            return try input.read(into: &pending)
        } catch {
            isAtEnd = true
            throw InputError(error, offset: 0)
        }
    }

    private func split(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        text.split(separator: 0x0A, omittingEmptySubsequences: false)
    }
}
