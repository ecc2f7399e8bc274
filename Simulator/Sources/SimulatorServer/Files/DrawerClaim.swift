// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// Keeps other simulators out of a drawer's folder: a lock on a file in it, which ends with the process.
final class DrawerClaim: Sendable {
    private static let name = ".simulator.lock"

    private let descriptor: Int32

    /// Claims a folder.
    ///
    /// - Parameter folder: its path.
    /// - Throws: `StorageError` with `inUse` when another simulator has it.
    init(_ folder: String) throws(StorageError) {
        let path = folder + "/" + Self.name
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        // In a folder that can't be written two simulators do each other no harm.
        guard descriptor >= 0 else { return }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // The object is not complete, so that it does not close the descriptor too.
            let owner = Self.process(descriptor).map { "The simulator with process \($0)" } ?? "Another simulator"
            close(descriptor)
            throw StorageError(
                .inUse,
                "\(owner) uses the tags in \(folder). End it, or choose another folder with --tags."
            )
        }
        let line = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = unsafe line.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The process in the file.
    private static func process(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split { $0 == " " || $0 == "\n" }.first
            .flatMap { Int32($0) }
    }
}
