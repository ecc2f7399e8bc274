// SPDX-License-Identifier: Apache-2.0
import PrivateStorage

/// Standard input.
enum StandardInput {
    /// No message, and nothing else that is read whole from standard input, has more bytes.
    static let maximumSize = 8 << 20

    /// Everything to the end.
    static func all() throws(InputError) -> [UInt8] {
        do throws(StorageError) {
            return try InputFile.standardInput(limit: maximumSize).readToEnd()
        } catch {
            throw InputError(error, offset: error.code == .tooLarge ? maximumSize : 0)
        }
    }
}

/// Reads standard input line by line, as many at a time as have come. Keeps no more than a block and a line.
struct LineReader {
    private let input = InputFile.standardInput(limit: .max)
    private let maximumLength: Int
    private var pending: [UInt8] = []
    private var isAtEnd = false

    /// Begins to read.
    ///
    /// - Parameter maximumLength: the most bytes of a line; four for each of a message unless given, which is enough for
    ///   hex with separators.
    init(maximumLength: Int = 4 * StandardInput.maximumSize) {
        self.maximumLength = maximumLength
    }

    /// Waits for input.
    ///
    /// - Returns: the whole lines that have come, without their line feeds; nil at the end.
    /// - Throws: ``InputError`` when input can't be read, or has a line that is too long. No more is read then.
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
                    message: "The line has more than \(maximumLength) characters, and no more of it is read."
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

/// Why a line of input means nothing.
struct InputError: Error {
    /// The error's name.
    var name: String
    /// The character of the line, or the index of the record, where the fault lies.
    var offset: Int
    /// What is wrong, as a sentence.
    var message: String
}

extension InputError {
    /// Standard input that can't be read.
    init(_ error: StorageError, offset: Int) {
        let name = error.code == .tooLarge ? "input-too-large" : "unreadable-input"
        self.init(name: name, offset: offset, message: error.reason)
    }
}
