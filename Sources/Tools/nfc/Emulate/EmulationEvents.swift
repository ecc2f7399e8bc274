// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc
import ReaderEmulation
import TagLink
import VirtualTags

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

/// Reads commands for an emulation from standard input, one per line. Tests use them in place of a person at the reader.
struct EmulationCommands: Sendable {
    /// The help text about the lines.
    static let help = """
        With --commands it reads lines from standard input: remove and insert the
        tag; unplug and plug the reader of --pcsc; remove-at-write N and
        remove-at-exchange N remove the tag after the Nth write command, or before
        the Nth exchange, counted from 1.
        """

    let field: VirtualField
    let tag: any VirtualTag
    let output: EmulationOutput
    /// The reader, if it can be unplugged.
    var server: ReaderServer?

    /// Reads lines, on its own thread, until standard input ends.
    func start() {
        Thread { [self] in
            var lines = LineReader(maximumLength: Self.maximumLength)
            while let block = try? lines.nextBlock() {
                for line in block { take(String(decoding: line, as: UTF8.self)) }
            }
        }.start()
    }

    /// The longest line that is read; all commands are shorter.
    private static let maximumLength = 4096

    /// Performs a command, and tells whether there is such a one.
    func take(_ line: String) {
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

/// Saves what other programs write to a tag: soon after each write, and at the end.
final class EmulationSaver: Sendable {
    private let file: ImageFile
    private let tag: any VirtualTag
    private let out: String?
    private let onSaved: @Sendable (String) -> Void
    private let saved: Locked<TagContents?>
    private let changes: AsyncStream<Void>.Continuation

    /// Starts to save what changes, until the process ends.
    ///
    /// - Parameters:
    ///   - file: the image.
    ///   - tag: the tag that was made from it.
    ///   - out: the file to save to; nil for the image's own file.
    ///   - pause: waits between a change and its save.
    ///   - onSaved: called with the path of the file when it was saved.
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
        saved = Locked(TagContents(of: tag))
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes = continuation
        let save = { [file, tag, out, onSaved, saved] in
            _ = Self.save(file: file, tag: tag, out: out, onSaved: onSaved, saved: saved)
        }
        Task {
            for await _ in stream {
                // A program writes page after page. Wait, to save the file once for many pages.
                await pause()
                save()
            }
        }
    }

    /// Notes that the tag may have been written.
    func mayHaveChanged() {
        changes.yield()
    }

    /// Saves the last changes.
    func finish() throws(CommandFailure) {
        let failure = Self.save(file: file, tag: tag, out: out, onSaved: onSaved, saved: saved)
        if let failure { throw failure }
    }

    /// Saves the tag if its content has changed.
    ///
    /// - Returns: why it could not be saved.
    private static func save(
        file: ImageFile,
        tag: any VirtualTag,
        out: String?,
        onSaved: (String) -> Void,
        saved: Locked<TagContents?>
    ) -> CommandFailure? {
        let result = saved.withLock { saved -> Result<Bool, CommandFailure> in
            let now = TagContents(of: tag)
            guard now != saved else { return .success(false) }
            do throws(CommandFailure) {
                try file.save(tag, to: out)
                saved = now
                return .success(true)
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let isNew):
            if isNew { onSaved(file.path(out)) }
            return nil
        case .failure(let failure): return failure
        }
    }
}
