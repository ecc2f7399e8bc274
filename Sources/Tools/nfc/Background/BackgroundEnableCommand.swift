// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinkDelivery
import LinuxSupport
import NFCReaders
import NFCSessions
import TextSafety
import UserBus

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
        let configuration = ReaderConfiguration(reader: reader)
        if let problem = configuration.serviceProblem { throw CommandFailure(.usage, "usage", problem) }
        let program = try ServiceInstallation.program.path()
        try ServiceInstallation.systemctl("show-environment")
        try refuseAnotherService()
        let installation = ServiceInstallation()
        try enable(installation, program)
        let notes = remarks(program, configuration)
        if !json { for note in notes { StandardError.writeLine("Note: \(note)") } }
        printResult(
            json: json,
            ["ok": true, "files": installation.paths, "notes": notes],
            installation.paths.map { "Wrote \($0)" }
                + ["The service is running, and will start in every session. See: nfc background status"]
        )
    }

    private func enable(_ installation: ServiceInstallation, _ program: String) throws {
        var arguments = reader.map { ["--reader", $0] } ?? []
        if allowCustomSchemes { arguments.append("--allow-custom-schemes") }
        if logContent { arguments.append("--log-content") }
        let earlier = try installation.earlier()
        do {
            try installation.write(program: program, arguments: arguments)
            try ServiceInstallation.systemctl("daemon-reload")
            try ServiceInstallation.systemctl("enable", ServiceInstallation.unitName)
            try ServiceInstallation.systemctl("restart", ServiceInstallation.unitName)
            try confirm()
        } catch {
            undo(installation, earlier)
            throw error
        }
    }

    /// A manually started service owns the bus name and the inbox, so systemd could not start another one.
    private func refuseAnotherService() throws {
        guard RunningService.isRunning else { return }
        do {
            try ServiceInstallation.systemctl("is-active", "--quiet", ServiceInstallation.unitName)
        } catch {
            let message = "nfcd is already running, but was not started by systemd. Stop it, then enable the service."
            throw CommandFailure("still-running", message)
        }
    }

    /// systemd considers the service started once it owns its bus name. This also checks that it answers.
    private func confirm() throws {
        do {
            guard try RunningService.ask("Status", within: 20) == nil else { return }
        } catch is BusError {
            // systemctl has already reported the failure.
            return
        }
        let message = "The service exited immediately, and all changes were undone. See: journalctl --user -u nfcd"
        throw CommandFailure("ended", message)
    }

    private func undo(_ installation: ServiceInstallation, _ earlier: ServiceInstallation.Earlier) {
        if !earlier.isEnabled { try? ServiceInstallation.systemctl("disable", "--now", ServiceInstallation.unitName) }
        installation.restore(earlier)
        try? ServiceInstallation.systemctl("daemon-reload")
        try? ServiceInstallation.systemctl("reset-failed", ServiceInstallation.unitName)
        if earlier.isEnabled { try? ServiceInstallation.systemctl("restart", ServiceInstallation.unitName) }
    }

    private func remarks(_ program: String, _ configuration: ReaderConfiguration) -> [String] {
        var notes: [String] = []
        if ServiceInstallation.isTemporary(program) {
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

    private struct Removal {
        var files: [String]
        var data: [ServiceData.Item] = []

        var isEmpty: Bool { files.isEmpty && data.isEmpty }

        func lines(_ verb: String) -> [String] {
            files.map { "\(verb) \($0)" }
                + data.map { "\(verb) \($0.path): \($0.content), \($0.count == 1 ? "1 file" : "\($0.count) files")" }
        }
    }

    func run() async throws {
        let installation = ServiceInstallation()
        let data = ServiceData(UserEnvironment().folders)
        if dryRun {
            let files = installation.paths.filter(FileManager.default.fileExists(atPath:))
            return show(Removal(files: files, data: purge ? data.items : []))
        }
        if purge, !json {
            for line in Removal(files: [], data: data.items).lines("Will remove") { StandardError.writeLine(line) }
        }
        var removal = Removal(files: try disable(installation))
        if purge {
            // A manually started service would keep writing files.
            if RunningService.isRunning {
                let message =
                    "nfcd is still running, but was not started by systemd. Its files were not removed. Stop it first."
                throw CommandFailure("still-running", message)
            }
            removal.data = try data.remove()
        }
        show(removal)
    }

    private func disable(_ installation: ServiceInstallation) throws -> [String] {
        do {
            try ServiceInstallation.systemctl("show-environment")
        } catch let failure as CommandFailure where failure.name == "no-systemd" {
            // Without systemd, the service can't be running. Its files are removed anyway.
            if purge { return installation.remove() }
            throw CommandFailure(
                "no-systemd",
                """
                systemd does not run for this user, so there is no service to disable. If you started nfcd yourself, stop it \
                with Ctrl-C. To remove what it has saved: nfc background disable --purge
                """
            )
        }
        if FileManager.default.fileExists(atPath: installation.paths[0]) {
            try ServiceInstallation.systemctl("disable", "--now", ServiceInstallation.unitName)
        }
        let files = installation.remove()
        try ServiceInstallation.systemctl("daemon-reload")
        return files
    }

    private func show(_ removal: Removal) {
        let removed = removal.data.map { item -> JSONObject in
            ["path": item.path, "content": item.content, "count": item.count]
        }
        var lines = removal.lines(dryRun ? "Would remove" : "Removed")
        if removal.isEmpty {
            lines.append("The service was not enabled, and there was nothing to remove.")
        } else if !dryRun {
            lines.append("The service has stopped, and will not start again.")
        }
        printResult(json: json, ["ok": true, "dry_run": dryRun, "files": removal.files, "removed": removed], lines)
    }
}
