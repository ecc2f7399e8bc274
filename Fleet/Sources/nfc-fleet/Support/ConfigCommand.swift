// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetModel

/// `nfc fleet config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the configuration in use, without secrets.",
        discussion: """
            Example:
              nfc fleet config --json

            Exit status: 0 success, 2 when the configuration is invalid.
            """
    )

    @OptionGroup var options: FleetOptions

    func run() async throws {
        let configuration = try options.configuration()
        // Check that the settings are valid before showing them.
        _ = (try configuration.settings(reconnects: false), try configuration.signer())
        let address = try configuration.broker.address()
        let members: [(String, String?)] = [
            ("file", options.config ?? FleetOptions.usualPath), ("broker", "\(address)"),
            ("topic_root", configuration.broker.topics.root),
            ("user", configuration.broker.user), ("password_file", configuration.broker.passwordFile),
            ("ca", configuration.broker.authorities), ("certificate", configuration.broker.certificate),
            ("sign", configuration.signingKey),
        ]
        if options.json {
            let all = members.map { name, value in JSONValue.Member(name, value.map(JSONValue.string) ?? .null) }
            return Output.line(JSONValue.object(all).line)
        }
        for (name, value) in members { Output.line("\(name): \(value ?? "none")") }
    }
}
