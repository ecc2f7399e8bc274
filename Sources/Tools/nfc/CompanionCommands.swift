// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinuxSupport

/// `nfc fleet`. The fleet's command is a separate program, so that the tools build without libmosquitto.
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

    static let program = CompanionProgram(
        name: "nfc-fleet",
        package: "Fleet",
        debian: "opencorenfc-agent",
        missing: "no-fleet"
    )

    func run() async throws { try await Self.program.run(options) }
}

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

    static let program = CompanionProgram(
        name: "nfc-lint",
        package: "Tools/NFCLint",
        debian: "opencorenfc",
        missing: "no-linter"
    )

    func run() async throws { try await Self.program.run(options) }
}

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

    static let program = CompanionProgram(
        name: "nfc-simulator",
        package: "Simulator",
        debian: "opencorenfc-simulator",
        missing: "no-simulator"
    )

    func run() async throws { try await Self.program.run(options) }
}

/// A program from a nested package, which replaces this process. Its dependencies would slow down the tools' build.
struct CompanionProgram: Sendable {
    /// The program's name, such as `nfc-lint`.
    var name: String
    /// The package's folder in the repository; nil for the root package.
    var package: String?
    var debian: String
    var missing: String

    /// Runs the program with all options, except that `--version` prints the version of `nfc`, like every command.
    func run(_ options: [String]) async throws -> Never {
        if options.filter({ $0 != "--json" }) == ["--version"] {
            throw CleanExit.message(NFCCommand.configuration.version)
        }
        throw CommandProcess.become(try path(), options)
    }

    /// Finds the program: in this program's folder, in the same clone's build folder, or in PATH.
    func path() throws -> String {
        let beside = ProgramPath.ownFolder.map { ["\($0)/\(name)"] } ?? []
        guard let found = (beside + inClone).first(where: ProgramPath.isProgram) ?? ProgramPath.find(name) else {
            throw CommandFailure(missing, "\(name) was not found next to nfc or in PATH. \(installation)")
        }
        return found
    }

    var installation: String {
        let build = package.map { "dev/nested build \($0)" } ?? "swift build --product \(name)"
        return "Install the package \(debian), or build it in a clone: \(build)"
    }

    /// The program's paths in the clone's build folders, starting with this program's build configuration.
    private var inClone: [String] {
        guard let package, let folder = ProgramPath.ownFolder, let build = folder.range(of: "/.build/") else {
            return []
        }
        let root = folder[..<build.lowerBound]
        let configurations = folder.hasSuffix("/release") ? ["release", "debug"] : ["debug", "release"]
        return configurations.map { "\(root)/\(package)/.build/\($0)/\(name)" }
    }
}
