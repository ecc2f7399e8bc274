// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import ReaderEmulation
import TagLink

/// Waits for the events that end an emulation.
final class EmulationSignals: @unchecked Sendable {
    // Sendable because its state changes only during init, and dispatch sources may be used from any thread.

    /// The reason for the end.
    enum End: String, Sendable {
        case interrupt, termination, timeout
        /// Standard output can't be written any more.
        case outputBroken = "output-broken"
        case daemonEnded = "pcscd-ended"
    }

    private enum Event: Sendable {
        case end(End)
        /// A pcscd has the reader.
        case taken
        /// The private pcscd may have ended.
        case childEnded
    }

    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let signals: ProcessSignals
    private var timer: (any DispatchSourceTimer)?
    private let failure = Locked<String?>(nil)

    /// Starts to listen for Ctrl-C, the signals that end a process, and the end of child processes.
    ///
    /// - Parameter seconds: when to stop; nil for never.
    init(seconds: Double?) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        self.continuation = continuation
        signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP, SIGCHLD]) { number in
            switch number {
            case SIGINT: continuation.yield(.end(.interrupt))
            case SIGCHLD: continuation.yield(.childEnded)
            default: continuation.yield(.end(.termination))
            }
        }
        if let seconds {
            let timer = DispatchSource.makeTimerSource()
            timer.setEventHandler { continuation.yield(.end(.timeout)) }
            timer.schedule(deadline: .now() + seconds)
            timer.activate()
            self.timer = timer
        }
    }

    /// Notes that a pcscd has the reader.
    func readerIsTaken() {
        continuation.yield(.taken)
    }

    /// Notes that standard output can't be written any more.
    func outputIsBroken() {
        continuation.yield(.end(.outputBroken))
    }

    /// Waits until the private pcscd has the reader.
    ///
    /// - Returns: the reason when the emulation ended first; nil when pcscd has the reader.
    func waitForReader(_ daemon: PrivatePCSCD) async -> End? {
        let limit = DispatchSource.makeTimerSource()
        limit.setEventHandler { [continuation, failure] in
            failure.withLock { $0 = "pcscd has not loaded the reader. See \(daemon.logPath)." }
            continuation.yield(.end(.daemonEnded))
        }
        limit.schedule(deadline: .now() + Self.startLimit)
        limit.activate()
        defer { limit.cancel() }
        return await next(daemon, untilTaken: true)
    }

    /// How many seconds a pcscd may take to load a reader.
    private static let startLimit = 10.0

    /// Why the private pcscd ended by itself.
    var daemonFailure: String? { failure.withLock { $0 } }

    /// Waits for what ends the emulation.
    ///
    /// - Parameter daemon: the private pcscd, whose end also ends the emulation.
    func wait(watching daemon: PrivatePCSCD? = nil) async -> End {
        await next(daemon, untilTaken: false) ?? .termination
    }

    private func next(_ daemon: PrivatePCSCD?, untilTaken: Bool) async -> End? {
        for await event in events {
            switch event {
            case .end(let end): return end
            case .taken: if untilTaken { return nil }
            case .childEnded:
                guard let reason = daemon?.failure() else { continue }
                failure.withLock { $0 = reason }
                return .daemonEnded
            }
        }
        return .termination
    }
}
