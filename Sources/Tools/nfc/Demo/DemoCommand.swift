// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BackgroundTagReading
import Glibc
import LinkDelivery
import LinuxSupport
import Synchronization
import TextSafety
import UniversalLinks
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
        let place = try await DemoPlace(programs: try DemoPrograms(), usesDesktop: !terminal)
        defer { place.remove() }
        try place.install()
        words.say("place", "Private folder, removed at the end: \(place.folder.path)")
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
    }
}

/// The output of the demonstration, step by step.
struct DemoWords {
    let json: Bool

    /// Prints a step.
    ///
    /// - Parameters:
    ///   - step: one word, for programs.
    ///   - text: a sentence, for people.
    ///   - lines: further lines, for people.
    func say(_ step: String, _ text: String, lines: [String] = []) {
        guard json else {
            printLine("- \(text)")
            for line in lines { printLine("    \(line)") }
            return
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("step", step)
        writer.member("message", text)
        writer.key("lines")
        writer.values(lines)
        writer.endObject()
        writer.printLine()
    }

    /// Prints what the person can do now. JSON output leaves it out.
    func prompt(_ text: String) {
        let line = "  \(text)"
        if json { StandardError.writeLine(line) } else { printLine(line) }
    }
}

/// The part of the demonstration that works without a message bus: where the tag's link goes, and the notification's text.
struct DemoOutline {
    let place: DemoPlace
    let words: DemoWords

    /// Shows it.
    func show() throws(CommandFailure) {
        let router: LinkRouter
        do throws(StorageError) {
            router = try LinkDeliverer(environment: place.environment).router()
        } catch {
            throw CommandFailure(error)
        }
        guard let uri = TagURI(DemoPlace.link), let content = NotificationContent(uri, router: router) else { return }
        words.say(
            "link",
            "A tag with the link \(uri.text) would come near. By the association file, Tag Reader opens the link:",
            lines: [router.universalLink(uri).why]
        )
        words.say("notification", "The notification would be:", lines: [content.title, content.body])
    }

    /// The sentence that explains what can't be shown.
    static func missing(_ error: BusError) -> String {
        """
        The service, the click and the app can't be shown, because they need a message bus. \(error.reason)
        """
    }
}

/// Ctrl-C and the signals that end the demonstration, from its beginning to its end.
final class DemoSignals: Sendable {
    private let came: Flag
    private let signals: ProcessSignals

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    init() {
        let came = Flag()
        self.came = came
        signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP]) { _ in came.isSet.store(true, ordering: .relaxed) }
    }

    /// The failure when standard output can't be written. ``CommandProcess/end(_:)`` reports the reason for all commands.
    static let noOutput = CommandFailure(.refused, "no-output", "Standard output can't be written.")

    /// Fails when the person or the system has ended the demonstration, and with ``noOutput`` when its output can't be
    /// written.
    func check() throws(CommandFailure) {
        guard came.isSet.load(ordering: .relaxed) else {
            if StandardOutput.isBroken { throw Self.noOutput }
            return
        }
        throw CommandFailure(
            .cancelled,
            "cancelled",
            "The demonstration was stopped, and everything is removed again."
        )
    }
}
