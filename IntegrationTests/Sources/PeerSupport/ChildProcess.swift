// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A child process whose standard input and output are one end of a pair of sockets.
///
/// No other process inherits the child's end, and the child inherits no other end.
final class ChildProcess {
    /// The result of a read.
    enum Output {
        case bytes([UInt8])
        /// The child closed its output.
        case end
        /// There was no output before the time limit.
        case nothing
    }

    let program: SpawnedProgram
    private let socket: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - arguments: its arguments.
    ///   - environment: variables in addition to those of the tests.
    ///   - joinsErrors: whether standard error also goes to the socket, and not to that of the tests.
    init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        joinsErrors: Bool = false
    ) throws(PeerError) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw PeerError("There are no sockets: error \(errno).")
        }
        // The child now has this end. If we kept it open, we would not see when the child closes it.
        defer { close(ends[1]) }
        do throws(PeerError) {
            program = try SpawnedProgram(
                path,
                arguments,
                environment: environment,
                descriptors: [STDIN_FILENO: ends[1], STDOUT_FILENO: ends[1]]
                    .merging(joinsErrors ? [STDERR_FILENO: ends[1]] : [:]) { $1 }
            )
        } catch {
            close(ends[0])
            throw error
        }
        socket = ends[0]
    }

    deinit {
        close(socket)
    }

    /// Closes the child's input.
    func closeInput() {
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Writes all bytes.
    ///
    /// - Returns: whether the child received them.
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
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

    /// Waits for output, and reads it.
    func read(until deadline: ContinuousClock.Instant) -> Output {
        while true {
            var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&poller, 1, Self.milliseconds(until: deadline))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return .nothing }
            var chunk = [UInt8](repeating: 0, count: 65536)
            let count = unsafe Glibc.read(socket, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            // A child that ends with unread input resets the connection, which also counts as the end.
            return count > 0 ? .bytes(Array(chunk.prefix(count))) : .end
        }
    }

    /// Waits for the child's end, and kills it if that takes too long.
    ///
    /// - Returns: its exit status, or the number of the signal that ended it, negated.
    func wait(until deadline: ContinuousClock.Instant) -> Int32 {
        while true {
            if let status = program.status { return status }
            if ContinuousClock.now >= deadline { program.send(signal: SIGKILL) }
            usleep(2000)
        }
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = max(.zero, deadline - ContinuousClock.now)
        return Int32(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000)
    }
}
