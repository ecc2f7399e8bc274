// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import PrivateStorage
import UserBus

/// `nfc demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show what happens when a tag comes near while no app is open.",
        discussion: """
            In a private folder, and on a message bus of its own, it installs the sample
            app and a local association file, runs the service, and brings a virtual tag
            near. The notification is shown on the desktop, or here where there is none.
            You click it, and the app shows the tag's message. Then all of it is taken
            away again, also on Ctrl-C and when it is killed. It needs no reader, no
            root and no systemd; it needs dbus-daemon, and nfcd and TagReader beside nfc
            (swift build).

            Examples:
              nfc demo
              nfc demo --terminal --yes

            Exit status: 0 when the app has shown the message, 1 when something was
            missing or what it says could not be written, 2 for wrong usage, 130 when it
            was cancelled, or the notification was dismissed.
            """
    )

    @Flag(help: "Click the notification without asking; on a desktop after two seconds.")
    var yes = false

    @Flag(help: "Show the notification here, and open no window, although there is a desktop.")
    var terminal = false

    @Flag(help: "Print one JSON object a step.")
    var json = false

    /// The folder of a demonstration that was killed: what it left is removed, and nothing else is done.
    @Option(help: .private)
    var takeAway: String?

    func run() async throws {
        if let takeAway {
            DemoLeftovers.remove(takeAway, within: 100)
            return
        }
        let signals = DemoSignals()
        defer { signals.cancel() }
        try await reportingFailure(json: json) { () async throws(CommandFailure) in
            do throws(CommandFailure) {
                try await show(signals)
            } catch  where error === DemoSignals.noOutput {
                return
            }
        }
    }

    private func show(_ signals: DemoSignals) async throws(CommandFailure) {
        let words = DemoWords(json: json)
        for folder in DemoLeftovers.removeAll() {
            words.say("leftovers", "An earlier demonstration was killed. What it left is removed: \(folder)")
        }
        let place = try await DemoPlace(programs: try DemoPrograms(), usesDesktop: !terminal)
        defer { place.remove() }
        try place.install()
        words.say("place", "A private folder, which is removed at the end: \(place.folder.path)")
        words.say(
            "app",
            "The sample app Tag Reader is installed there, with a local association file of \(DemoPlace.domain) "
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
        place.remove()
        words.say("end", "Everything is taken away again: the service, the bus, the app and the folder.")
    }
}
