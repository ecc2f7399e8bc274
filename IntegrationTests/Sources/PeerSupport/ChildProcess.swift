// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A child process whose standard input and output are one end of a pair of sockets.
///
/// Nobody but the child inherits its end, and it inherits no other's: every descriptor that is opened here closes when a
/// program is started.
final class ChildProcess {
    /// What there was to read.
    enum Output {
        case octets([UInt8])
        /// The child closed its output.
        case end
        /// The time is up.
        case nothing
    }

    private let identifier: pid_t
    private let socket: Int32

    init(_ path: String, _ arguments: [String]) throws(PeerError) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw PeerError("There are no sockets: error \(errno).")
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        var started: pid_t = 0
        let code = unsafe posix_spawn(&started, path, &actions, nil, &words, environ)
        unsafe words.forEach { unsafe free($0) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        // The child has this end now; were it kept, the child's end could not be seen.
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw PeerError("\(path) can't be started: error \(code).")
        }
        identifier = started
        socket = ends[0]
    }

    deinit {
        close(socket)
    }

    /// Lets the child see the end of its input.
    func closeInput() {
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Writes octets, all of them.
    ///
    /// - Returns: whether the child took them.
    func write(_ octets: [UInt8]) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits for output, and reads what there is.
    func read(until deadline: ContinuousClock.Instant) -> Output {
        while true {
            var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&poller, 1, Self.milliseconds(until: deadline))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return .nothing }
            var chunk = [UInt8](repeating: 0, count: 65536)
            let count = unsafe Glibc.read(socket, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            // A child that ended with input unread resets the connection, which is an end too.
            return count > 0 ? .octets(Array(chunk.prefix(count))) : .end
        }
    }

    /// Waits for the child's end, and kills it when that takes too long. To be called once.
    ///
    /// - Returns: its exit status, or the number of the signal that ended it, negated.
    func wait(until deadline: ContinuousClock.Instant) -> Int32 {
        var status: Int32 = 0
        var options = WNOHANG
        while true {
            let ended = unsafe waitpid(identifier, &status, options)
            if ended == identifier { break }
            if ended < 0, errno != EINTR { return Int32.min }
            if ended == 0 {
                if ContinuousClock.now < deadline {
                    usleep(2000)
                } else {
                    kill(identifier, SIGKILL)
                    options = 0
                }
            }
        }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : -signal
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = max(.zero, deadline - ContinuousClock.now)
        return Int32(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000)
    }
}
