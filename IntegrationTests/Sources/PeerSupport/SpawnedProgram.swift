// SPDX-License-Identifier: Apache-2.0
import CSpawnActions
import Foundation
import Glibc
import Synchronization

/// A started program. It inherits only the listed descriptors.
///
/// `Foundation.Process` detects a program's end by a socket. Another program that is started at the same moment may inherit
/// the socket, and then the end is never detected.
public final class SpawnedProgram: Sendable {
    private struct State: Sendable {
        var status: Int32?
        var waiting: [Int: CheckedContinuation<Int32?, Never>] = [:]
        var nextKey = 0
    }

    /// Its process identifier.
    public let identifier: Int32
    private let state: Mutex<State>

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - arguments: its arguments.
    ///   - environment: variables in addition to those of the tests.
    ///   - folder: the folder in which it runs; nil for that of the tests.
    ///   - descriptors: the descriptors that it inherits, by their numbers in the program.
    /// - Throws: ``PeerError`` when it can't be started.
    public init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        folder: String? = nil,
        descriptors: [Int32: Int32]
    ) throws(PeerError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // Copy them first to high numbers, so that they don't collide with the numbers in the program.
        let copies = descriptors.mapValues { fcntl($0, F_DUPFD_CLOEXEC, 64) }
        defer { for copy in copies.values { close(copy) } }
        for (number, copy) in copies { unsafe posix_spawn_file_actions_adddup2(&actions, copy, number) }
        _ = unsafe spawnActionsCloseFrom(&actions, max(2, descriptors.keys.max() ?? 0) + 1)
        if let folder { _ = unsafe spawnActionsChangeFolder(&actions, folder) }
        // Threads that run tests block signals, and a program would inherit that.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        var settings = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (words + settings).forEach { unsafe free($0) } }
        var started: pid_t = 0
        let code = unsafe posix_spawn(&started, path, &actions, &attributes, &words, &settings)
        guard code == 0 else { throw PeerError("\(path) can't be started: error \(code).") }
        identifier = started
        state = Mutex(State())
        let thread = Thread { [self] in reap() }
        thread.start()
    }

    /// The exit status, or the number of the signal that ended it, negated; nil while it runs.
    public var status: Int32? { state.withLock { $0.status } }

    /// Sends a signal, unless the program has ended.
    public func send(signal: Int32) {
        // Under the lock, so that the identifier can't belong to another process by now.
        state.withLock { state in
            if state.status == nil { kill(identifier, signal) }
        }
    }

    /// Waits for its end.
    ///
    /// - Parameter limit: how long to wait.
    /// - Returns: the ``status``; nil when the program still runs.
    public func end(within limit: Duration) async -> Int32? {
        await withCheckedContinuation { continuation in
            let key = state.withLock { state -> Int? in
                if let status = state.status {
                    continuation.resume(returning: status)
                    return nil
                }
                state.nextKey += 1
                state.waiting[state.nextKey] = continuation
                return state.nextKey
            }
            guard let key else { return }
            let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) * 1e-18
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
                state.withLock { $0.waiting.removeValue(forKey: key) }?.resume(returning: nil)
            }
        }
    }

    private func reap() {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (status, waiting) = state.withLock { state in
            var word: Int32 = 0
            _ = unsafe waitpid(identifier, &word, 0)
            let signal = word & 0x7F
            let status = signal == 0 ? word >> 8 & 0xFF : -signal
            state.status = status
            defer { state.waiting = [:] }
            return (status, Array(state.waiting.values))
        }
        for continuation in waiting { continuation.resume(returning: status) }
    }
}
