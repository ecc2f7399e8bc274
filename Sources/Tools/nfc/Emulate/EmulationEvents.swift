// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import ReaderEmulation
import TagLink
import VirtualTags

final class EmulationSignals: Sendable {
    enum End: String, Sendable {
        case interrupt, termination, timeout
        case outputBroken = "output-broken"
        case daemonEnded = "pcscd-ended"
        /// The chip that shows the card over the air does not answer any more.
        case readerGone = "reader-gone"
    }

    private enum Event: Sendable {
        case end(End)
        case taken
        /// The private pcscd may have exited.
        case childEnded
    }

    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let signals: ProcessSignals
    private let failure = Locked<String?>(nil)

    /// Starts listening for Ctrl-C, termination signals and the exit of child processes. If `seconds` is nil, there is
    /// no time limit.
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
        if let seconds { Self.after(seconds) { continuation.yield(.end(.timeout)) } }
    }

    func readerIsTaken() { continuation.yield(.taken) }

    /// Records that the chip that shows the card over the air is gone.
    func readerIsGone() { continuation.yield(.end(.readerGone)) }

    func outputIsBroken() { continuation.yield(.end(.outputBroken)) }

    /// Waits until the private pcscd has connected to the reader. Returns nil then; if the emulation ends first,
    /// returns the reason.
    func waitForReader(_ daemon: PrivatePCSCD) async -> End? {
        let limit = Self.after(Self.startLimit) { [continuation, failure] in
            failure.withLock { $0 = "pcscd has not loaded the reader. See \(daemon.logPath)." }
            continuation.yield(.end(.daemonEnded))
        }
        defer { limit.cancel() }
        return await next(daemon, untilTaken: true)
    }

    @discardableResult
    private static func after(_ seconds: Double, _ action: @escaping @Sendable () -> Void) -> DispatchWorkItem {
        let item = DispatchWorkItem(block: action)
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: item)
        return item
    }

    /// How many seconds pcscd may take to load a reader.
    private static let startLimit = 10.0

    var daemonFailure: String? { failure.withLock { $0 } }

    /// Waits until the emulation ends. It also ends if the private pcscd exits.
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

/// Reads commands for an emulation from standard input, one per line. Tests use them to simulate a user at the reader.
struct EmulationCommands: Sendable {
    static let help = """
        With --commands it reads lines from standard input: remove and insert the
        tag; unplug and plug the reader of --pcsc; remove-at-write N and
        remove-at-exchange N remove the tag after the Nth write command, or before
        the Nth exchange, counted from 1.
        """

    let field: VirtualField
    let tag: any VirtualTag
    let output: EmulationOutput
    /// The PC/SC reader, which can be unplugged; nil for a PN532.
    var server: ReaderServer?

    func start() {
        Thread { [self] in
            var lines = LineReader(maximumLength: Self.maximumLength)
            while let block = try? lines.nextBlock() {
                for line in block { take(String(decoding: line, as: UTF8.self)) }
            }
        }.start()
    }

    private static let maximumLength = 4096

    /// Performs a command, and reports whether the command is known.
    func take(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        let isKnown = perform(words.first ?? "", words.dropFirst().map { Int($0) })
        let report = { @Sendable in output.command(line, isKnown: isKnown) }
        if let server { server.whenSettled(report) } else { report() }
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

/// Saves changes that other programs make to a tag: shortly after each write, and at the end.
final class EmulationSaver: Sendable {
    private let file: ImageFile
    private let tag: any VirtualTag
    private let out: String?
    private let onSaved: @Sendable (String) -> Void
    private let savedContents: Locked<TagContents?>
    private let changes: AsyncStream<Void>.Continuation

    /// Starts saving changes until the process ends.
    init(
        file: ImageFile,
        tag: any VirtualTag,
        out: String?,
        pause: @escaping @Sendable () async -> Void = { try? await Task.sleep(for: .milliseconds(200)) },
        onSaved: @escaping @Sendable (String) -> Void
    ) {
        self.file = file
        self.tag = tag
        self.out = out
        self.onSaved = onSaved
        savedContents = Locked(TagContents(of: tag))
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes = continuation
        Task { [weak self] in
            for await _ in stream {
                // Programs write one page at a time. Wait, so that many writes cause only one save.
                await pause()
                // Errors are reported by the final save.
                try? self?.finish()
            }
        }
    }

    func mayHaveChanged() { changes.yield() }

    func finish() throws {
        let isNew = try savedContents.withLock { saved in
            let now = TagContents(of: tag)
            guard now != saved else { return false }
            try file.save(tag, to: out)
            saved = now
            return true
        }
        if isNew { onSaved(file.path(out)) }
    }
}
