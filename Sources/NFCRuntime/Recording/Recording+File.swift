// SPDX-License-Identifier: Apache-2.0
import Glibc

extension Recording {
    /// Reads a recording from a file, a piece at a time: a file that is none is noticed at its first line.
    ///
    /// - Parameter path: the file's path.
    /// - Throws: ``RecordingError``, whose reason names the file.
    public init(path: String) throws(RecordingError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.systemError(path, "can't be read") }
        defer { close(descriptor) }
        var parser = RecordingParser()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var total = 0
        do throws(RecordingError) {
            while true {
                let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw Self.systemError(path, "can't be read") }
                if count == 0 { break }
                total += count
                guard total <= Self.maximumLength else {
                    throw RecordingError(.tooLarge, "The file is longer than any recording. Record a shorter flow.")
                }
                try parser.take(buffer[..<count])
            }
            self = try parser.finish()
        } catch {
            if error.code == .unreadable { throw error }
            throw RecordingError(error.code, "\(path): \(error.reason)", line: error.line)
        }
    }

    static func systemError(_ path: String, _ what: String) -> RecordingError {
        RecordingError(.unreadable, "\(path) \(what): \(unsafe String(cString: strerror(errno))).")
    }
}
