// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Glibc
import LinkDelivery
import LinuxSupport
import TagLink
import UniversalLinks
import UserBus

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show what happens when a tag comes near while no app is open.",
        discussion: """
            In a private folder and on its own message bus, it installs the sample app
            and a local association file, runs the service, and brings a virtual tag
            near. The notification appears on the desktop, or in the terminal if there
            is no desktop. You click it, and the app shows the tag's message. At the end
            everything is removed, also after Ctrl-C or when it is killed. It needs no
            reader, no root and no systemd. It needs dbus-daemon, and nfcd and TagReader
            next to nfc (swift build).

            Examples:
              nfc demo
              nfc demo --terminal --yes

            Exit status: 0 when the app has shown the message, 1 when something was
            missing or the output could not be written, 2 for wrong usage, 130 when you
            cancelled or dismissed the notification.
            """
    )

    @Flag(help: "Click the notification without asking; on a desktop, after two seconds.")
    var yes = false

    @Flag(help: "Show the notification in the terminal and open no window, even on a desktop.")
    var terminal = false

    @Flag(help: "Print one JSON object per step.")
    var json = false

    /// The folder left by a demo that was killed. With this option, the command only cleans up.
    @Option(help: .private)
    var takeAway: String?

    func run() async throws {
        if let takeAway {
            DemoSandbox.takeAway(takeAway)
            return
        }
        let output = DemoOutput(json: json)
        do {
            try await show(DemoSignals(), output)
            output.show("end", "Everything was removed: the service, the bus, the app and the folder.")
        } catch is DemoSignals.NoOutput {
            // The process reports the error when it exits, like all commands.
        }
    }

    private func show(_ signals: DemoSignals, _ output: DemoOutput) async throws {
        let sandbox = try await DemoSandbox(programs: try DemoPrograms(), usesDesktop: !terminal)
        defer { sandbox.remove() }
        try sandbox.install()
        output.show("place", "Private folder, removed at the end: \(sandbox.folder.path)")
        output.show(
            "app",
            "The sample app Tag Reader is installed there, with a local association file of \(DemoSandbox.domain) "
                + "(developer mode)."
        )
        try signals.check()
        let bus: PrivateBus
        do throws(BusError) {
            bus = try PrivateBus(in: sandbox.folder, environment: sandbox.environment)
        } catch {
            try showWithoutBus(sandbox, output)
            throw CommandFailure(
                "no-bus-daemon",
                "The service, the click and the app can't be shown, because they need a message bus. \(error.reason)"
            )
        }
        sandbox.busAddress = bus.address
        try DemoRunner(sandbox: sandbox, output: output, signals: signals, clicksAutomatically: yes)
            .run(address: bus.address, usesDesktop: !terminal)
    }

    /// Shows the part that works without a message bus: which app opens the link, and the notification's text.
    private func showWithoutBus(_ sandbox: DemoSandbox, _ output: DemoOutput) throws {
        let router = try LinkDeliverer(environment: sandbox.environment).router()
        guard let uri = TagURI(DemoSandbox.link), let content = NotificationContent(uri, router: router) else { return }
        output.show(
            "link",
            "A tag with the link \(uri.text) would come near. According to the association file, Tag Reader opens the link:",
            lines: [router.universalLink(uri).why]
        )
        output.show("notification", "The notification would be:", lines: [content.title, content.body])
    }
}

struct DemoOutput {
    let json: Bool

    func show(_ step: String, _ text: String, lines: [String] = []) {
        printResult(
            json: json,
            ["ok": true, "step": step, "message": text, "lines": lines],
            ["- \(text)"] + lines.map { "    \($0)" }
        )
    }

    /// Prints what the user can do now, to standard error if the output is JSON.
    func prompt(_ text: String) {
        let line = "  \(text)"
        if json { StandardError.writeLine(line) } else { printLine(line) }
    }
}

/// Handles Ctrl-C and other signals that end the demo.
final class DemoSignals: Sendable {
    struct NoOutput: Error {}

    private let isStopped = Locked(false)
    private let signals: ProcessSignals

    init() {
        signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP]) { [isStopped] _ in isStopped.withLock { $0 = true } }
    }

    func check() throws {
        if isStopped.withLock({ $0 }) {
            let message = "The demonstration was stopped. Everything that it created was removed."
            throw CommandFailure(.cancelled, "cancelled", message)
        }
        if StandardOutput.isBroken { throw NoOutput() }
    }
}
