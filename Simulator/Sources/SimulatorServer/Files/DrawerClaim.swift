// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// Keeps other simulators out of a drawer's folder. Locks a file in the folder until the process ends.
final class DrawerClaim: Sendable {
    private static let name = ".simulator.lock"

    private let descriptor: Int32

    /// Claims a folder.
    ///
    /// - Parameter folder: the folder's path.
    /// - Throws: `StorageError` with `inUse` if another simulator uses the folder.
    init(_ folder: String) throws(StorageError) {
        let path = folder + "/" + Self.name
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        // Without the lock file, go on: two simulators can't interfere in a read-only folder.
        guard descriptor >= 0 else { return }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // Close the descriptor here, because `deinit` does not run if the initializer throws.
            let owner = Self.process(descriptor).map { "The simulator with process \($0)" } ?? "Another simulator"
            close(descriptor)
            throw StorageError(
                .inUse,
                "\(owner) uses the tags in \(folder). End that program, or choose another folder with --tags."
            )
        }
        let line = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = unsafe line.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads the process id from the lock file.
    private static func process(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split { $0 == " " || $0 == "\n" }.first
            .flatMap { Int32($0) }
    }
}
