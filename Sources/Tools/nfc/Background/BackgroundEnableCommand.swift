// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NFCReaders
import NFCSessions
import TextSafety

/// `nfc background enable`.
struct BackgroundEnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Have systemd run the service, now and in every session of the user.",
        discussion: """
            It writes four files to the user's own folders: the unit nfcd.service, a
            file for the bus, and a desktop entry with an icon. The options here become
            the options of the service. When something fails, it undoes all changes.

            Examples:
              nfc background enable
              nfc background enable --reader pn532:/dev/ttyUSB0

            Exit status: 0 when the service is enabled, 1 when that is not possible.
            """
    )

    @Option(help: "The reader: \(ReaderKind.usage(for: .service)). Default: the first PC/SC reader.")
    var reader: String?

    @Flag(help: "Also offer links with an app's own scheme. Phones do this; Apple's documents don't mention it.")
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
            return printLine("The service runs now, and in every session. See: nfc background status")
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

    /// A service that was started by hand owns the bus name and the inbox, so systemd could not start another.
    private func refuseAnotherService() throws(CommandFailure) {
        guard RunningService.isRunning else { return }
        do throws(CommandFailure) {
            try ServiceInstallation.systemctl("is-active", "--quiet", ServiceInstallation.unitName)
        } catch {
            throw CommandFailure(
                .refused,
                "still-running",
                "An nfcd that systemd did not start already runs. Stop it, then enable the service."
            )
        }
    }

    /// For systemd the service has started when it owns its bus name; it works only when it also answers.
    private func confirm() throws(CommandFailure) {
        do throws(CommandFailure) {
            guard try RunningService.ask("Status", within: 20) == nil else { return }
        } catch  where error.name == "no-bus" {
            // systemctl has reported the failure.
            return
        }
        throw CommandFailure(
            .refused,
            "ended",
            "The service ended at once, and all changes were undone. See: journalctl --user -u nfcd"
        )
    }

    /// Restores the earlier files; an earlier service runs again.
    private func takeBack(_ installation: ServiceInstallation, _ earlier: ServiceInstallation.Earlier) {
        if !earlier.isEnabled { try? ServiceInstallation.systemctl("disable", "--now", ServiceInstallation.unitName) }
        installation.restore(earlier)
        try? ServiceInstallation.systemctl("daemon-reload")
        try? ServiceInstallation.systemctl("reset-failed", ServiceInstallation.unitName)
        if earlier.isEnabled { try? ServiceInstallation.systemctl("restart", ServiceInstallation.unitName) }
    }

    /// Warnings after a success.
    private func remarks(_ program: String, _ configuration: ReaderConfiguration) -> [String] {
        var notes: [String] = []
        if ServiceInstallation.isPassing(program) {
            notes.append(
                """
                The service runs \(program), which is in a build folder. If that folder is cleaned, the service no longer \
                starts. Install nfc and nfcd in a folder that stays, such as ~/.local/bin, and enable it from there.
                """
            )
        }
        if let line = configuration.serialLine, !FileManager.default.fileExists(atPath: line) {
            notes.append("\(line) does not exist now. The service uses the reader as soon as it appears.")
        }
        return notes
    }
}
