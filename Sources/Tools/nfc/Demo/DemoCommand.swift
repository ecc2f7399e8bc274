// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxSupport
import UserBus

/// `nfc demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show what happens when a tag comes near while no app is open.",
        discussion: """
            In a private folder and on its own message bus, it installs the sample app
            and a local association file, runs the service, and brings a virtual tag
            near. The notification appears on the desktop, or here if there is none.
            You click it, and the app shows the tag's message. At the end everything is
            removed, also after Ctrl-C. If it is killed, it removes what it can, and the
            next run removes the rest. It needs no reader, no root and no systemd. It
            needs dbus-daemon, and nfcd and TagReader beside nfc (swift build).

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

    @Flag(help: "Show the notification here and open no window, even on a desktop.")
    var terminal = false

    @Flag(help: "Print one JSON object per step.")
    var json = false

    /// The folder of a demonstration that was killed. The command then only removes what it left.
    @Option(help: .private)
    var takeAway: String?

    /// How many tenths of a second that demonstration may take to end.
    private static let patience = 100

    func run() async throws {
        if let takeAway {
            DemoLeftovers.remove(takeAway, within: Self.patience)
            return
        }
        let signals = DemoSignals()
        let words = DemoWords(json: json)
        try await reportingFailure(json: json) { () async throws(CommandFailure) in
            do throws(CommandFailure) {
                try await show(signals, words)
                words.say("end", "Everything is removed again: the service, the bus, the app and the folder.")
            } catch  where error === DemoSignals.noOutput {
                // The end of the process reports it, as for all commands.
            }
        }
    }

    private func show(_ signals: DemoSignals, _ words: DemoWords) async throws(CommandFailure) {
        for folder in DemoLeftovers.removeAll() {
            words.say("leftovers", "An earlier demonstration was killed. Its folder is removed: \(folder)")
        }
        let place = try await DemoSandbox(programs: try DemoPrograms(), usesDesktop: !terminal)
        defer { place.remove() }
        try place.install()
        words.say("place", "Private folder, removed at the end: \(place.folder.path)")
        words.say(
            "app",
            "The sample app Tag Reader is installed there, with a local association file of \(DemoSandbox.domain) "
                + "(developer mode)."
        )
        try signals.check()
        let bus: PrivateBus
        do throws(BusError) {
            bus = try PrivateBus(in: place.folder, environment: place.environment)
        } catch {
            try DemoOutline(place: place, words: words).show()
            throw CommandFailure(.refused, "no-bus-daemon", DemoOutline.missing(error))
        }
        place.busAddress = bus.address
        let show = DemoShow(place: place, words: words, signals: signals, clicks: yes)
        try show.run(address: bus.address, usesDesktop: !terminal)
    }
}
