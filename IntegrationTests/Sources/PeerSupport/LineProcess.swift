// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

/// A program with a line protocol: one line in, one line out.
///
/// Each question ends, with any program: with a line, with the program's end, or when the program is killed after the time
/// limit. Its standard error is that of the tests. The program is killed with the last reference.
public final class LineProcess: @unchecked Sendable {
    // Safe: mutable state is used only on `queue`, except in deinit, when there is no other reference.
    private let queue = DispatchQueue(label: "LineProcess")
    private let child: ChildProcess
    private var received: [UInt8] = []
    private var status: Int32?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - arguments: its arguments.
    /// - Throws: ``PeerError`` when it can't be started.
    public init(_ path: String, _ arguments: [String]) throws(PeerError) {
        child = try ChildProcess(path, arguments)
    }

    deinit {
        if status == nil { _ = child.wait(until: .now) }
    }

    /// Sends a line and waits for one.
    ///
    /// - Parameters:
    ///   - line: the line, without its end.
    ///   - limit: how long the answer may take. Then the program is killed.
    /// - Returns: the answer, without its end.
    /// - Throws: ``PeerError`` when the program ended, or was killed.
    public func ask(_ line: String, within limit: Duration = .seconds(60)) async throws -> String {
        try await onQueue { try self.exchange(line, .now + limit) }
    }

    /// Closes the program's standard input, and waits for its end.
    ///
    /// - Parameter limit: how long it may take. Then the program is killed.
    /// - Returns: its exit status; that of a killed program is the signal's number, negated.
    public func finish(within limit: Duration = .seconds(20)) async throws -> Int32 {
        try await onQueue {
            self.child.closeInput()
            return self.end(.now + limit)
        }
    }

    // MARK: On the queue

    private func onQueue<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }

    private func exchange(_ line: String, _ deadline: ContinuousClock.Instant) throws -> String {
        if let status { throw PeerError("The program has ended already, with \(status).") }
        guard child.write(Array(line.utf8) + [0x0A]) else {
            throw PeerError("The program does not listen any more; it ended with \(end(deadline)).")
        }
        while true {
            if let end = received.firstIndex(of: 0x0A) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            switch child.read(until: deadline) {
            case .bytes(let bytes):
                received += bytes
            case .end:
                throw PeerError("The program ended with \(end(deadline)) instead of an answer.")
            case .nothing:
                throw PeerError("The program gave no answer in time; it was killed and ended with \(end(.now)).")
            }
        }
    }

    /// Waits for the program's end, once, and kills it if that takes too long.
    private func end(_ deadline: ContinuousClock.Instant) -> Int32 {
        let status = self.status ?? child.wait(until: deadline)
        self.status = status
        return status
    }
}
