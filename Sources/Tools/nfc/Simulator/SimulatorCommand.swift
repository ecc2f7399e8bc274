// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc simulator`. The simulator is a separate program, so that the tools build without a web server.
struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Show a phone and a drawer of tags in the browser, with your app on the phone.",
        discussion: """
            All options go to nfc-simulator. See: nfc simulator --help

            Examples:
              nfc simulator --app "swift run TagReader"
              nfc simulator --port 8080 --tags my-tags
              nfc simulator tap "Poster with a link"
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "Options of nfc-simulator.")
    var options: [String] = []

    func run() async throws {
        try await CompanionProgram(name: "nfc-simulator", package: "Simulator", missing: "no-simulator").run(options)
    }
}
