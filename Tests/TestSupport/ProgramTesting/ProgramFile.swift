// SPDX-License-Identifier: Apache-2.0
package import Foundation
import Glibc

/// Files that a test writes, which no process has open for writing afterwards.
///
/// Linux runs no program that any process has open for writing (ETXTBSY), and only reports a file as written when the
/// last one closes it. Other tests start processes at the same time, and each has a copy of all that this process has
/// open. So the file is closed in programs, and waits for processes that do not run their program yet.
package enum ProgramFile {
    /// F_SETLEASE of Linux, which the C library only declares for its own extensions.
    private static let setLease: Int32 = 1024

    /// Writes a file, in place of an earlier one.
    ///
    /// - Parameters:
    ///   - text: its content, such as a script.
    ///   - path: its path. The folder has to exist.
    ///   - mode: its mode, regardless of the process's mask.
    package static func write(_ text: String, to path: String, mode: Int = 0o755) throws {
        try write(Data(text.utf8), to: path, mode: mode)
    }

    /// Copies a program.
    package static func copy(_ program: String, to path: String) throws {
        try write(try Data(contentsOf: URL(fileURLWithPath: program), options: .mappedIfSafe), to: path, mode: 0o755)
    }

    /// Writes bytes in the same way.
    package static func write(_ bytes: Data, to path: String, mode: Int) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: bytes)
        guard fchmod(file, mode_t(mode)) == 0 else { throw CocoaError(.fileWriteUnknown) }
        try handle.close()
        waitForWriters(of: path)
    }

    /// Waits until no process has a file open for writing. Only then does the system give a lease for reading.
    private static func waitForWriters(of path: String) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        for _ in 0..<5000 {
            if fcntl(file, setLease, Int32(F_RDLCK)) == 0 {
                // The lease would outlive this descriptor in copies of it.
                _ = fcntl(file, setLease, Int32(F_UNLCK))
                return
            }
            // Some file systems have no leases.
            guard errno == EAGAIN else { return }
            usleep(1000)
        }
    }
}
