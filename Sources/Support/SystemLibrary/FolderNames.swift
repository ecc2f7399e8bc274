// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The names of what is in a folder of the system.
public enum FolderNames {
    /// Reads the names in a folder.
    ///
    /// - Parameters:
    ///   - path: the folder's path.
    ///   - limit: the most names. No more than a hundred times as many entries are looked at.
    ///   - isWanted: whether a name counts.
    /// - Returns: the names, sorted, without `.` and `..`; nil when the folder can't be read.
    public static func read(
        _ path: String,
        limit: Int = .max,
        where isWanted: (String) -> Bool = { _ in true }
    ) -> [String]? {
        guard let stream = unsafe opendir(path) else { return nil }
        return unsafe names(of: stream, limit, { String(decoding: $0, as: UTF8.self) }, isWanted)
    }

    /// Reads the names in a folder that is open, from the first one on.
    ///
    /// - Parameters:
    ///   - descriptor: the folder, which stays open.
    ///   - limit: the most names.
    ///   - text: the text of a name's bytes, for whom a name that is not UTF-8 matters.
    /// - Returns: the names, sorted, without `.` and `..`; nil when the folder can't be read, with the reason in `errno`.
    public static func read(
        _ descriptor: Int32,
        limit: Int = .max,
        text: ([UInt8]) -> String = { String(decoding: $0, as: UTF8.self) }
    ) -> [String]? {
        // A descriptor of its own, so that each reading begins at the beginning.
        let own = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { return nil }
        guard let stream = unsafe fdopendir(own) else {
            let number = errno
            close(own)
            errno = number
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
