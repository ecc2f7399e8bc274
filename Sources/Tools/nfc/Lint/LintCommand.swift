// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc lint`. The linter is a separate program, so that the tools build without swift-syntax.
struct LintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Check an app that uses Core NFC: its configuration, its texts and its code.",
        discussion: """
            All options go to nfc-lint. See: nfc lint --help

            Examples:
              nfc lint .
              nfc lint --json MyApp
              nfc lint --explain SRC003
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "Options of nfc-lint.")
    var options: [String] = []

    func run() async throws {
        try await CompanionProgram(name: "nfc-lint", package: "Tools/NFCLint", missing: "no-linter").run(options)
    }
}
