// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import UserBus

/// The demonstration itself, from the start of the service to the message in the app.
struct DemoShow {
    let place: DemoPlace
    let words: DemoWords
    let signals: DemoSignals
    /// Whether the notification is clicked without asking.
    let clicks: Bool

    /// How long the service or the app may take for a step.
    private static let limit = Duration.seconds(20)
    /// How long a notification stays on the desktop before it is clicked automatically.
    private static let view = Duration.seconds(2)

    /// Runs it.
    ///
    /// - Parameters:
    ///   - address: the address of the demonstration's own bus.
    ///   - usesDesktop: whether notifications are shown on the desktop where there is one.
    func run(address: String, usesDesktop: Bool) throws(CommandFailure) {
        let (stand, desktop) = try makeStand(address, usesDesktop)
        defer { stand.closeAll() }
        let service = try DemoProgram(
            place.programs.service,
            ["--json", "--tags", "\(place.folder.path)/tags"],
            environment: place.environment
        )
        let loop = DemoLoop(stand: stand, service: service, signals: signals)
        let reading = try loop.wait(Self.limit, "the service to read tags") { $0.message(of: "reading") }
        words.say("service", "The service nfcd runs: \(reading)")
        try place.bringTag()
        words.say("tag", "A virtual NTAG215 comes near. Its link is \(DemoPlace.link)")
        let notification = try loop.wait(Self.limit, "the notification") { happening in
            if case .desk(.shown(let notification)) = happening { notification } else { nil }
        }
        words.say(
            "notification",
            desktop == nil
                ? "The notification is on your desktop." : "The notification is shown here, \(desktop ?? ""):",
            lines: [notification.title, notification.body]
        )
        guard try click(notification, loop, stand, isOnDesktop: desktop == nil) else {
            throw CommandFailure(
                .cancelled,
                "dismissed",
                "The notification was dismissed, so the app was not opened, and everything is removed again. If a click "
                    + "dismisses notifications, as the left button does with dunst, press Return instead. Outside the "
                    + "demonstration the link would stay in the inbox: nfc inbox list"
            )
        }
        _ = try loop.wait(Self.limit, "the app to take the link") { $0.message(of: "delivered") }
        try showApp(loop)
    }

    /// Takes the place of the program that shows notifications.
    ///
    /// - Returns: why notifications are shown here; nil when they are shown on the desktop.
    private func makeStand(
        _ address: String,
        _ usesDesktop: Bool
    ) throws(CommandFailure) -> (stand: NotificationRelay, reason: String?) {
        do throws(BusError) {
            let bus = try BusConnection(.user, address: address)
            guard usesDesktop else { return (try NotificationRelay(on: bus), "as --terminal asks") }
            do throws(BusError) {
                let desktop = try BusConnection(.user)
                return (try NotificationRelay(on: bus, desktop: desktop), nil)
            } catch {
                words.say(
                    "no-desktop",
                    "No program shows notifications on a desktop here, so they appear in this terminal. On a desktop, a program "
                        + "such as dunst shows them.",
                    lines: [error.reason]
                )
                return (try NotificationRelay(on: bus), "in the place of a desktop")
            }
        } catch {
            throw CommandFailure(.refused, "no-bus", error.reason)
        }
    }

    /// Waits for the click.
    ///
    /// - Returns: false when the person dismissed the notification.
    private func click(
        _ notification: NotificationRelay.Notification,
        _ loop: DemoLoop,
        _ stand: NotificationRelay,
        isOnDesktop: Bool
    ) throws(CommandFailure) -> Bool {
        loop.readsInput = !clicks
        if clicks {
            // Wait, so that a person can see the notification.
            loop.alarm = ContinuousClock.now + (isOnDesktop ? Self.view : .zero)
        } else {
            words.prompt(isOnDesktop ? "Click it, or press Return here." : "Press Return to click it; Ctrl-C ends.")
        }
        while true {
            let answer = try loop.wait(nil, "the click") { happening -> Answer? in
                switch happening {
                case .returnKey: .key
                case .alarm: .time
                case .inputEnded: isOnDesktop ? nil : .nobody
                case .desk(.activated(notification.number)): .clicked
                case .desk(.closed(notification.number, isDismissed: true)): .dismissed
                default: nil
                }
            }
            switch answer {
            case .key: try click(notification, stand)
            case .time:
                words.say("click", "It is clicked, as --yes asks.")
                try click(notification, stand)
            case .clicked: return true
            case .dismissed: return false
            case .nobody:
                throw CommandFailure(
                    .refused,
                    "no-click",
                    "Standard input has ended, so you can't click. Run the demonstration in a terminal, or with --yes."
                )
            }
        }
    }

    private enum Answer { case key, time, clicked, dismissed, nobody }

    private func click(_ notification: NotificationRelay.Notification, _ stand: NotificationRelay)
        throws(CommandFailure)
    {
        do throws(BusError) {
            try stand.click(notification.number)
        } catch {
            throw CommandFailure(.refused, "no-bus", error.reason)
        }
    }

    /// Prints what the app shows.
    private func showApp(_ loop: DemoLoop) throws(CommandFailure) {
        do throws(StorageError) {
            try place.folder.write("script", Array("show 1\n".utf8))
        } catch {
            throw CommandFailure(error)
        }
        let app = try DemoProgram(
            place.programs.app,
            ["--plain"],
            input: "\(place.folder.path)/script",
            environment: place.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
        var lines: [String] = []
        let end = ContinuousClock.now + Self.limit
        while !app.isAtEnd, ContinuousClock.now < end {
            try signals.check()
            var poller = pollfd(fd: app.descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, 100)
            lines += app.lines()
        }
        guard !lines.isEmpty else {
            throw CommandFailure(.refused, "no-message", "The app does not show the message. Run TagReader by itself.")
        }
        guard let window = DemoWindow.process(of: place) else {
            return words.say("app-opened", "The click has opened Tag Reader, which shows:", lines: lines)
        }
        words.say("app-opened", "The click has opened Tag Reader, in a window of its own. It shows:", lines: lines)
        if clicks {
            loop.alarm = ContinuousClock.now + Self.view
        } else {
            words.prompt("Close the window, or press Return here, to remove everything.")
        }
        while kill(window, 0) == 0, DemoWindow.process(of: place) == window {
            switch try loop.next(within: .milliseconds(200)) {
            case .returnKey, .inputEnded, .alarm: return
            default: continue
            }
        }
    }
}
