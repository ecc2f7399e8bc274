// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app without a terminal: commands from standard input, one a line.
///
/// Answers go to standard output, notes and failures to standard error. The app exits with 1 when a command failed.
@MainActor
struct CommandInterface {
    let reader: MessageReader

    /// Why a command failed, as a sentence.
    private struct Failure: Error {
        var text: String
    }

    /// Runs the commands.
    ///
    /// - Returns: the exit status.
    func run() async -> Int32 {
        var status: Int32 = 0
        if let note = reader.load() {
            complain(note)
        }
        if !reader.canScan { complain("\(Wording.unavailableTitle). \(Wording.unavailable)") }
        let delegate = AppDelegate(reader: reader) { show($0) }
        _ = delegate.listen()
        defer { withExtendedLifetime(delegate) {} }
        while let line = await nextLine() {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let command = words.first, !command.hasPrefix("#") else { continue }
            if ["quit", "exit", "q"].contains(command) { break }
            do throws(Failure) {
                try await run(command, Array(words.dropFirst()))
            } catch {
                complain(error.text)
                status = 1
            }
        }
        return status
    }

    private func run(_ command: String, _ arguments: [String]) async throws(Failure) {
        switch command {
        case "scan": try await scan(arguments)
        case "list": try list(arguments)
        case "show": show(try number(arguments))
        case "write": try await write(number(arguments))
        case "delete": try delete(number(arguments))
        case "help": say(Self.help)
        default: throw Failure(text: "There is no command \(Lines.escaped(command)). The command help lists them.")
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
        let result = await reader.scan(readsMany: !arguments.isEmpty, limit: limit)
        let messages = reader.store.messages
        for index in messages.indices.suffix(result.added) { say(row(index)) }
        if let failure = result.failure { throw Failure(text: failure) }
        if let alert = result.alert { throw Failure(text: "\(endTitle). \(alert)") }
    }

    private func list(_ arguments: [String]) throws(Failure) {
        guard arguments.isEmpty else { throw Failure(text: "Use: list") }
        if reader.store.messages.isEmpty { say("No messages.") }
        for index in reader.store.messages.indices { say(row(index)) }
    }

    /// Waits for a line beside the main thread, which takes the messages that the app is given meanwhile.
    private func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: readLine()) }
        }
    }

    private func show(_ index: Int) {
        for line in MessageLines.details(of: reader.store.messages[index].message, number: index + 1) { say(line) }
    }

    private func write(_ index: Int) async throws(Failure) {
        switch await reader.write(index) {
        case .written: say(Wording.written)
        case .failed(let text): throw Failure(text: text)
        case .ended(_, let alert?): throw Failure(text: "\(endTitle). \(alert)")
        case .ended(_, nil): throw Failure(text: "Cancelled.")
        }
    }

    private func delete(_ index: Int) throws(Failure) {
        do throws(MessageStore.Failure) {
            try reader.remove(index)
        } catch {
            throw Failure(text: error.text)
        }
        say("Deleted message \(index + 1).")
    }

    private func row(_ index: Int) -> String {
        MessageLines.row(of: reader.store.messages[index].message, number: index + 1)
    }

    /// The index of the message that the only argument numbers.
    private func number(_ arguments: [String]) throws(Failure) -> Int {
        guard arguments.count == 1, let number = Int(arguments[0]) else {
            throw Failure(text: "Give the number of a message. The command list shows them.")
        }
        guard reader.store.messages.indices.contains(number - 1) else {
            throw Failure(text: "There is no message \(number). The command list shows them.")
        }
        return number - 1
    }

    private var endTitle: String { reader.canScan ? Wording.endedTitle : Wording.unavailableTitle }

    /// Standard output without a buffer, so that a program at the other end of a pipe sees each answer at once.
    private func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    private static let help = """
        scan                  scans one card
        scan --many [COUNT]   scans cards until there are COUNT messages, or the time is over
        list                  lists the messages
        show N                shows the records of message N
        write N               writes message N to a card
        delete N              deletes message N
        quit                  ends the app
        """
}
