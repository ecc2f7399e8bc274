// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Caches the lines of files, so that each file is split only once.
final class LineCache: @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by `lock`.
    private var lines: [String: [ArraySlice<UInt8>]] = [:]

    /// The lines of a file; empty if the file can't be read.
    func lines(_ path: String, _ files: any ProjectFiles) -> [ArraySlice<UInt8>] {
        lock.lock()
        defer { lock.unlock() }
        if let cached = lines[path] { return cached }
        let made = files.bytes(path).map { $0.split(separator: 0x0A, omittingEmptySubsequences: false) } ?? []
        lines[path] = made
        return made
    }
}
