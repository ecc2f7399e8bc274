// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Writes lines of text.
enum Output {
    /// Runs before the program exits because its output can't be written.
    static let cleanUp = Mutex<@Sendable () -> Void>({})

    /// Writes a line to standard output. Exits the program if nobody reads the output any more.
    static func line(_ text: String) {
        guard !write(text, to: STDOUT_FILENO) else { return }
        cleanUp.withLock { $0 }()
        exit(1)
    }

    /// Writes a line for people to standard error.
    static func note(_ text: String) { write(text, to: STDERR_FILENO) }

    /// - Returns: whether the whole line was written.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array((text + "\n").utf8)
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            bytes.removeFirst(count)
        }
        return true
    }
}
