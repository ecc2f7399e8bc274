// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads and writes small files whole, without Foundation.
enum SmallFile {
    /// Why a file could not be read or written, as a sentence for people.
    struct Failure: Error {
        var reason: String
    }

    /// No image of a tag is as large as this; what is larger is not one.
    static let maximumSize = 16 << 20

    /// Reads a file.
    ///
    /// - Parameter path: the file's path.
    /// - Returns: its octets.
    static func read(_ path: String) throws(Failure) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "can't be read") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw failure(path, "can't be read")
            }
            bytes += buffer[..<count]
            guard bytes.count <= maximumSize else {
                throw Failure(reason: "\(path) is larger than any image of a tag.")
            }
        }
    }

    /// Writes a file so that it holds the old or the new octets, whatever happens meanwhile.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - bytes: its new octets.
    static func write(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        let temporary = "\(path).\(getpid()).tmp"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(temporary, "can't be written") }
        var written = 0
        var isWhole = true
        while isWhole, written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count > 0 { written += count } else if errno != EINTR { isWhole = false }
        }
        isWhole = isWhole && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWhole, unsafe rename(temporary, path) == 0 else {
            let failure = failure(path, "can't be written")
            unsafe unlink(temporary)
            throw failure
        }
    }

    private static func failure(_ path: String, _ what: String) -> Failure {
        Failure(reason: "\(path) \(what): \(unsafe String(cString: strerror(errno))).")
    }
}
