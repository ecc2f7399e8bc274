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

    private let events: AsyncStream<End>
    private let continuation: AsyncStream<End>.Continuation
    private var sources: [any DispatchSourceProtocol] = []
    private let failure = Locked<String?>(nil)

    /// Begins to listen for Ctrl-C and the signals that end a process.
    ///
    /// - Parameter seconds: after how long to end; nil for never.
    init(seconds: Double?) {
        let (events, continuation) = AsyncStream.makeStream(of: End.self)
        self.events = events
        self.continuation = continuation
        for (number, end) in [(SIGINT, End.interrupt), (SIGTERM, .termination), (SIGHUP, .termination)] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield(end) }
            source.activate()
            sources.append(source)
        }
        // A host that closes its end is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        if let seconds {
            let timer = DispatchSource.makeTimerSource()
            timer.setEventHandler { continuation.yield(.timeout) }
            timer.schedule(deadline: .now() + seconds)
            timer.activate()
            sources.append(timer)
        }
    }

    /// Ends when a pcscd of ours does.
    func watch(_ daemon: PrivatePCSCD) {
        let check = { @Sendable [continuation, failure] in
            guard let reason = daemon.failure() else { return }
            failure.withLock { $0 = reason }
            continuation.yield(.daemonEnded)
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
        for await end in events { return end }
        return .termination
    }
}
