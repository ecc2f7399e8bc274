// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The names of the entries of a folder.
package enum FolderNames {
    /// Reads the names in a folder.
    ///
    /// - Parameters:
    ///   - path: the folder's path.
    ///   - limit: the most names to return. At most a hundred times as many entries are read.
    ///   - isWanted: whether a name is included.
    /// - Returns: the names, sorted, without `.` and `..`; nil when the folder can't be read.
    package static func read(
        _ path: String,
        limit: Int = .max,
        where isWanted: (String) -> Bool = { _ in true }
    ) -> [String]? {
        guard let stream = unsafe opendir(path) else { return nil }
        return unsafe names(of: stream, limit, { String(decoding: $0, as: UTF8.self) }, isWanted)
    }

    /// Reads the names in an open folder, starting with the first one.
    ///
    /// - Parameters:
    ///   - descriptor: the folder. It stays open.
    ///   - limit: the most names to return.
    ///   - text: converts a name's bytes to text. Pass it when names that aren't UTF-8 matter.
    /// - Returns: the names, sorted, without `.` and `..`; nil when the folder can't be read, with the reason in `errno`.
    package static func read(
        _ descriptor: Int32,
        limit: Int = .max,
        text: ([UInt8]) -> String = { String(decoding: $0, as: UTF8.self) }
    ) -> [String]? {
        // A separate descriptor for reading, so that each call starts at the first entry.
        let own = unsafe openat(descriptor, ".", O_CLOEXEC)
        guard own != -1 else { return nil }
        guard let stream = unsafe fdopendir(own) else {
            close(own)
            return nil
        }
        return unsafe names(of: stream, limit, text) { _ in true }
    }

    /// Reads the names, and closes the folder.
    private static func names(
        of stream: OpaquePointer,
        _ limit: Int,
        _ text: ([UInt8]) -> String,
        _ isWanted: (String) -> Bool
    ) -> [String] {
        defer { unsafe closedir(stream) }
        var names: [String] = []
        var seen = 0
        let (most, isMany) = limit.multipliedReportingOverflow(by: 100)
        while names.count < limit, isMany || seen < most, let entry = unsafe readdir(stream) {
            seen += 1
            let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe Array(bytes.prefix { $0 != 0 })
            }
            let name = text(bytes)
            if name != ".", name != "..", isWanted(name) { names.append(name) }
        }
        return names.sorted()
    }
}
