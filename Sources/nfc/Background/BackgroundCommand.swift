// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import UserBus

/// `nfc background`.
struct BackgroundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "background",
        abstract: "The service that reads tags while no app does, nfcd.",
        discussion: """
            Examples:
              nfc background enable
              nfc background status
            """,
        subcommands: [
            BackgroundEnableCommand.self, BackgroundDisableCommand.self, BackgroundRunCommand.self,
            BackgroundStatusCommand.self,
        ]
    )
}

/// `nfc background enable`.
struct BackgroundEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Have systemd run the service, now and in every session of the user.",
        discussion: """
            It writes the unit nfcd.service and the bus's file for it to the user's own
            folders. What it is started with is an option here.

            Examples:
              nfc background enable
              nfc background enable --reader pn532:/dev/ttyUSB0

            Exit status: 0 when it is enabled, 1 when that is not possible.
            """
    )

    @Option(help: "The reader: pcsc[:NAME] or pn532:PATH; else the first of PC/SC.")
    var reader: String?

    @Flag(help: "Offer links of an app's own scheme too, as phones do and Apple's documents don't.")
    var allowCustomSchemes = false

    @Flag(help: "Write links and identifiers to the log.")
    var logContent = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let paths = try await reportingFailure(json: json) { () throws(CommandFailure) in
            let program = try ServiceInstallation.program()
            try ServiceInstallation.systemctl("show-environment")
            var arguments = reader.map { ["--reader", $0] } ?? []
            if allowCustomSchemes { arguments.append("--allow-custom-schemes") }
            if logContent { arguments.append("--log-content") }
            let installation = ServiceInstallation()
            try installation.write(program: program, arguments: arguments)
            try ServiceInstallation.systemctl("daemon-reload")
            try ServiceInstallation.systemctl("enable", ServiceInstallation.unitName)
            try ServiceInstallation.systemctl("restart", ServiceInstallation.unitName)
            return installation.paths
        }
        guard json else {
            for path in paths { printLine(RecordText.printable("Wrote \(path)")) }
            return printLine("The service runs, and will in every session. See: nfc background status")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.key("files")
        writer.beginArray()
        for path in paths { writer.value(path) }
        writer.endArray()
        writer.endObject()
        writer.printLine()
    }
}

/// `nfc background disable`.
struct BackgroundDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "End the service, and have systemd run it no more.",
        discussion: """
            What is in the inbox stays.

            Example:
              nfc background disable
            """
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reportingFailure(json: json) { () throws(CommandFailure) in
            try ServiceInstallation.systemctl("show-environment")
            let installation = ServiceInstallation()
            if FileManager.default.fileExists(atPath: installation.paths[0]) {
                try ServiceInstallation.systemctl("disable", "--now", ServiceInstallation.unitName)
            }
            installation.remove()
            try ServiceInstallation.systemctl("daemon-reload")
        }
        guard json else { return printLine("The service has ended, and is not started any more.") }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.endObject()
        writer.printLine()
    }
}

/// `nfc background run`.
struct BackgroundRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the service here, until Ctrl-C.",
        discussion: """
            Everything after it is for nfcd; see: nfc background run --help

            Examples:
              nfc background run
              nfc background run --tags tags/ --log-content
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "Options of nfcd.")
    var options: [String] = []

    func run() async throws {
        let program = try await reportingFailure(json: options.contains("--json")) { () throws(CommandFailure) in
            try ServiceInstallation.program()
        }
        var words = unsafe ([program] + options).map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(program, &words)
        throw ExitCode(1)
    }
}

/// `nfc background status`.
struct BackgroundStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether tags are read now, and if not, why.",
        discussion: """
            Each condition is shown with where it comes from, and what follows where
            the system does not tell.

            Exit status: 0 when tags are read, 1 when they are not, or nfcd does not run.
            """
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let text = try await reportingFailure(json: json) { () throws(CommandFailure) in try ask() }
        guard let status = try? JSONDecoder().decode(Status.self, from: Data(text.utf8)) else { throw ExitCode(1) }
        if json { printLine(text) } else { show(status) }
        guard status.reading else { throw ExitCode(1) }
    }

    private struct Status: Decodable {
        struct Condition: Decodable {
            var condition: String
            var met: Bool
            var source: String
        }

        var reading: Bool
        var locked: Bool
        var waiting: Int
        var conditions: [Condition]
    }

    private func ask() throws(CommandFailure) -> String {
        let name = "org.opencorenfc.Background"
        let object = BusCall.Object(name, "/org/opencorenfc/Background", name + "1")
        var answer: String?
        do throws(BusError) {
            let bus = try BusConnection(.user)
            // Asking does not start it.
            if try bus.ask(BusCall(.daemon, "NameHasOwner", [.string(name)])).first?.isTrue == true {
                answer = try bus.ask(BusCall(object, "Status")).first?.text ?? ""
            }
        } catch {
            throw CommandFailure(.refused, "no-bus", error.reason)
        }
        guard let answer else {
            throw CommandFailure(
                .refused,
                "not-running",
                "nfcd does not run. Start it with: nfc background enable, or: nfc background run"
            )
        }
        return answer
    }

    private func show(_ status: Status) {
        printLine(status.reading ? "Tags are read." : "Tags are not read.")
        for condition in status.conditions {
            let name = condition.condition.padding(toLength: 16, withPad: " ", startingAt: 0)
            printLine(RecordText.printable("  \(condition.met ? "fine" : "no  ")  \(name)\(condition.source)"))
        }
        if status.locked { printLine("The screen is locked: what is chosen opens when it is unlocked.") }
        printLine("In the inbox: \(status.waiting). See: nfc inbox list")
    }
}
