// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import SystemLibrary

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
        let program = try await reportingFailure(json: options.contains("--json")) { () throws(CommandFailure) in
            try Self.program()
        }
        var words = unsafe ([program] + options).map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(program, &words)
        throw ExitCode(1)
    }

    /// The path of nfc-lint: beside this program, or in PATH.
    private static func program() throws(CommandFailure) -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        let beside = ProgramPath.ownFolder.map { $0 + "/nfc-lint" }
        guard
            let found = beside.flatMap({ ProgramPath.isProgram($0) ? $0 : nil })
                ?? ProgramPath.find("nfc-lint", in: path)
        else {
            let build = "swift build -c release --package-path Tools/NFCLint"
            throw CommandFailure(
                .refused,
                "no-linter",
                "There is no nfc-lint beside nfc or in PATH. Build it in a clone, and put it beside nfc: \(build)"
            )
        }
        return found
    }
}
