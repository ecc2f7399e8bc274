// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
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
              echo d1010c55046578616d706c652e636f6d | nfc ndef decode

            Every command with output takes --json. Commands with only subcommands,
            such as nfc tag, do not. With --json, errors in the usage are JSON too.
            For an image, - is standard input; for --out, - is standard output.

            Exit status: 0 done, 1 the tag or the data was refused, or the output could
            not be written, 2 wrong usage, 3 no reader, 130 cancelled.
            """,
        version: "nfc \(version)",
        subcommands: [
            ScanCommand.self, WriteCommand.self, ReadersCommand.self, TraceCommand.self, EmulateCommand.self,
            TagCommand.self,
            NDEFCommand.self, LinksCommand.self, AppsCommand.self, InboxCommand.self,
            LintCommand.self, FleetCommand.self, BackgroundCommand.self, DemoCommand.self, SimulatorCommand.self,
        ]
    )

    /// The version of the tools.
    static let version = "0.1.0"

    /// Runs the command line. Wrong usage ends with status 2, as documented, and not with the parser's default, 64.
    static func main() async {
        CommandProcess.prepare()
        CommandProcess.end(await run())
    }

    /// The error in arguments that ask for JSON. If `--json` is refused and another error remains without it, returns the
    /// other error.
    private static func usageMessage(_ error: any Error) async -> String {
        let words = CommandLine.arguments.dropFirst().filter { $0 != "--json" }
        guard message(for: error).contains("'--json'") else { return message(for: error) }
        do {
            // A command with only subcommands has no output.
            guard try await !type(of: asyncParseAsRoot(words)).configuration.subcommands.isEmpty else {
                return message(for: error)
            }
            let name = (["nfc"] + words).joined(separator: " ")
            return "\(name) needs a subcommand. See: \(name) --help"
        } catch let other {
            return exitCode(for: other) == .validationFailure ? message(for: other) : message(for: error)
        }
    }

    /// Why the help that is asked for can't be shown: a word after `help` is no command. The parser would show the help of
    /// the words before it. Nil where it can.
    private static func helpProblem(_ words: ArraySlice<String>) -> String? {
        guard words.first == "help" else { return nil }
        var path = "nfc"
        var subcommands = configuration.subcommands
        for word in words.dropFirst() where !word.hasPrefix("-") && word != "help" && !subcommands.isEmpty {
            guard let command = subcommands.first(where: { $0.configuration.commandName == word }) else {
                return "\(path) has no subcommand '\(word)'. See: \(path) --help"
            }
            path += " \(word)"
            subcommands = command.configuration.subcommands
        }
        return nil
    }

    /// Runs the command line.
    ///
    /// - Returns: the exit status.
    private static func run() async -> Int32 {
        do {
            if let problem = CommandProcess.wordProblem ?? helpProblem(CommandLine.arguments.dropFirst()) {
                throw ValidationError(problem)
            }
            // `parseAsRoot` looks through all commands for asynchronous completions first, which there are none of.
            var command = try await asyncParseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return 0
        } catch {
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            switch code {
            case .validationFailure:
                if CommandProcess.wantsJSON {
                    CommandFailure(.usage, "usage", await usageMessage(error)).printJSON()
                } else {
                    StandardError.writeLine(text, keepsLineBreaks: true)
                }
                return CommandFailure.Status.usage.rawValue
            case .success where CommandProcess.wantsJSON && text == configuration.version:
                var writer = JSONWriter()
                writer.beginObject()
                writer.member("ok", true)
                writer.member("version", version)
                writer.endObject()
                writer.printLine()
            case .success: StandardOutput.write(text + "\n")
            default: if !text.isEmpty { StandardError.writeLine(text, keepsLineBreaks: true) }
            }
            return code.rawValue
        }
    }
}

/// `nfc ndef`: converts messages between bytes and their content. Needs no reader and no tag.
struct NDEFCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ndef",
        abstract: "Decode and encode NDEF messages.",
        subcommands: [NDEFDecodeCommand.self, NDEFEncodeCommand.self]
    )
}

/// `nfc links`.
struct LinksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links",
        abstract: "Show which app a link opens, and why.",
        subcommands: [
            LinksListCommand.self, LinksMatchCommand.self, LinksExplainCommand.self, LinksCheckCommand.self,
            LinksFetchCommand.self, LinksAddCommand.self, LinksRemoveCommand.self,
        ]
    )
}
