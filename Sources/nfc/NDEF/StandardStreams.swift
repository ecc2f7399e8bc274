// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Standard input, as it comes.
enum StandardInput {
    /// Waits for octets.
    ///
    /// - Parameters:
    ///   - buffer: what to append them to.
    ///   - count: the most to take.
    /// - Returns: false at the end.
    static func read(into buffer: inout [UInt8], upTo count: Int) -> Bool {
        let block = unsafe [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
            var result = 0
            repeat {
                result = unsafe Glibc.read(STDIN_FILENO, memory.baseAddress, count)
            } while result < 0 && errno == EINTR
            initialized = max(result, 0)
        }
        buffer.append(contentsOf: block)
        return !block.isEmpty
    }

    /// Everything to the end.
    static func all() -> [UInt8] {
        var octets: [UInt8] = []
        while read(into: &octets, upTo: 1 << 16) {}
        return octets
    }
}

/// Standard output, written in large pieces.
struct StandardOutput {
    /// What isn't written yet.
    var buffer: [UInt8] = []

    /// Writes what is there.
    mutating func flush() {
        FileDescriptorOutput.write(buffer, to: STDOUT_FILENO)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes what is there when it is much.
    mutating func flushIfLarge() {
        if buffer.count >= 1 << 16 { flush() }
    }
}

/// Standard error.
enum StandardError {
    static func write(_ text: String) {
        FileDescriptorOutput.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

private enum FileDescriptorOutput {
    /// Writes all octets; stops where the other end has closed.
    static func write(_ octets: [UInt8], to descriptor: Int32) {
        unsafe octets.withUnsafeBytes { memory in
            var offset = 0
            while offset < memory.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: memory[offset...])
                let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    return
                }
                offset += count
            }
        }
    }
}

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

/// Why a line of input means nothing.
struct InputError: Error {
    /// The error's name.
    var name: String
    /// The character of the line, or the index of the record, where the fault lies.
    var offset: Int
    /// What is wrong, as a sentence.
    var message: String
}
