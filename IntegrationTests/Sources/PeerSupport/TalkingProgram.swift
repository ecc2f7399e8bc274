// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A program that accepts lines of input, and prints lines when something happens.
///
/// Each wait ends: with the line, with the program's end, or at its time limit. The program is killed with the last reference.
public final class TalkingProgram: Sendable {
    private struct Waiter: Sendable {
        var isMeant: @Sendable (String) -> Bool
        var continuation: CheckedContinuation<Result<String, PeerError>, Never>
    }

    private struct State: Sendable {
        var lines: [String] = []
        /// The index of the first line that was not waited for yet.
        var cursor = 0
        var hasEnded = false
        var waiters: [Int: Waiter] = [:]
        var nextKey = 0
    }

    private let child: Child
    private let state = Shared()

    /// The state that the reading thread shares with the program.
    private final class Shared: Sendable {
        let value = Mutex(State())
    }

    /// Safe: one thread reads, writes are made under the lock of the state, and the rest is a program's own affair.
    private final class Child: @unchecked Sendable {
        let process: ChildProcess
        init(_ process: ChildProcess) { self.process = process }
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - arguments: its arguments.
    ///   - environment: variables in addition to those of the tests.
    /// - Throws: ``PeerError`` when it can't be started.
    public init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws(PeerError) {
        let process = try ChildProcess(path, arguments, environment: environment, joinsErrors: true)
        let child = Child(process)
        self.child = child
        Thread { [state] in Self.read(child, state) }.start()
    }

    deinit {
        child.process.program.send(signal: SIGKILL)
    }

    /// Its process identifier.
    public var identifier: Int32 { child.process.program.identifier }

    /// All of its output so far.
    public var output: String { state.value.withLock { $0.lines.joined(separator: "\n") } }

    /// Sends it a line.
    public func say(_ line: String) {
        state.value.withLock { _ in _ = child.process.write(Array(line.utf8) + [0x0A]) }
    }

    /// Waits for a line, and consumes it and the lines before it.
    ///
    /// - Parameters:
    ///   - limit: how long to wait.
    ///   - isMeant: returns whether a line is the right one.
    /// - Throws: ``PeerError`` when the program ended, or did not print the line in time.
    @discardableResult
    public func line(
        within limit: Duration = .seconds(20),
        where isMeant: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        let result = await withCheckedContinuation { continuation in
            let waiter = Waiter(isMeant: isMeant, continuation: continuation)
            let key = state.value.withLock { state -> Int? in
                if let index = state.lines[state.cursor...].firstIndex(where: isMeant) {
                    state.cursor = index + 1
                    continuation.resume(returning: .success(state.lines[index]))
                    return nil
                }
                if state.hasEnded {
                    continuation.resume(returning: .failure(Self.missing("ended without it", state)))
                    return nil
                }
                state.nextKey += 1
                state.waiters[state.nextKey] = waiter
                return state.nextKey
            }
            guard let key else { return }
            let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) * 1e-18
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [state] in
                let (waiter, error) = state.value.withLock { state in
                    (state.waiters.removeValue(forKey: key), Self.missing("did not say it in \(limit)", state))
                }
                waiter?.continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Waits for a line that contains a text.
    @discardableResult
    public func line(with text: String, within limit: Duration = .seconds(20)) async throws -> String {
        do {
            return try await line(within: limit) { $0.contains(text) }
        } catch let error as PeerError {
            throw PeerError("\(text): \(error)")
        }
    }

    /// Sends it a signal.
    public func send(signal: Int32) {
        child.process.program.send(signal: signal)
    }

    /// Closes its input.
    public func closeInput() {
        child.process.closeInput()
    }

    /// Waits for its end, and kills it if that takes too long. Then ``output`` has all of its output.
    ///
    /// - Returns: its exit status, or the number of the signal that ended it, negated.
    /// - Throws: ``PeerError`` when it did not end in time.
    public func end(within limit: Duration = .seconds(20)) async throws -> Int32 {
        if let status = await child.process.program.end(within: limit) {
            await untilAllIsRead()
            return status
        }
        send(signal: SIGKILL)
        throw PeerError("The program did not end in \(limit). It has said: \(output)")
    }

    /// Waits a short time until its output has also ended. A child of the program may keep the output open.
    private func untilAllIsRead() async {
        let limit = ContinuousClock.now + .seconds(1)
        while !state.value.withLock({ $0.hasEnded }), ContinuousClock.now < limit {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    private static func missing(_ what: String, _ state: State) -> PeerError {
        PeerError("The program \(what). It has said: \(state.lines.suffix(20).joined(separator: "\n"))")
    }

    private static func read(_ child: Child, _ state: Shared) {
        var rest: [UInt8] = []
        while case .bytes(let bytes) = child.process.read(until: .now + .seconds(3600)) {
            rest += bytes
            while let end = rest.firstIndex(of: 0x0A) {
                take(String(decoding: rest[..<end], as: UTF8.self), state)
                rest.removeFirst(end + 1)
            }
        }
        if !rest.isEmpty { take(String(decoding: rest, as: UTF8.self), state) }
        let (waiters, error) = state.value.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), missing("ended without it", state))
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
    }

    private static func take(_ line: String, _ state: Shared) {
        let met = state.value.withLock { state in
            state.lines.append(line)
            let met = state.waiters.filter { $0.value.isMeant(line) }
            for key in met.keys { state.waiters[key] = nil }
            if !met.isEmpty { state.cursor = state.lines.count }
            return Array(met.values)
        }
        for waiter in met { waiter.continuation.resume(returning: .success(line)) }
    }
}
