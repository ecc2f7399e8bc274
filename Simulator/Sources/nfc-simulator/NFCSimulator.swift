// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SimulatorModel

/// The simulator: `nfc simulator` starts it.
@main
struct NFCSimulator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-simulator",
        abstract: "Show a phone and a drawer of tags in the browser",
        discussion: """
            Any program that uses this project's CoreNFC can be the app on that phone:

              nfc simulator --app "swift run TagReader"

            A program started elsewhere connects to the running simulator with NFC_READER=simulator. The other commands \
            control the running simulator, like the page.

            Exit status: 0 done, 1 refused, 2 wrong usage.
            """,
        subcommands: [RunCommand.self] + ActionCommands.all,
        defaultSubcommand: RunCommand.self
    )

    /// Runs the command line. Wrong usage exits with status 2, and is reported as JSON if asked for.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            let wantsJSON = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
                .contains { $0 == "--json" || $0.hasPrefix("--json=") }
            if wantsJSON {
                _ = Output.failure("usage", message(for: error), json: true)
            } else {
                Output.note(fullMessage(for: error))
            }
            Foundation.exit(2)
        }
    }
}
