// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file that reserves disk space for cleaning up when the disk is full.
struct SpoolReserve {
    let path: String
    let size: Int

    /// Creates the file, if there is space for it.
    func make() {
        guard size > 0 else { return }
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        if posix_fallocate(file, 0, size) != 0 { _ = unsafe unlink(path) }
    }

    var exists: Bool { unsafe access(path, F_OK) == 0 }

    /// The free bytes on the disk; a huge number if unknown.
    var freeSpace: Int {
        var status = statvfs()
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/"
        guard unsafe statvfs(folder, &status) == 0 else { return Int.max / 2 }
        return Int(clamping: status.f_bavail).multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
            .partialValue
    }

    /// Deletes the file to free its space.
    func release() { _ = unsafe unlink(path) }
}
