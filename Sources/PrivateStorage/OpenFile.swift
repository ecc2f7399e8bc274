// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads and writes open files whole.
enum OpenFile {
    /// Reads an ordinary file to its end.
    static func read(_ file: Int32, limit: Int, name: String) throws(StorageError) -> [UInt8] {
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system("\(name) can't be read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw StorageError(.unsafe, "\(name) is no ordinary file.") }
        guard status.st_size <= limit else { throw tooLarge(name, limit) }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            if count == 0 { return octets }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .system("\(name) can't be read")
            }
            octets += buffer[..<count]
            guard octets.count <= limit else { throw tooLarge(name, limit) }
        }
    }

    /// Writes octets, and waits until they are on the disk.
    static func write(_ file: Int32, _ octets: [UInt8], name: String) throws(StorageError) {
        var written = 0
        while written < octets.count {
            let count = unsafe octets.withUnsafeBytes { buffer in
                unsafe Glibc.write(file, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count > 0 {
                written += count
            } else if errno != EINTR {
                throw .system("\(name) can't be written")
            }
        }
        guard fsync(file) == 0 else { throw .system("\(name) can't be written") }
    }

    private static func tooLarge(_ name: String, _ limit: Int) -> StorageError {
        StorageError(.tooLarge, "\(name) is larger than \(limit) octets.")
    }
}

/// A file that decides what may happen: only the user and the system's owner may have written it.
public enum TrustedFile {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - limit: the most octets.
    /// - Throws: ``StorageError``; of code `unsafe` when it belongs to somebody else, when others may write it, or when it
    ///   is no ordinary file.
    public static func read(_ path: String, limit: Int) throws(StorageError) -> [UInt8] {
        // Without waiting: opening a pipe would wait for whoever writes it.
        let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw .system("\(path) can't be read") }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system("\(path) can't be read") }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw StorageError(.unsafe, "\(path) belongs to another user.")
        }
        guard status.st_mode & 0o022 == 0 else { throw StorageError(.unsafe, "\(path) can be written by others.") }
        return try OpenFile.read(file, limit: limit, name: path)
    }

    /// The names of the files of a folder, sorted; none when it can't be read.
    ///
    /// - Parameters:
    ///   - path: the folder's path.
    ///   - suffix: what the names end in.
    ///   - limit: the most names.
    public static func names(in path: String, suffix: String, limit: Int) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        var seen = 0
        while let entry = unsafe readdir(folder), names.count < limit, seen < 100 * limit {
            seen += 1
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(suffix), name != "." + suffix { names.append(name) }
        }
        return names.sorted()
    }
}
