// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink
import TextSafety

/// Failures for invalid input.
extension CommandFailure {
    /// Creates a failure for unreadable standard input.
    fileprivate init(input error: StorageError, offset: Int) {
        self.init(error.code == .tooLarge ? "input-too-large" : "unreadable-input", error.reason, offset: offset)
    }
}

extension InputFile {
    /// Opens an input file, pipe or device named by the user; `-` means standard input.
    static func named(_ path: String, limit: Int) throws(StorageError) -> InputFile {
        path == "-" ? .standardInput(limit: limit) : try InputFile(path, limit: limit, takesPipes: true)
    }
}

enum StandardInput {
    /// The maximum size in bytes of a message, or of any other input read as a whole.
    static let maximumSize = 8 << 20

    static func all() throws(CommandFailure) -> [UInt8] {
        do throws(StorageError) {
            return try InputFile.standardInput(limit: maximumSize).readToEnd()
        } catch {
            throw CommandFailure(input: error, offset: error.code == .tooLarge ? maximumSize : 0)
        }
    }

    /// Returns a line's message, or a failure if it exceeds the maximum size.
    static func limited(_ message: [UInt8]) -> Result<[UInt8], CommandFailure> {
        guard message.count > maximumSize else { return .success(message) }
        let text = "The message has more than \(maximumSize >> 20) MiB."
        return .failure(CommandFailure("input-too-large", text, offset: maximumSize))
    }
}

/// Reads the lines that are available on standard input, block by block. Buffers at most one block and one line.
struct LineReader {
    private let input = InputFile.standardInput(limit: .max)
    private let maximumLength: Int
    private var pending: [UInt8] = []
    private var isAtEnd = false

    /// By default, a line may be four times as long as the largest message, which suffices for hex with separators.
    init(maximumLength: Int = 4 * StandardInput.maximumSize) { self.maximumLength = maximumLength }

    /// Waits for input.
    ///
    /// - Returns: the complete lines available, without line feeds; nil at the end.
    /// - Throws: ``CommandFailure`` if input can't be read or a line is too long. Reading then stops.
    mutating func nextBlock() throws(CommandFailure) -> [ArraySlice<UInt8>]? {
        guard !isAtEnd else { return nil }
        var searched = 0
        while true {
            guard try readMore() else {
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
                let message = "The line has more than \(maximumLength) characters. Reading stopped there."
                throw CommandFailure("line-too-long", message, offset: searched)
            }
        }
    }

    private mutating func readMore() throws(CommandFailure) -> Bool {
        do throws(StorageError) {
            return try input.read(into: &pending)
        } catch {
            isAtEnd = true
            throw CommandFailure(input: error, offset: 0)
        }
    }

    private func split(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        text.split(separator: 0x0A, omittingEmptySubsequences: false)
    }
}

/// Parses bytes from hex. Spaces, tabs and colons are skipped.
enum HexText {
    static func bytes(_ line: ArraySlice<UInt8>) -> Result<[UInt8], CommandFailure> {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.count / 2)
        var high: UInt8?
        for index in line.indices {
            let character = line[index]
            guard let value = character.hexDigitValue else {
                if character == 0x20 || character == 0x09 || character == 0x3A || character == 0x0D { continue }
                let offset = index - line.startIndex
                let message = "Character \(offset + 1) of the line is not a hex digit."
                return .failure(CommandFailure("bad-hex", message, offset: offset))
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        guard high == nil else {
            let message = "The line has an odd number of hex digits."
            return .failure(CommandFailure("bad-hex", message, offset: line.count))
        }
        return .success(bytes)
    }
}
