// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Glibc
import TestThreads
import Testing
import UserBus

@testable import LinkDelivery

/// What an examination finds on the user's bus: notifications, and what reports the lock of the screen.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The findings about the programs on a bus` {
    private static let notifications = "org.freedesktop.Notifications"
    private let bus: TestBus
    private let desk: Desk

    init() throws {
        bus = try TestBus()
        desk = try Desk(bus)
    }

    private func finding(_ check: String) -> Finding? {
        Examination(environment: desk.environment, now: 0).busFindings.first { $0.check == check }
    }

    /// A screen saver that answers whether it is on, or says nothing.
    private func saver(_ name: String, answers: Bool = true) -> BusProgram {
        BusProgram(bus.address, name) { _, call in
            if answers { try call.answer([.boolean(false)]) }
        }
    }

    @Test func `say that nothing shows notifications, and what to do`() throws {
        let found = try #require(finding("notifications"))
        #expect(found.state == .fails)
        #expect(found.text.hasPrefix("Nothing shows notifications: "), "\(found.text)")
        #expect(found.text.contains(Self.notifications), "\(found.text)")
        let fix = "Install a program that shows them, such as dunst, and see what waits with: nfc inbox list"
        #expect(found.fix == fix)
    }

    @Test func `name a program that has no name, and what it does not keep`() throws {
        let program = BusProgram(bus.address, Self.notifications) { _, call in
            try call.answer(call.name.hasSuffix(".GetCapabilities") ? [.strings(["body", "actions"])] : nil)
        }
        let text =
            "A program without a name shows notifications with a click, and does not keep them, so they are asked to "
            + "stay until they are closed (actions, body)."
        #expect(finding("notifications") == Finding("notifications", .works, text))
        withExtendedLifetime(program) {}
    }

    @Test func `say what to do where notifications can't be clicked`() throws {
        let program = BusProgram(bus.address, Self.notifications) { _, call in
            try call.answer([.strings(["persistence"])])
        }
        let fix = "Open links with: nfc inbox open. Or use a program whose notifications have actions."
        #expect(finding("notifications")?.state == .limited && finding("notifications")?.fix == fix)
        withExtendedLifetime(program) {}
    }

    @Test func `name what reports the lock and asks for the password`() throws {
        let login = LoginReport.ask(of: geteuid(), own: nil)
        try #require(!login.isSilent)
        let session = login.session.map { "logind reports the lock of session \($0.id); " }
        let none =
            session.map { Finding("lock", .works, $0 + "nothing can be asked to prompt for the password.") }
            ?? Finding(
                "lock",
                .limited,
                "Nothing reports whether the screen is locked: links open on a locked screen too.",
                fix: "Log in by a session that logind knows, or run a screen saver that is on the bus."
            )
        #expect(finding("lock") == none)
        let savers = [saver("org.gnome.ScreenSaver"), saver("org.mate.ScreenSaver")]
        let names = "org.gnome.ScreenSaver, org.mate.ScreenSaver"
        let text = session.map { "\($0)\(names) prompts." } ?? "\(names) reports the lock, and prompts."
        #expect(finding("lock") == Finding("lock", .works, text))
        withExtendedLifetime(savers) {}
    }

    @Test func `say that logind does not answer, and what to look at`() async {
        // In another process, because all threads share the environment.
        await #expect(processExitsWith: .success) {
            let (user, system) = (try TestBus(), try TestBus())
            let desk = try Desk(user)
            let login = BusProgram(system.address, "org.freedesktop.login1") { _, call in
                try call.refuse("Failed", "No.")
            }
            _ = unsafe setenv("DBUS_SYSTEM_BUS_ADDRESS", system.address, 1)
            let found = Examination(environment: desk.environment, now: 0).busFindings.first { $0.check == "lock" }
            let text = "logind does not answer whether the screen is locked, so it counts as locked."
            let fix = "See what keeps it: systemctl status systemd-logind"
            #expect(found == Finding("lock", .limited, text, fix: fix))
            withExtendedLifetime((user, system, login)) {}
        }
    }

    @Test func `name a screen saver that does not answer`() throws {
        let savers = [saver("org.gnome.ScreenSaver", answers: false), saver("org.mate.ScreenSaver")]
        let text = "org.gnome.ScreenSaver does not answer whether the screen is locked, so it counts as locked."
        let fix = "Lock the screen and unlock it. Where that changes nothing, start the screen saver again."
        #expect(finding("lock") == Finding("lock", .limited, text, fix: fix))
        withExtendedLifetime(savers) {}
    }
}
