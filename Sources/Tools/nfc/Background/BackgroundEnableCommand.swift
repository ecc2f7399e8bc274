// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import LinkDelivery
import LinuxSupport
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

/// `nfc background disable`.
struct BackgroundDisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Stop the service, and keep systemd from starting it again.",
        discussion: """
            The inbox stays. --purge removes it, and everything else that the service
            has saved: its memory of notifications, the association files of the apps'
            domains, and the choices between apps and the browser.

            Examples:
              nfc background disable
              nfc background disable --purge --dry-run
              nfc background disable --purge

            Exit status: 0 when the service is disabled and all is removed, else 1.
            """
    )

    @Flag(help: "Also remove everything that the service has saved, with the inbox.")
    var purge = false

    @Flag(help: "Only show what would be removed.")
    var dryRun = false

    @Flag(help: "Print one JSON object.")
    var json = false

    /// The files that are removed.
    private struct Removal {
        var files: [String]
        var data: [ServiceData.Item] = []

        var isEmpty: Bool { files.isEmpty && data.isEmpty }
    }

    func run() async throws {
        let installation = ServiceInstallation()
        let data = ServiceData(UserEnvironment().folders)
        if dryRun {
            let files = installation.paths.filter(FileManager.default.fileExists(atPath:))
            return show(Removal(files: files, data: purge ? data.items : []), isDone: false)
        }
        if purge, !json {
            for item in data.items { StandardError.writeLine("Will remove \(Self.text(item))") }
        }
        let removal = try await reportingFailure(json: json) { () throws(CommandFailure) in
            var removal = Removal(files: try disable(installation))
            guard purge else { return removal }
            // A service that was started by hand would go on writing files.
            if RunningService.isRunning {
                throw CommandFailure(
                    .refused,
                    "still-running",
                    "An nfcd that systemd did not start still runs, so its files were not removed. Stop it first."
                )
            }
            do throws(StorageError) {
                removal.data = try data.remove()
            } catch {
                throw CommandFailure(error)
            }
            return removal
        }
        show(removal, isDone: true)
    }

    /// Stops the service and removes its files.
    private func disable(_ installation: ServiceInstallation) throws(CommandFailure) -> [String] {
        do throws(CommandFailure) {
            try ServiceInstallation.systemctl("show-environment")
        } catch  where purge && error.name == "no-systemd" {
            // Without systemd nothing runs the service; its files are removed anyway.
            return installation.remove()
        } catch  where error.name == "no-systemd" {
            throw CommandFailure(
                .refused,
                "no-systemd",
                "systemd does not run for this user, so there is no service to disable. If you started nfcd yourself, stop it "
                    + "with Ctrl-C. To remove what it has saved: nfc background disable --purge"
            )
        }
        if FileManager.default.fileExists(atPath: installation.paths[0]) {
            try ServiceInstallation.systemctl("disable", "--now", ServiceInstallation.unitName)
        }
        let files = installation.remove()
        try ServiceInstallation.systemctl("daemon-reload")
        return files
    }

    private func show(_ removal: Removal, isDone: Bool) {
        guard !json else { return printJSON(removal) }
        let verb = isDone ? "Removed" : "Would remove"
        for file in removal.files { printLine("\(verb) \(file)") }
        for item in removal.data { printLine("\(verb) \(Self.text(item))") }
        guard isDone || removal.isEmpty else { return }
        printLine(
            removal.isEmpty
                ? "The service was not enabled, and there was nothing to remove."
                : "The service has stopped, and will not start again."
        )
    }

    private static func text(_ item: ServiceData.Item) -> String {
        "\(item.path): \(item.content), \(item.count == 1 ? "1 file" : "\(item.count) files")"
    }

    private func printJSON(_ removal: Removal) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("dry_run", dryRun)
        writer.key("files")
        writer.values(removal.files)
        writer.key("removed")
        writer.beginArray()
        for item in removal.data {
            writer.beginObject()
            writer.member("path", item.path)
            writer.member("content", item.content)
            writer.member("count", item.count)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.printLine()
    }
}
