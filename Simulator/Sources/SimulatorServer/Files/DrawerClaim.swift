// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// Keeps other simulators out of a drawer's folder: a lock on a file in it, which ends with the process.
final class DrawerClaim: Sendable {
    private static let name = ".simulator.lock"

    private let descriptor: Int32
    /// The port of the page at the last run, so that addresses stay; nil when none is known.
    let lastPort: UInt16?

    /// Claims a folder.
    ///
    /// - Parameter folder: its path.
    /// - Throws: `StorageError` with `inUse` when another simulator has it.
    init(_ folder: String) throws(StorageError) {
        let path = folder + "/" + Self.name
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        // In a folder that can't be written two simulators do each other no harm.
        guard descriptor >= 0 else {
            lastPort = nil
            return
        }
        let words = Self.words(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // The object is not complete, so that it does not close the descriptor too.
            let owner = words.first.map { "The simulator with process \($0)" } ?? "Another simulator"
            close(descriptor)
            throw StorageError(
                .inUse,
                "\(owner) uses the tags in \(folder). End it, or choose another folder with --tags."
            )
        }
        lastPort = words.count > 1 ? UInt16(words[1]) : nil
        write(port: lastPort)
    }

    /// Keeps the port of the page for the next run.
    func write(port: UInt16?) {
        let line = Array("\(getpid()) \(port.map { "\($0)" } ?? "")\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = unsafe line.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// What the file has: a process and a port.
    private static func words(_ descriptor: Int32) -> [Substring] {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split { $0 == " " || $0 == "\n" }
        return words.allSatisfy { $0.allSatisfy(\.isNumber) } ? words : []
    }
}
