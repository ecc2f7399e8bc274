// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc fleet`. A separate program, so that the tools build without libmosquitto.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Watch and use the readers of many machines, over an MQTT broker.",
        discussion: """
            All options go to nfc-fleet. See: nfc fleet --help

            Examples:
              nfc fleet demo
              nfc fleet watch
              nfc fleet write kiosk-7 https://example.com
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "Options of nfc-fleet.")
    var options: [String] = []

    func run() async throws {
        try await CompanionProgram(name: "nfc-fleet", package: "Fleet", missing: "no-fleet").run(options)
    }
}
