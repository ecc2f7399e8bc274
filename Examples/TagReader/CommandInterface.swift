// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app's line interface: reads commands from standard input, one per line, and does not control the terminal. Meant
/// for scripts, simple terminals and screen readers.
///
/// Results go to standard output, notes and failures to standard error.
@MainActor
final class CommandInterface {
    private let reader: MessageReader
    private let input = LineInput()
    /// Whether a person types the commands. Then the app shows a prompt, and Enter cancels a scan.
    private let hasPerson: Bool
    private lazy var links = LinkReceiver(reader, isVisible: hasPerson) { [self] number in
        if hasPerson { say("\n\(Wording.arrived)") }
        show(number)
        if !isBusy { prompt() }
    }
    private var isBusy = false
    private var lastScanned: Int?

    init(_ reader: MessageReader, hasPerson: Bool) {
        self.reader = reader
        self.hasPerson = hasPerson
    }

    /// Runs the commands. Returns the exit status: for a script, 1 if a command failed and 3 if there was no reader.
    func run() async -> Int32 {
        var status: Int32 = 0
        begin()
        while true {
            prompt()
            guard let line = await input.next() else { break }
            reader.store.reload()
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let command = words.first, !command.hasPrefix("#") else { continue }
            if ["quit", "exit", "q"].contains(command) { return status }
            do {
                try await run(command, Array(words.dropFirst()))
            } catch {
                complain(error.text)
                if !hasPerson { status = max(status, error.status) }
            }
        }
        if hasPerson { say("") }
        return status
    }

    private func begin() {
        if let problem = reader.store.load() { complain(problem) }
        // Without a reader, the framework reports the reason on standard error.
        _ = reader.canScan
        links.begin()
        if links.state == .elsewhere { complain(Wording.linksElsewhere) }
        guard hasPerson else { return }
        let count = reader.store.messages.count
        say("Tag Reader. \(count == 1 ? "1 message" : "\(count) messages"). Type help for a list of commands.")
        if reader.store.messages.contains(where: \.isNew) { say(Wording.arrivedBefore) }
    }

    // MARK: Commands

    private func run(_ command: String, _ arguments: [String]) async throws(Failure) {
        switch command {
        case "scan": try await scan(arguments)
        case "list" where arguments.isEmpty:
            if reader.store.messages.isEmpty { say("No messages.") }
            for message in reader.store.messages { say(MessageText.row(of: message)) }
        case "show": show(try number(arguments))
        case "write": try await write(number(arguments))
        case "delete" where !arguments.isEmpty:
            let number = try number(arguments)
            try reader.store.remove(number)
            say("Deleted message \(number).")
        case "help": say(Self.help)
        default:
            let line = ([command] + arguments).joined(separator: " ")
            throw Failure(text: "The command \(line) does not exist. Type help for a list.")
        }
    }

    private func scan(_ arguments: [String]) async throws(Failure) {
        let limit = arguments.count == 2 ? Int(arguments[1]) : nil
        guard arguments.isEmpty || arguments == ["--many"] || (arguments[0] == "--many" && (limit ?? 0) > 0) else {
            throw Failure(text: "Use: scan [--many [COUNT]]")
        }
        let result = await cancellable { await reader.scan(readsMany: !arguments.isEmpty, limit: limit) }
        for message in result.added.compactMap(reader.store.message) { say(MessageText.row(of: message)) }
        lastScanned = result.added.last
        try check(result)
    }

    private func show(_ number: Int) {
        guard let message = reader.store.message(number) else { return }
        say(MessageText.lines(of: message).joined(separator: "\n"))
        reader.store.markSeen(number)
    }

    private func write(_ number: Int) async throws(Failure) {
        guard let message = reader.store.message(number) else { return }
        let result = await cancellable { await reader.write(message) }
        try check(result)
        guard result.isWritten else { throw Failure(text: result.note.isEmpty ? "Cancelled." : result.note) }
        say(result.note)
    }

    /// Throws if the session ended because of an error. Without a reader, the framework has already reported the reason
    /// on standard error, once for all sessions.
    private func check(_ result: SessionResult) throws(Failure) {
        guard let alert = result.alert else { return }
        if result.lacksReader { throw Failure(text: "\(reader.endTitle).", status: 3) }
        throw Failure(text: "\(reader.endTitle). \(alert)")
    }

    /// Runs a session. If a person uses the app, the next line typed cancels the session.
    private func cancellable<Value>(_ body: () async -> Value) async -> Value {
        isBusy = true
        if hasPerson, reader.canScan {
            say(Wording.cancelHint)
            input.onLine = { [reader] in reader.cancel() }
        }
        let value = await body()
        input.onLine = nil
        isBusy = false
        return value
    }

    /// Returns the message number given as the only argument. Without arguments, returns the number of the last scan.
    private func number(_ arguments: [String]) throws(Failure) -> Int {
        guard arguments.count <= 1, let number = arguments.isEmpty ? lastScanned : Int(arguments[0]) else {
            throw Failure(text: "Scan a card first, or give a message number. Type list to see the messages.")
        }
        guard reader.store.message(number) != nil else {
            throw Failure(text: "Message \(number) does not exist. Type list to see the messages.")
        }
        return number
    }

    private func prompt() {
        if hasPerson { say("> ", terminator: "") }
    }

    private static let help = """
        scan                  scans one card
        scan --many [COUNT]   scans cards until there are COUNT messages, or the time is over
        list                  lists the messages
        show [N]              shows the records of message N, or of the last scan
        write [N]             writes message N, or the last scan, to a card
        delete N              deletes message N
        quit                  ends the app
        """
}

/// Reads lines from standard input.
@MainActor
final class LineInput {
    /// Lines that have not been read yet; nil marks the end of the input.
    private var lines: [String?] = []
    private var waiter: CheckedContinuation<String?, Never>?
    /// Called for the next line, once. The lines after it wait for ``next()``.
    var onLine: (() -> Void)?

    init() {
        Thread.detachNewThread { [weak self] in
            while let line = readLine() { DispatchQueue.main.async { self?.take(line) } }
            DispatchQueue.main.async { self?.take(nil) }
        }
    }

    private func take(_ line: String?) {
        if let waiter {
            self.waiter = nil
            waiter.resume(returning: line)
        } else if let onLine, line != nil {
            self.onLine = nil
            onLine()
        } else {
            lines.append(line)
        }
    }

    /// Waits for the next line; returns nil at the end of the input.
    func next() async -> String? {
        lines.isEmpty ? await withCheckedContinuation { waiter = $0 } : lines.removeFirst()
    }
}
