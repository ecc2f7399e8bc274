// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The app line by line: it reads commands from standard input, one per line, and does not control the terminal. It is for
/// scripts, simple terminals and screen readers.
///
/// Results go to standard output, notes and failures to standard error.
@MainActor
final class CommandInterface {
    private let reader: MessageReader
    private let input = LineInput()
    /// Whether a person types. Then there is a prompt, and Enter cancels a scan.
    private let hasPerson: Bool
    private var links: LinkReceiver?
    private var isBusy = false
    private var lastScanned: Int?
    private var signals: (any DispatchSourceSignal)?

    /// Why a command failed, as a sentence.
    private struct Failure: Error {
        var text: String
        /// The exit status of a script.
        var status: Int32 = 1
    }

    init(reader: MessageReader, hasPerson: Bool) {
        self.reader = reader
        self.hasPerson = hasPerson
    }

    /// Runs the commands.
    ///
    /// - Returns: the exit status: 1 when a command of a script failed, 3 when one had no reader.
    func run() async -> Int32 {
        var status: Int32 = 0
        await begin()
        while !StandardOutput.isBroken {
            prompt()
            guard let line = await input.next() else { break }
            _ = reader.reload()
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let command = words.first, !command.hasPrefix("#") else { continue }
            if ["quit", "exit", "q"].contains(command) { return withExtendedLifetime(links) { status } }
            do throws(Failure) {
                try await run(command, Array(words.dropFirst()))
            } catch {
                complain(error.text)
                if !hasPerson { status = max(status, error.status) }
            }
        }
        if hasPerson { say("") }
        return withExtendedLifetime(links) { status }
    }

    private func begin() async {
        if let note = reader.load() { complain(note) }
        // Without a reader, the framework reports the reason on standard error.
        _ = reader.canScan
        let links = LinkReceiver(
            AppDelegate(reader: reader) { [self] receipt in
                if hasPerson { say("\n\(Wording.arrived)") }
                show(receipt.number)
                if let failure = receipt.failure { complain(failure) }
                if !isBusy { prompt() }
            },
            isVisible: hasPerson
        )
        links.begin()
        self.links = links
        if links.state == .elsewhere { complain(Wording.linksElsewhere) }
        guard hasPerson else { return }
        let count = reader.store.messages.count
        say("Tag Reader. \(count == 1 ? "1 message" : "\(count) messages"). The command help lists the commands.")
        if reader.store.messages.contains(where: \.isNew) { say(Wording.arrivedBefore) }
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.interrupted() } }
        // Until it listens, Ctrl-C is ignored. So the first prompt waits for it.
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler { continuation.resume() }
            source.activate()
        }
        signals = source
        watch()
    }

    /// Handles Ctrl-C: cancels a scan, or ends the app when there is none.
    private func interrupted() {
        if isBusy { return reader.cancel() }
        say("")
        exit(130)
    }

    /// Reports from time to time what other instances of the app have changed.
    private func watch() {
        Task { [weak self] in
            while let self {
                try? await Task.sleep(for: .seconds(1))
                guard !isBusy else { continue }
                let added = reader.reload() ?? []
                let takesOver = await links?.takeOver() == true
                guard !added.isEmpty || takesOver else { continue }
                say("")
                if takesOver { say(Wording.linksHere) }
                for number in added { say("Another window added: \(row(number))") }
                prompt()
            }
        }
    }

    // MARK: Commands

    private func run(_ command: String, _ arguments: [String]) async throws(Failure) {
        switch command {
        case "scan": try await scan(arguments)
        case "list": try list(arguments)
        case "show": show(try number(arguments))
        case "write": try await write(number(arguments))
        case "delete" where arguments.isEmpty: throw Failure(text: "Use: delete N")
        case "delete": try delete(number(arguments))
        case "help": say(Self.help)
        default: throw Failure(text: "There is no command \(command). The command help lists them.")
        }
    }

    private func scan(_ arguments: [String]) async throws(Failure) {
        var limit: Int?
        if let text = arguments.dropFirst().first {
            guard let number = Int(text), number > 0 else { throw Failure(text: "Use: scan [--many [COUNT]]") }
            limit = number
        }
        guard arguments.isEmpty || (arguments[0] == "--many" && arguments.count <= 2) else {
            throw Failure(text: "Use: scan [--many [COUNT]]")
        }
        let result = await cancellable { await reader.scan(readsMany: !arguments.isEmpty, limit: limit) }
        for number in result.added { say(row(number)) }
        lastScanned = result.added.last
        if let failure = result.failure { throw Failure(text: failure) }
        if let alert = result.alert {
            throw failure(alert, isWithoutReader: result.isWithoutReader)
        }
    }

    private func list(_ arguments: [String]) throws(Failure) {
        guard arguments.isEmpty else { throw Failure(text: "Use: list") }
        if reader.store.messages.isEmpty { say("No messages.") }
        for message in reader.store.messages { say(MessageLines.row(of: message)) }
    }

    private func show(_ number: Int) {
        guard let message = reader.store.message(number)?.message else { return }
        for line in MessageLines.details(of: message, number: number) { say(line.text) }
        reader.markSeen(number)
    }

    private func write(_ number: Int) async throws(Failure) {
        guard let message = reader.store.message(number) else { return }
        switch await cancellable({ await reader.write(message) }) {
        case .written: say(Wording.written)
        case .failed(let text): throw Failure(text: text)
        case .ended(let code, let alert?):
            throw failure(alert, isWithoutReader: Wording.isWithoutReader(code))
        case .ended(_, nil): throw Failure(text: "Cancelled.")
        }
    }

    private func delete(_ number: Int) throws(Failure) {
        do throws(MessageStore.Failure) {
            try reader.remove(number)
        } catch {
            throw Failure(text: error.text)
        }
        say("Deleted message \(number).")
    }

    /// Runs a session. An empty line cancels it.
    private func cancellable<Value>(_ body: () async -> Value) async -> Value {
        isBusy = true
        defer { isBusy = false }
        guard hasPerson else { return await body() }
        if reader.canScan { say(Wording.cancelHint) }
        return await input.watched { [reader] line in
            guard ["", "cancel"].contains(line.trimmingCharacters(in: .whitespaces)) else { return false }
            reader.cancel()
            return true
        } _: {
            await body()
        }
    }

    private func row(_ number: Int) -> String {
        reader.store.message(number).map { MessageLines.row(of: $0) } ?? "\(number)"
    }

    /// The number of a message, which is the only argument. Without one, that of the last scan.
    private func number(_ arguments: [String]) throws(Failure) -> Int {
        guard arguments.count <= 1, let number = arguments.isEmpty ? lastScanned : Int(arguments[0]) else {
            throw Failure(text: "Scan a card first, or give the number of a message. The command list shows them.")
        }
        guard reader.store.message(number) != nil else {
            throw Failure(text: "There is no message \(number). The command list shows them.")
        }
        return number
    }

    /// The failure of a session that ended by itself. Without a reader, the framework has already reported the reason on
    /// standard error, once for all sessions.
    private func failure(_ alert: String, isWithoutReader: Bool) -> Failure {
        isWithoutReader ? Failure(text: "\(endTitle).", status: 3) : Failure(text: "\(endTitle). \(alert)")
    }

    private var endTitle: String { reader.canScan ? Wording.endedTitle : Wording.unavailableTitle }

    // MARK: Text

    private func prompt() {
        if hasPerson { StandardOutput.write("> ") }
    }

    private func say(_ text: String) { StandardOutput.writeLines(text) }

    private func complain(_ text: String) { StandardError.writeLine(text) }

    private static let help = """
        scan                  scans one card
        scan --many [COUNT]   scans cards until there are COUNT messages, or the time is over
        list                  lists the messages
        show [N]              shows the records of message N, or of the last scan
        write [N]             writes that message to a card
        delete N              deletes message N
        quit                  ends the app
        """
}
