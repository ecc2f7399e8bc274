// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TextSafety

/// `nfc background`.
struct BackgroundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "background",
        abstract: "Control nfcd, the service that reads tags while no app does.",
        discussion: """
            Examples:
              nfc background enable
              nfc background status
              nfc background doctor
            """,
        subcommands: [
            BackgroundEnableCommand.self, BackgroundDisableCommand.self, BackgroundRunCommand.self,
            BackgroundStatusCommand.self, BackgroundDoctorCommand.self,
        ]
    )
}

/// `nfc background run`.
struct BackgroundRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the service here, until Ctrl-C.",
        discussion: """
            All options go to nfcd. See: nfc background run --help

            Examples:
              nfc background run
              nfc background run --tags tags/ --log-content
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "Options of nfcd.")
    var options: [String] = []

    func run() async throws {
        do throws(CommandFailure) {
            throw CommandProcess.become(try ServiceInstallation.program(), options)
        } catch {
            try error.report(json: options.contains("--json"))
        }
    }
}

/// `nfc background status`.
struct BackgroundStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether tags are read now, and if not, why.",
        discussion: """
            Each condition is shown with its source, and with what nfcd assumes when
            the system does not report it.

            Exit status: 0 when tags are read, 3 when no reader answers, 1 when
            something else prevents reading, or when nfcd does not run.
            """
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let (text, status) = try await reportingFailure(json: json) { () throws(CommandFailure) in try ask() }
        if json {
            StandardOutput.write(JSONText.line(text) + "\n")
        } else {
            for line in status.lines { printLine(line) }
        }
        guard status.reading else { throw ExitCode(status.hasReader ? 1 : CommandFailure.Status.noReader.rawValue) }
    }

    private func ask() throws(CommandFailure) -> (text: String, status: ServiceStatus) {
        guard let answer = try RunningService.status() else {
            throw CommandFailure(
                .refused,
                "not-running",
                "nfcd does not run. Start it with: nfc background enable, or: nfc background run"
            )
        }
        return answer
    }
}

extension ServiceStatus {
    /// The status for people.
    var lines: [String] {
        var lines = [reading ? "Tags are read." : "Tags are not read."]
        for condition in conditions {
            let name = condition.condition.padding(toLength: 16, withPad: " ", startingAt: 0)
            lines.append("  \(condition.met ? "fine" : "no  ")  \(name)\(condition.source)")
        }
        if !silent.isEmpty {
            let names = silent.joined(separator: ", ")
            lines.append("The screen counts as locked, because \(names) does not answer. Links open when it does.")
        } else if locked {
            lines.append("The screen is locked. Links open when it is unlocked.")
        }
        lines.append("In the inbox: \(waiting). See: nfc inbox list")
        if let inboxProblem { lines.append("nfcd can't save what it reads: \(inboxProblem) It tries again by itself.") }
        return lines
    }
}
