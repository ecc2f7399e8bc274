// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinkDelivery
import LinuxSupport
import TextSafety

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
