// SPDX-License-Identifier: Apache-2.0
import Glibc

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
