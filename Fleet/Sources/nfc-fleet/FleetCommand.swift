// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetModel
import Foundation

/// The root of `nfc-fleet`, which `nfc fleet` runs.
@main
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc fleet",
        abstract: "Watch and use the readers of many machines, over an MQTT broker.",
        discussion: """
            The broker is set by --broker, or by nfc/fleet.toml in the configuration
            folder; the default is mqtts://localhost. The connection uses TLS, unless
            the address begins with mqtt://. A broker on another machine then also
            needs --allow-plain.

            Examples:
              nfc fleet demo
              nfc fleet nodes
              nfc fleet watch kiosk-7 --json
              nfc fleet write kiosk-7 https://example.com/t/{serial}

            Exit status: 0 success, 1 the tag refused or the data are invalid, 2 wrong
            usage, 3 no broker, 130 cancelled.
            """,
        subcommands: [
            WatchCommand.self, NodesCommand.self, JobsCommand.self, WriteCommand.self, ProtectCommand.self,
            LockCommand.self, IndicateCommand.self, AllowCommand.self, CancelCommand.self, ReplayCommand.self,
            ForgetCommand.self, ConfigCommand.self, KeyCommand.self, DemoCommand.self,
        ]
    )

    /// Runs the command line. Exits with status 2 if the arguments are invalid.
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        TOMLTrial.runIfChild()
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as FleetFailure {
            failure.print(json: CommandLine.arguments.contains("--json"))
            Foundation.exit(failure.status.rawValue)
        } catch {
            let code = exitCode(for: error)
            if code == .validationFailure, CommandLine.arguments.contains("--json") {
                FleetFailure(.usage, "usage", message(for: error)).print(json: true)
                Foundation.exit(2)
            }
            let text = fullMessage(for: error)
            if !text.isEmpty { Output.write(text, to: code == .success ? STDOUT_FILENO : STDERR_FILENO) }
            Foundation.exit(code == .validationFailure ? 2 : code.rawValue)
        }
    }
}
