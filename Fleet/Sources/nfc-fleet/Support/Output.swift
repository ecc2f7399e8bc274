// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Writes lines.
enum Output {
    /// What is to be done before the program ends because nobody reads its output any more.
    static let cleanUp = Mutex<@Sendable () -> Void>({})

    /// Writes a line to standard output. Ends the program when nobody reads it any more.
    static func line(_ text: String) {
        guard !write(text, to: STDOUT_FILENO) else { return }
        cleanUp.withLock { $0 }()
        exit(1)
    }

    /// Writes a line for people to standard error.
    static func note(_ text: String) { write(text, to: STDERR_FILENO) }

    /// - Returns: whether all of it was written.
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
