// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NFCRuntime

/// `nfc background enable`.
struct BackgroundEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Have systemd run the service, now and in every session of the user.",
        discussion: """
            It writes the unit nfcd.service and the bus's file for it to the user's own
            folders. What it is started with is an option here. When something fails,
            everything is as before.

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
        let (paths, notes) = try await reportingFailure(json: json) {
            () throws(CommandFailure) -> ([String], [String]) in
            let configuration = ReaderConfiguration(reader: reader)
            if let problem = configuration.serviceProblem {
                throw CommandFailure(.usage, "usage", problem)
            }
            let program = try ServiceInstallation.program()
            try ServiceInstallation.systemctl("show-environment")
            try refuseAnotherService()
            let installation = ServiceInstallation()
            try enable(installation, program)
            return (installation.paths, remarks(program, configuration))
        }
        guard json else {
            for path in paths { printLine("Wrote \(path)") }
            for note in notes { StandardError.writeLine("Note: \(note)") }
            return printLine("The service runs, and will in every session. See: nfc background status")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.key("files")
        writer.values(paths)
        writer.key("notes")
        writer.values(notes)
        writer.endObject()
        writer.printLine()
    }

    private func enable(_ installation: ServiceInstallation, _ program: String) throws(CommandFailure) {
        var arguments = reader.map { ["--reader", $0] } ?? []
        if allowCustomSchemes { arguments.append("--allow-custom-schemes") }
        if logContent { arguments.append("--log-content") }
        let earlier = try installation.earlier()
        do throws(CommandFailure) {
            try installation.write(program: program, arguments: arguments)
            try ServiceInstallation.systemctl("daemon-reload")
            try ServiceInstallation.systemctl("enable", ServiceInstallation.unitName)
            try ServiceInstallation.systemctl("restart", ServiceInstallation.unitName)
            try confirm()
        } catch {
            takeBack(installation, earlier)
            throw error
        }
    }

    /// One that was started by hand has the name and the inbox, so that systemd's could not begin.
    private func refuseAnotherService() throws(CommandFailure) {
        guard (try? RunningService.ask("Status")) != nil else { return }
        do throws(CommandFailure) {
            try ServiceInstallation.systemctl("is-active", "--quiet", ServiceInstallation.unitName)
        } catch {
            throw CommandFailure(
                .refused,
                "still-running",
                "An nfcd that systemd did not start runs already. End it, then enable the service."
            )
        }
    }

    /// For systemd the service has begun when it has its name; it works when it answers.
    private func confirm() throws(CommandFailure) {
        do throws(CommandFailure) {
            guard try RunningService.ask("Status", within: 20) == nil else { return }
        } catch  where error.name == "no-bus" {
            // Then systemctl has said what there was to say.
            return
        }
        throw CommandFailure(
            .refused,
            "ended",
            "The service ended at once, and everything is as before. See: journalctl --user -u nfcd"
        )
    }

    /// Has everything as before; what was enabled then runs again.
    private func takeBack(_ installation: ServiceInstallation, _ earlier: ServiceInstallation.Earlier) {
        if !earlier.isEnabled { try? ServiceInstallation.systemctl("disable", "--now", ServiceInstallation.unitName) }
        installation.restore(earlier)
        try? ServiceInstallation.systemctl("daemon-reload")
        try? ServiceInstallation.systemctl("reset-failed", ServiceInstallation.unitName)
        if earlier.isEnabled { try? ServiceInstallation.systemctl("restart", ServiceInstallation.unitName) }
    }

    /// What the person should know although all went well.
    private func remarks(_ program: String, _ configuration: ReaderConfiguration) -> [String] {
        var notes: [String] = []
        if ServiceInstallation.isPassing(program) {
            notes.append(
                """
                The service runs \(program), which is a build's. When that is cleaned, the service no longer starts. \
                Install nfc and nfcd in a folder that stays, such as ~/.local/bin, and enable it from there.
                """
            )
        }
        if let line = configuration.serialLine, !FileManager.default.fileExists(atPath: line) {
            notes.append("\(line) is not there now. The reader is used as soon as it comes.")
        }
        return notes
    }
}
