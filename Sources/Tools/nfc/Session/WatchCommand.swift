// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import LinuxSupport
import NDEF
import NFCReaders
import NFCSessions
import TagLink

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print each tag that arrives at the reader or leaves it, until Ctrl-C.",
        discussion: """
            Unlike nfc scan, it shows no scanning sheet and has no time limit. While it
            runs, background reading pauses.

            Examples:
              nfc watch
              nfc watch --json --reader pcsc
              nfc watch folder-of-images

            Exit status: 0 when the time of --timeout is over, 2 for wrong usage, 3
            without a reader, 130 after Ctrl-C.
            """
    )

    @Argument(help: ArgumentHelp("An image, or a folder of them, to watch instead, like --tags.", valueName: "image"))
    var image: String?

    @OptionGroup var reader: ReaderOptions

    @Option(help: "Stop after this many seconds.")
    var timeout: SecondsArgument?

    @Flag(help: "Print one JSON object per arrival or departure.")
    var json = false

    mutating func validate() throws {
        try reader.use(image: image)
        if let timeout = timeout?.value, !(timeout > 0 && timeout <= 86400) {
            throw ValidationError("--timeout takes a number of seconds above 0, up to 86400.")
        }
    }

    private enum End: Sendable {
        case interrupted
        case timeIsOver
        case outputIsBroken
        case noReader(reason: String)
    }

    func run() async throws {
        let environment = try reader.environment(recording: "")
        // The background service releases the reader for as long as this exists.
        let claim = await ReaderGate.ofUser.claim(for: .session, clock: environment.clock)
        defer { withExtendedLifetime(claim) {} }
        let (ends, continuation) = AsyncStream.makeStream(of: End.self)
        let log = WatchLog(reader: environment.driver?.name, json: json)
        let watcher = TagWatcher(environment) { event in
            if let reason = log.note(event) { continuation.yield(.noReader(reason: reason)) }
            if StandardOutput.isBroken { continuation.yield(.outputIsBroken) }
        }
        guard let watcher else { throw CommandFailure(.noReader, "no-reader", "There is no reader.").on(nil) }
        let signals = ProcessSignals([SIGINT, SIGTERM]) { _ in continuation.yield(.interrupted) }
        defer { withExtendedLifetime(signals) {} }
        if let timeout {
            _ = environment.clock.schedule(after: .seconds(timeout.value)) { continuation.yield(.timeIsOver) }
        }
        watcher.start()
        let end = await ends.first { _ in true }
        await watcher.stop()
        switch end {
        case .interrupted: throw ExitCode(CommandFailure.Status.cancelled.rawValue)
        case .noReader(let reason): throw CommandFailure.unusable(environment.driver, reason).on(log.reader)
        case .timeIsOver, .outputIsBroken, nil: break
        }
    }
}

/// Prints the arrivals and departures of tags. Called for one event at a time.
private final class WatchLog: Sendable {
    private struct State {
        var near: [[UInt8]] = []
        var wasAvailable = false
    }

    let reader: String?
    private let json: Bool
    private let state = Locked(State())

    init(reader: String?, json: Bool) {
        self.reader = reader
        self.json = json
    }

    /// Prints an event. Returns a reason to stop if the reader never worked.
    func note(_ event: TagWatcher.Event) -> String? {
        switch event {
        case .available: state.withLock { $0.wasAvailable = true }
        case .unavailable(let reason):
            guard state.withLock({ $0.wasAvailable }) else { return reason }
            leave(except: [])
            StandardError.writeLine(reason)
        case .near(let identifiers): leave(except: identifiers)
        case .read(let reading):
            state.withLock { $0.near.append(reading.identifier) }
            arrive(reading)
        }
        return nil
    }

    private func leave(except identifiers: [[UInt8]]) {
        let gone = state.withLock { state in
            defer { state.near.removeAll { !identifiers.contains($0) } }
            return state.near.filter { !identifiers.contains($0) }
        }
        for uid in gone { printResult(json: json, object("left", uid, nil), ["\(uid.hexText()) left"]) }
    }

    private func arrive(_ reading: TagWatcher.Reading) {
        let message = reading.message.map(TagReport.lines(for:)) ?? ["No NDEF"]
        printResult(
            json: json,
            object("arrived", reading.identifier, reading.message),
            ["\(reading.identifier.hexText()) arrived"] + message.map { "  \($0)" }
        )
    }

    private func object(_ event: String, _ uid: [UInt8], _ message: [UInt8]?) -> JSONObject {
        let decoded = message.flatMap { $0.isEmpty ? NDEFMessage([]) : try? NDEFMessage(decoding: $0) }
        return [
            "ok": true, "event": event, "reader": reader, "uid": uid.hexText(), "message_hex": message?.hexText(),
            "records": decoded?.records,
        ]
    }
}
