// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import ReaderEmulation
import TagLink
import VirtualTags

/// Waits for what ends an emulation.
final class EmulationSignals: @unchecked Sendable {
    // Sendable because what is changed is changed while it is made, and dispatch sources may be used from any thread.

    /// What ended it.
    enum End: String, Sendable {
        case interrupt, termination, timeout
        /// Nobody takes what the emulation says.
        case outputBroken = "output-broken"
        case daemonEnded = "pcscd-ended"
    }

    private enum Event: Sendable {
        case end(End)
        /// A pcscd has the reader.
        case taken
        /// A pcscd of ours may have ended.
        case childEnded
    }

    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let signals: ProcessSignals
    private var timer: (any DispatchSourceTimer)?
    private let failure = Locked<String?>(nil)

    /// Begins to listen for Ctrl-C, the signals that end a process, and the end of children.
    ///
    /// - Parameter seconds: after how long to end; nil for never.
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

    /// Takes it that a pcscd has the reader.
    func readerIsTaken() {
        continuation.yield(.taken)
    }

    /// Takes it that standard output can't be written any more.
    func outputIsBroken() {
        continuation.yield(.end(.outputBroken))
    }

    /// Waits until a pcscd of ours has the reader.
    ///
    /// - Returns: what ended it before; nil when it has the reader.
    func waitForReader(_ daemon: PrivatePCSCD) async -> End? {
        let limit = DispatchSource.makeTimerSource()
        limit.setEventHandler { [continuation, failure] in
            failure.withLock { $0 = "pcscd has not loaded the reader; see \(daemon.logPath)." }
            continuation.yield(.end(.daemonEnded))
        }
        limit.schedule(deadline: .now() + Self.startLimit)
        limit.activate()
        defer { limit.cancel() }
        return await next(daemon, untilTaken: true)
    }

    /// How many seconds a pcscd may take to load a reader.
    private static let startLimit = 10.0

    /// Why the daemon ended by itself.
    var daemonFailure: String? { failure.withLock { $0 } }

    /// Waits for what ends the emulation.
    ///
    /// - Parameter daemon: the pcscd of ours, whose end is one of them.
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

/// Takes commands for an emulation from standard input, a line each, for a test that needs a hand at the reader.
struct EmulationCommands: Sendable {
    /// What the lines may be.
    static let help = """
        With --commands it takes lines from standard input: remove, insert, unplug
        and plug (the reader of --pcsc), remove-at-write N and remove-at-exchange N
        (the tag leaves after the Nth command that writes, or before the Nth
        exchange, from 1).
        """

    let field: VirtualField
    let tag: any VirtualTag
    let output: EmulationOutput
    /// The reader, where it can be unplugged.
    var server: ReaderServer?

    /// Takes lines, on a thread of its own, until there are no more.
    func start() {
        Thread { [self] in
            var lines = LineReader(maximumLength: Self.maximumLength)
            while let block = try? lines.nextBlock() {
                for line in block { take(String(decoding: line, as: UTF8.self)) }
            }
        }.start()
    }

    /// No command is as long as this.
    private static let maximumLength = 4096

    private func take(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        let isKnown = perform(words.first ?? "", words.dropFirst().map { Int($0) })
        let tell = { @Sendable in output.command(line, isKnown: isKnown) }
        if let server { server.whenSettled(tell) } else { tell() }
    }

    private func perform(_ command: String, _ numbers: [Int?]) -> Bool {
        switch (command, numbers.count, numbers.first ?? nil) {
        case ("remove", 0, _): field.remove(tag)
        case ("insert", 0, _):
            field.arm(FaultPlan())
            field.bring(tag)
        case ("unplug", 0, _), ("plug", 0, _):
            guard let server else { return false }
            server.setPlugged(command == "plug")
        case ("remove-at-write", 1, let count?) where count > 0:
            field.arm(FaultPlan([Fault(.loss, at: .write(count))]))
        case ("remove-at-exchange", 1, let count?) where count > 0:
            field.arm(FaultPlan([Fault(.loss, at: .exchange(count - 1))]))
        default: return false
        }
        return true
    }
}
