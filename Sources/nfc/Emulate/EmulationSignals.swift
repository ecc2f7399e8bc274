// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import ReaderEmulation
import TagLink

/// Waits for what ends an emulation.
final class EmulationSignals: @unchecked Sendable {
    // Sendable because the sources are made once, and dispatch sources may be used from any thread.

    /// What ended it.
    enum End: String, Sendable {
        case interrupt, termination, timeout
        case daemonEnded = "pcscd-ended"
    }

    private enum Event: Sendable {
        case end(End)
        /// A pcscd has the reader.
        case taken
    }

    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private var sources: [any DispatchSourceProtocol] = []
    private let failure = Locked<String?>(nil)

    /// Begins to listen for Ctrl-C and the signals that end a process.
    ///
    /// - Parameter seconds: after how long to end; nil for never.
    init(seconds: Double?) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        self.continuation = continuation
        for (number, end) in [(SIGINT, End.interrupt), (SIGTERM, .termination), (SIGHUP, .termination)] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield(.end(end)) }
            source.activate()
            sources.append(source)
        }
        // A host that closes its end is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        if let seconds {
            let timer = DispatchSource.makeTimerSource()
            timer.setEventHandler { continuation.yield(.end(.timeout)) }
            timer.schedule(deadline: .now() + seconds)
            timer.activate()
            sources.append(timer)
        }
    }

    /// Takes it that a pcscd has the reader.
    func readerIsTaken() {
        continuation.yield(.taken)
    }

    /// Waits until a pcscd of ours has the reader, and watches it from then on.
    ///
    /// - Returns: what ended it before; nil when it has the reader.
    func waitForReader(_ daemon: PrivatePCSCD) async -> End? {
        watch(daemon)
        let limit = DispatchSource.makeTimerSource()
        limit.setEventHandler { [continuation, failure] in
            failure.withLock { $0 = "It has not loaded the reader; see \(daemon.logPath)." }
            continuation.yield(.end(.daemonEnded))
        }
        limit.schedule(deadline: .now() + Self.startLimit)
        limit.activate()
        defer { limit.cancel() }
        for await event in events {
            if case .end(let end) = event { return end }
            return nil
        }
        return .termination
    }

    /// How many seconds a pcscd may take to load a reader.
    private static let startLimit = 10.0

    private func watch(_ daemon: PrivatePCSCD) {
        let check = { @Sendable [continuation, failure] in
            guard let reason = daemon.failure() else { return }
            failure.withLock { $0 = reason }
            continuation.yield(.end(.daemonEnded))
        }
        let source = DispatchSource.makeSignalSource(signal: SIGCHLD)
        source.setEventHandler(handler: check)
        source.activate()
        sources.append(source)
        // It may have ended before.
        check()
    }

    /// Why the daemon ended by itself.
    var daemonFailure: String? { failure.withLock { $0 } }

    /// Waits for the first of them.
    func wait() async -> End {
        for await event in events {
            if case .end(let end) = event { return end }
        }
        return .termination
    }
}
