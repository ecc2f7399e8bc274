// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TextSafety

/// The root of the command line.
@main
struct NFCCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc",
        abstract: "Read, write and make NFC tags and their messages.",
        discussion: """
            Examples:
              nfc scan
              nfc write https://example.com
              nfc tag create --product NTAG215 --out card.nfc
              nfc tag read card.nfc
              echo d1010c55046578616d706c652e636f6d | nfc ndef decode

            Every command with output takes --json. Commands with only subcommands,
            such as nfc tag, do not. With --json, usage errors are JSON too.
            For an image, - is standard input; for --out, - is standard output.

            Exit status: 0 done, 1 the tag or the data was refused, or the output could
            not be written, 2 wrong usage, 3 no reader, 130 cancelled.
            """,
        version: "nfc \(ProjectVersion.current)",
        subcommands: [
            ScanCommand.self, WriteCommand.self, WatchCommand.self, ReadersCommand.self, TraceCommand.self,
            EmulateCommand.self, TagCommand.self, TagRawCommand.self, NTAG424Command.self, DESFireCommand.self,
            ClassicCommand.self,
            PassportCommand.self,
            NDEFCommand.self, LinksCommand.self, AppsCommand.self, InboxCommand.self,
            LintCommand.self, FleetCommand.self, BackgroundCommand.self, DemoCommand.self, SimulatorCommand.self,
            DoctorCommand.self,
        ]
    )

    /// Runs the command line. Invalid arguments exit with status 2, as documented, instead of the parser's 64.
    static func main() async {
        CommandProcess.prepare()
        CommandProcess.end(await run())
    }

    /// Runs the command line, and prints any failure. Returns the exit status.
    private static func run() async -> Int32 {
        do {
            if let problem = CommandProcess.wordProblem { throw ValidationError(problem) }
            try await checkHelp(CommandLine.arguments.dropFirst())
            // `parseAsRoot` would search all commands for asynchronous completions, but there are none.
            var command = try await asyncParseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return 0
        } catch {
            if let failure = CommandFailure(reporting: error) {
                failure.print(json: CommandProcess.wantsJSON)
                return failure.status.rawValue
            }
            return await end(error)
        }
    }

    /// Prints an error or other text from the parser.
    private static func end(_ error: any Error) async -> Int32 {
        let code = exitCode(for: error)
        let text = Suggestion.improve(fullMessage(for: error))
        switch code {
        case .validationFailure:
            if CommandProcess.wantsJSON {
                CommandFailure(.usage, "usage", Suggestion.improve(await usageMessage(error))).print(json: true)
            } else {
                StandardError.writeLine(text, keepsLineBreaks: true)
            }
            return CommandFailure.Status.usage.rawValue
        case .success where text == configuration.version: VersionReport.print(json: CommandProcess.wantsJSON)
        case .success: StandardOutput.write("\(text)\n".utf8)
        default: if !text.isEmpty { StandardError.writeLine(text, keepsLineBreaks: true) }
        }
        return code.rawValue
    }

    /// Returns the usage error to print as JSON. If the parser rejected `--json` but there is another error too,
    /// returns the other error.
    private static func usageMessage(_ error: any Error) async -> String {
        let words = CommandLine.arguments.dropFirst().filter { $0 != "--json" }
        guard message(for: error).contains("'--json'") else { return message(for: error) }
        do {
            // A command that has only subcommands does not accept `--json`.
            guard try await !type(of: asyncParseAsRoot(words)).configuration.subcommands.isEmpty else {
                return message(for: error)
            }
            let name = (["nfc"] + words).joined(separator: " ")
            return "\(name) needs a subcommand. See: \(name) --help"
        } catch let other {
            return exitCode(for: other) == .validationFailure ? message(for: other) : message(for: error)
        }
    }

    /// Rejects `help` for an unknown subcommand. The parser would show help for the words before it.
    private static func checkHelp(_ words: ArraySlice<String>) async throws {
        guard words.first == "help" else { return }
        let names = words.filter { !$0.hasPrefix("-") && $0 != "help" }
        var subcommands = configuration.subcommands
        for name in names where !subcommands.isEmpty {
            guard let command = subcommands.first(where: { $0.configuration.commandName == name }) else {
                // The parser rejects the word and shows the parent command's usage.
                _ = try await asyncParseAsRoot(names)
                return
            }
            subcommands = command.configuration.subcommands
        }
    }
}

/// `nfc ndef`: converts messages between bytes and readable content. Needs no reader or tag.
struct NDEFCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ndef",
        abstract: "Decode and encode NDEF messages.",
        subcommands: [NDEFDecodeCommand.self, NDEFEncodeCommand.self]
    )
}

/// Suggests the nearest command for a mistyped one.
enum Suggestion {
    /// Adds a suggestion to the parser's error about an unexpected argument. Removes the parser's own suggestion for an
    /// unknown option if the two names have little in common, such as `--mrz` for `--uri`.
    static func improve(_ text: String, after words: [String] = Array(CommandLine.arguments.dropFirst())) -> String {
        var lines = text.components(separatedBy: "\n")
        guard let first = lines.first else { return text }
        let quoted = first.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
        if first.contains("Did you mean "), quoted.count >= 5, !isNear(quoted[1], to: quoted[3]) {
            lines[0] = "\(quoted[0])'\(quoted[1])'"
        } else if first.contains("nexpected argument"), quoted.count >= 3, let command = command(quoted[1], in: words) {
            lines[0] = "\(first). Did you mean '\(command)'?"
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the command that a mistyped word most probably means, such as `nfc scan` for `scna`, or `nfc tag read`
    /// for `read`; nil if no command is near.
    private static func command(_ word: String, in words: [String]) -> String? {
        var path = ["nfc"]
        var commands = NFCCommand.configuration.subcommands
        for name in words where !name.hasPrefix("-") && name != "help" {
            guard name != word, let command = named(name, in: commands) else { break }
            path.append(name)
            commands = command.configuration.subcommands
        }
        let near = names(of: commands).filter { isNear(word, to: $0) }
        if let nearest = near.min(by: { distance(word, $0) < distance(word, $1) }) {
            return (path + [nearest]).joined(separator: " ")
        }
        guard path.count == 1 else { return nil }
        for name in names(of: commands) {
            guard let command = named(name, in: commands) else { continue }
            if names(of: command.configuration.subcommands).contains(word) { return "nfc \(name) \(word)" }
        }
        return nil
    }

    private static func names(of commands: [any ParsableCommand.Type]) -> [String] {
        commands.compactMap { command in command.configuration.commandName }
    }

    private static func named(_ name: String, in commands: [any ParsableCommand.Type]) -> (any ParsableCommand.Type)? {
        commands.first { command in command.configuration.commandName == name }
    }

    /// Whether one or two characters are wrong, but no more than a third of the word.
    private static func isNear(_ word: String, to name: String) -> Bool {
        let letters = word.filter { $0 != "-" }.count
        return distance(word, name) <= min(2, max(1, letters / 3))
    }

    /// The number of characters to insert, remove, replace, or swap with their neighbour.
    private static func distance(_ first: String, _ second: String) -> Int {
        // A word is compared with short names, so its end does not matter.
        let (first, second) = (Array(first.prefix(40)), Array(second))
        var rows = [Array(0...second.count)]
        for i in 0..<first.count {
            var row = [i + 1]
            for j in 0..<second.count {
                var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (first[i] == second[j] ? 0 : 1))
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}
