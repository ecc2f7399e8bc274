// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Glibc
import UserBus

/// The checks of the user's bus: notifications, and the services that report the screen lock.
extension LinkDiagnostics {
    private static let notifications = BusCall.Object(
        "org.freedesktop.Notifications",
        "/org/freedesktop/Notifications",
        "org.freedesktop.Notifications"
    )

    /// The findings about the bus and the services on it.
    var busFindings: [Finding] {
        do throws(BusError) {
            let bus = try BusConnection(.user, address: environment["DBUS_SESSION_BUS_ADDRESS"])
            return [Finding("bus", .works, "The user's bus answers."), notifications(bus), try lock(bus)]
        } catch {
            let fix: String? =
                switch error.code {
                case .libraryMissing: "Install libsystemd, for instance with: apt-get install libsystemd0"
                // The error's reason already says what to check.
                case .silentBus: nil
                default: "Log in to a desktop, or run the programs in: dbus-run-session"
                }
            let text = error.code == .noBus ? "There is no bus of the user." : error.reason
            return [Finding("bus", .fails, text, fix: fix)]
        }
    }

    private func notifications(_ bus: BusConnection) -> Finding {
        let capabilities: Set<String>
        do throws(BusError) {
            let answer = try bus.ask(BusCall(Self.notifications, "GetCapabilities"), within: 10)
            capabilities = Set((answer.first?.values ?? []).compactMap(\.text))
        } catch {
            return Finding(
                "notifications",
                .fails,
                "Nothing shows notifications: \(error.reason)",
                fix: "Install a program that shows them, such as dunst, and see what waits with: nfc inbox list"
            )
        }
        let server = (try? bus.ask(BusCall(Self.notifications, "GetServerInformation")))?.compactMap(\.text) ?? []
        let name = DisplayText.plain(server.first ?? "A program without a name", limit: 60)
        let list = DisplayText.plain(capabilities.sorted().joined(separator: ", "), limit: 200)
        guard capabilities.contains("actions") else {
            return Finding(
                "notifications",
                .limited,
                "\(name) shows notifications, which can't be clicked (\(list)).",
                fix: "Open links with: nfc inbox open. Or use a program whose notifications have actions."
            )
        }
        let stay =
            capabilities.contains("persistence")
            ? "keeps them" : "does not keep them, so they are asked to stay until they are closed"
        return Finding("notifications", .works, "\(name) shows notifications with a click, and \(stay) (\(list)).")
    }

    private func lock(_ bus: BusConnection) throws(BusError) -> Finding {
        var savers: [String] = []
        for saver in ScreenSaver.all where try bus.isThere(saver.object.destination) {
            savers.append(saver.object.destination)
        }
        let silent = try bus.screenSavers().silent
        guard silent.isEmpty else {
            return Finding(
                "lock",
                .limited,
                "\(silent.joined(separator: ", ")) does not answer whether the screen is locked, so it counts as locked.",
                fix: "Lock the screen and unlock it. Where that changes nothing, start the screen saver again."
            )
        }
        let login = LoginReport.ask(of: geteuid(), own: environment["XDG_SESSION_ID"])
        guard !login.isSilent else {
            return Finding(
                "lock",
                .limited,
                "logind does not answer whether the screen is locked, so it counts as locked.",
                fix: "See what keeps it: systemctl status systemd-logind"
            )
        }
        let prompt =
            savers.isEmpty
            ? "nothing can be asked to prompt for the password" : "\(savers.joined(separator: ", ")) prompts"
        if let session = login.session {
            return Finding("lock", .works, "logind reports the lock of session \(session.id); \(prompt).")
        }
        guard savers.isEmpty else {
            return Finding("lock", .works, "\(savers.joined(separator: ", ")) reports the lock, and prompts.")
        }
        return Finding(
            "lock",
            .limited,
            "Nothing reports whether the screen is locked: links open on a locked screen too.",
            fix: "Log in by a session that logind knows, or run a screen saver that is on the bus."
        )
    }
}
