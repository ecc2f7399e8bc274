// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dispatch
import Foundation
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

            With --exec, it starts a program for each line, one after the other, without
            a shell. Its environment has NFC_TAG_EVENT (arrived or left), NFC_TAG_UID,
            NFC_TAG_READER, and of an arrived tag NFC_TAG_MESSAGE in hex, its first link
            as NFC_TAG_LINK and its first text as NFC_TAG_TEXT, as far as they have less
            than 100,000 bytes. These come from the tag, so don't trust them.

            Examples:
              nfc watch
              nfc watch --json --reader pcsc
              nfc watch --reader pcsc:ACR122U --reader pn532:/dev/ttyUSB0
              nfc watch --exec ./open-door.sh
              nfc watch folder-of-images

            Exit status: 0 when the time of --timeout is over, 2 for wrong usage, 3
            without a reader, 130 after Ctrl-C.
            """
    )

    @Argument(help: ArgumentHelp("An image, or a folder of them, to watch instead, like --tags.", valueName: "image"))
    var image: String?

    @Option(
        help: ArgumentHelp(
            "A reader, or several: \(ReaderKind.usage(for: .sessions)). Default: NFC_READER, or the first contactless "
                + "PC/SC reader.",
            valueName: "reader"
        )
    )
    var reader: [String] = []

    @Option(
        help: ArgumentHelp(
            "Images to bring near the virtual reader, one in each file, separated by commas.",
            valueName: "files"
        )
    )
    var tags: String?

    @Option(help: ArgumentHelp("A program to start for each line.", valueName: "program"))
    var exec: String?

    @Option(help: "Stop after this many seconds.")
    var timeout: SecondsArgument?

    @Flag(help: "Print one JSON object per arrival or departure.")
    var json = false

    private var readers: [ReaderOptions] {
        get throws {
            try (reader.isEmpty ? [nil] : reader.map(Optional.some)).map { name in
                var options = ReaderOptions()
                (options.reader, options.tags) = (name, tags)
                try options.use(image: image)
                try options.validate()
                return options
            }
        }
    }

    func validate() throws {
        guard try readers.count == 1 || tags == nil && image == nil else {
            throw ValidationError("An image is near one reader. Give one --reader, or no image.")
        }
        if let exec, ProgramPath.find(exec) == nil {
            throw ValidationError("--exec: '\(exec)' is no program that can be started. Name one, without arguments.")
        }
        if let timeout = timeout?.value, !(timeout > 0 && timeout <= 86400) {
            throw ValidationError("--timeout takes a number of seconds above 0, up to 86400.")
        }
    }

    private enum End: Sendable {
        case interrupted
        case timeIsOver
        case outputIsBroken
        case failed(CommandFailure)
    }

    func run() async throws {
        let environments = try readers.map { try $0.environment(recording: "") }
        // The background service releases the readers for as long as this exists.
        let claim = await ReaderGate.ofUser.claim(for: .session, clock: environments[0].clock)
        defer { withExtendedLifetime(claim) {} }
        let (ends, continuation) = AsyncStream.makeStream(of: End.self)
        let log = WatchLog(
            json: json,
            namesReaders: environments.count > 1,
            program: exec.flatMap { ProgramPath.find($0) }
        )
        let watchers = try environments.map { environment in
            let name = environment.driver?.name
            let watcher = TagWatcher(environment) { event in
                if let reason = log.note(event, at: name) {
                    continuation.yield(.failed(.unusable(environment.driver, reason).on(name)))
                }
                if StandardOutput.isBroken { continuation.yield(.outputIsBroken) }
            }
            guard let watcher else { throw CommandFailure(.noReader, "no-reader", "There is no reader.").on(nil) }
            return watcher
        }
        let signals = ProcessSignals([SIGINT, SIGTERM]) { _ in continuation.yield(.interrupted) }
        defer { withExtendedLifetime(signals) {} }
        if let timeout {
            _ = environments[0].clock.schedule(after: .seconds(timeout.value)) { continuation.yield(.timeIsOver) }
        }
        for watcher in watchers { watcher.start() }
        let end = await ends.first { _ in true }
        for watcher in watchers { await watcher.stop() }
        switch end {
        case .interrupted: throw ExitCode(CommandFailure.Status.cancelled.rawValue)
        case .failed(let failure): throw failure
        case .timeIsOver: log.waitForPrograms()
        case .outputIsBroken, nil: break
        }
    }
}

/// Prints the arrivals and departures of tags, and starts the program for each.
private final class WatchLog: Sendable {
    private struct Place {
        var near: [[UInt8]] = []
        var wasAvailable = false
    }

    private let json: Bool
    private let namesReaders: Bool
    private let program: String?
    /// Locked while a line is printed, so that lines of two readers don't mix.
    private let readers = Locked<[String?: Place]>([:])
    private let launches = DispatchQueue(label: "programs of nfc watch")

    init(json: Bool, namesReaders: Bool, program: String?) {
        self.json = json
        self.namesReaders = namesReaders
        self.program = program
    }

    /// Prints an event. Returns a reason to stop if the reader never worked.
    func note(_ event: TagWatcher.Event, at reader: String?) -> String? {
        readers.withLock { readers in
            var place = readers[reader] ?? Place()
            defer { readers[reader] = place }
            var near = place.near
            switch event {
            case .available: place.wasAvailable = true
            case .unavailable(let reason):
                guard place.wasAvailable else { return reason }
                near = []
                StandardError.writeLine(reason)
            case .near(let identifiers): near.removeAll { !identifiers.contains($0) }
            case .read(let reading):
                near.append(reading.identifier)
                print("arrived", reading.identifier, reading.message, at: reader)
            }
            for uid in place.near where !near.contains(uid) { print("left", uid, nil, at: reader) }
            place.near = near
            return nil
        }
    }

    private func print(_ event: String, _ uid: [UInt8], _ message: [UInt8]?, at reader: String?) {
        let decoded = message.flatMap { $0.isEmpty ? NDEFMessage([]) : try? NDEFMessage(decoding: $0) }
        let details = event == "left" ? [] : message.map(TagReport.lines(for:)) ?? ["No NDEF"]
        let name = namesReaders ? reader.map { " at \($0)" } ?? "" : ""
        printResult(
            json: json,
            [
                "ok": true, "event": event, "reader": reader, "uid": uid.hexText(), "message_hex": message?.hexText(),
                "records": decoded?.records,
            ],
            ["\(uid.hexText()) \(event)\(name)"] + details.map { "  \($0)" }
        )
        guard let program else { return }
        let contents = decoded?.records.compactMap { try? $0.content() } ?? []
        let variables: [String: String?] = [
            "NFC_TAG_EVENT": event, "NFC_TAG_UID": uid.hexText(), "NFC_TAG_READER": reader,
            "NFC_TAG_MESSAGE": message?.hexText(),
            "NFC_TAG_LINK": contents.lazy.compactMap { if case .uri(let record) = $0 { record.uri } else { nil } }
                .first,
            "NFC_TAG_TEXT": contents.lazy.compactMap { if case .text(let record) = $0 { record.text } else { nil } }
                .first,
        ]
        // Linux starts no program with a variable of 128 KiB or more.
        let short = variables.compactMapValues { $0 }.filter { $0.value.utf8.count < 100_000 }
        launches.async { Self.run(program, short) }
    }

    /// Waits until no program of a line that was printed runs any more.
    func waitForPrograms() { launches.sync {} }

    /// Runs the program to its end. Its output goes to standard error, because standard output has the lines.
    private static func run(_ program: String, _ variables: [String: String]) {
        var launch = ProgramLaunch(program, [program])
        // A variable can't have a zero byte.
        launch.environment = ProcessInfo.processInfo.environment.merging(variables.filter { !$0.value.contains("\0") })
        { $1 }
        launch.descriptors = [1: STDERR_FILENO, 2: STDERR_FILENO]
        do throws(ProgramLaunch.Failure) {
            let process = try launch.start()
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
        } catch {
            StandardError.writeLine("\(program) can't be started: \(error.reason).")
        }
    }
}
