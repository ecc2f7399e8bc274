// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The keys of the terminal on standard input, one after the other.
///
/// It reads only while ``next(within:)`` runs, because a scanning sheet may own the terminal in between.
@MainActor
final class Keyboard {
    private var decoder = KeyDecoder()
    private var keys: [Key] = []

    private enum Input: Sendable {
        case byte(UInt8)
        case nothing
        case closed
    }

    /// Waits for a key, without blocking the caller's thread.
    ///
    /// - Parameter milliseconds: how long to wait.
    /// - Returns: nil when no key came.
    func next(within milliseconds: Int32) async -> Key? {
        while keys.isEmpty {
            switch await Self.read(within: decoder.awaitsMore ? 50 : milliseconds) {
            case .byte(let byte): keys = decoder.take(byte)
            case .closed: return .closed
            case .nothing:
                keys = decoder.timeOut()
                if keys.isEmpty { return nil }
            }
        }
        return keys.removeFirst()
    }

    /// Waits until there is a key to read, and does not read it.
    ///
    /// - Parameter milliseconds: how long to wait.
    func wait(_ milliseconds: Int32) async {
        guard keys.isEmpty else { return }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                _ = Self.isReady(within: milliseconds)
                continuation.resume()
            }
        }
    }

    private static func read(within milliseconds: Int32) async -> Input {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: readByte(within: milliseconds)) }
        }
    }

    nonisolated private static func readByte(within milliseconds: Int32) -> Input {
        guard isReady(within: milliseconds) else { return .nothing }
        var byte: UInt8 = 0
        while true {
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count == 1 { return .byte(byte) }
            // A closed terminal gives an error or an end of file.
            guard count < 0, errno == EINTR || errno == EAGAIN else { return .closed }
            if errno == EAGAIN { return .nothing }
        }
    }

    nonisolated private static func isReady(within milliseconds: Int32) -> Bool {
        var poller = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&poller, 1, milliseconds) > 0
    }
}
