// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import NDEF
import ProgramTesting
import Synchronization
import TestThreads
import Testing
import UserBus

/// The service with a desktop: notifications, clicks and the locked screen.
@Suite(.ownThreads, .enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct NotificationTests {
    /// A service with a desktop, and a link in its inbox.
    private struct Scene {
        let daemon: Daemon
        let desktop: Desktop
        /// The identifier of the link.
        let id: String

        init(
            environment: [String: String] = [:],
            refusals: Int = 0,
            isLocked: Bool = false,
            preparing: (User, SessionBus) throws -> Void = { user, _ in try user.installBrowser() }
        ) throws {
            var shown: Desktop?
            var entry = ""
            daemon = try Daemon(environment: environment) { user, bus in
                try preparing(user, bus)
                entry = try user.add()
                shown = try Desktop(on: bus, refusals: refusals, isLocked: isLocked)
            }
            desktop = try #require(shown)
            id = entry
        }
    }

    // MARK: Clicks

    @Test func `nfcd click on a link for the browser: opened with the activation token of the desktop`() throws {
        let scene = try Scene { _, _ in }
        try scene.daemon.waits(for: "shown")
        // What opens the link has changed since: it is offered anew.
        try scene.daemon.user.installBrowser()
        #expect(try scene.daemon.ask("Open", scene.id) == "opening")
        try scene.daemon.waits(for: "shown")
        // A desktop that keeps nothing by itself is asked to keep it.
        let hints: [String: BusValue] = [
            "desktop-entry": .string("org.opencorenfc.Background"), "urgency": .byte(1), "resident": .boolean(true),
            "category": .string("device.added"), "sound-name": .string("device-added"),
        ]
        let arguments: [BusValue] = [
            .string("NFC"), .uint32(7), .string("org.opencorenfc.Background"), .string("NFC Tag Detected"),
            .string("Open “b.example” in Fox"), .list([.string("default"), .string("Open")]), .properties(hints),
            .int32(0),
        ]
        #expect(scene.desktop.notified.last == arguments && scene.desktop.notified.count == 2)
        scene.desktop.click(token: "token")
        try scene.daemon.waits(for: "delivered")
        waitWhile(scene.daemon.user.opened.count < 2 || !scene.daemon.user.inbox.isEmpty)
        #expect(scene.daemon.user.opened == ["https://b.example/1", "token"])
        #expect(scene.daemon.user.inbox.isEmpty)
        #expect(try scene.daemon.ask("Open", scene.id) == "unknown")
        #expect(scene.daemon.end() == 0)
    }

    @Test func `nfcd click on a link for a running app: the app gets the link and the whole message`() throws {
        let payloads = Mutex<[UserActivityPayload]>([])
        let isStopped = Mutex(false)
        let scene = try Scene { user, bus in
            let details = #"{"appIDs":["TEAM.org.example.reader"],"components":[{"/":"/*"}]}"#
            try user.installApp(domains: ["b.example"])
            try user.cache(#"{"applinks":{"details":[\#(details)]}}"#, of: "b.example")
            let service = try DeliveryService(desktopID: "org.example.Reader", address: bus.address) { payload in
                payloads.withLock { $0.append(payload) }
                return true
            }
            Thread.detachNewThread { _ = try? service.run { isStopped.withLock { $0 } } }
        }
        defer { isStopped.withLock { $0 = true } }
        try scene.daemon.waits(for: "shown")
        #expect(scene.desktop.texts == ["Open “b.example” in Reader"])
        scene.desktop.click()
        try scene.daemon.waits(for: "delivered")
        let payload = try #require(payloads.withLock { $0.first })
        #expect(payload.webpageURL == "https://b.example/1")
        #expect(payload.activityType == UserActivityPayload.browsingWeb)
        #expect(try NDEFMessage(decoding: payload.message).records.count == 2)
    }

    @Test func `nfcd click on a link that nothing can open: the entry stays, and the notification says so`() throws {
        let scene = try Scene(environment: ["PATH": "/nowhere"]) { _, _ in }
        try scene.daemon.waits(for: "shown")
        scene.desktop.click()
        try scene.daemon.waits(for: "not-delivered")
        try scene.daemon.waits(for: "stays")
        waitWhile(scene.desktop.notified.count < 2)
        #expect(scene.desktop.notified.map { $0[1] } == [.uint32(0), .uint32(7)])
        #expect(scene.desktop.notified.last?[3] == .string("The Link Was Not Opened"))
        #expect(scene.daemon.user.inbox.count == 1)
        // The next try succeeds when there is a browser.
        try scene.daemon.user.installBrowser()
        #expect(try scene.daemon.ask("Open", scene.id) == "opening")
        try scene.daemon.waits(for: "delivered")
        #expect(scene.daemon.end() == 0)
    }

    @Test(arguments: [true, false])
    func `nfcd restarted: closes a notification whose entry is gone, if it is of this bus`(isOwn: Bool) throws {
        var desktop: Desktop?
        let daemon = try Daemon { user, bus in
            desktop = try Desktop(on: bus)
            let connection = try BusConnection(.user, address: bus.address)
            let name = BusCall(.daemon, "GetNameOwner", [.string(Desktop.object.destination)])
            let owner = try #require(try connection.ask(name).first?.text)
            let id = try #require(try connection.ask(BusCall(.daemon, "GetId")).first?.text)
            let place = try #require(user.nfc.environment["XDG_RUNTIME_DIR"]) + "/nfc"
            let files = FileManager.default
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            try files.createDirectory(atPath: place, withIntermediateDirectories: true, attributes: attributes)
            let line = "\(owner) 41 entry 0000000000010000000a"
            let text = "\(isOwn ? id : String(id.reversed()))\n\(line)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: place + "/notifications"))
        }
        let shown = try #require(desktop)
        try daemon.waits(for: "reading")
        waitWhile(isOwn && !shown.asked.contains("CloseNotification 41"))
        #expect(daemon.end() == 0)
        #expect(shown.asked.contains("CloseNotification 41") == isOwn, "\(shown.asked)")
    }

    // MARK: The locked screen

    @Test func `nfcd locked by the screen saver: a click waits, and the link opens after the unlock`() throws {
        let scene = try Scene(isLocked: true)
        try scene.daemon.waits(for: "lock")
        try scene.daemon.waits(for: "shown")
        scene.desktop.click()
        #expect(try scene.daemon.waits(for: "waits")["asked"] == "org.gnome.ScreenSaver")
        waitWhile(!scene.desktop.asked.contains("SimulateUserActivity"))
        #expect(try scene.daemon.ask("Open", scene.id) == "locked")
        let command = try scene.daemon.user.nfc.run("inbox", "open", scene.id)
        #expect(command.status == 1)
        #expect(command.error == "Error: The screen is locked. The link opens when the screen is unlocked.\n")
        #expect(scene.daemon.user.opened == [] && scene.daemon.user.marks.hasPrefix("\(scene.id) wanted "))
        scene.desktop.unlock()
        try scene.daemon.waits(for: "delivered")
        #expect(scene.daemon.user.opened.first == "https://b.example/1")
        #expect(scene.daemon.end() == 0)
    }

    @Test func `nfcd locked by logind: tags are read after the first unlock, and links wait`() throws {
        let system = try SessionBus()
        let machine = try TestFolder()
        try machine.write("proc/sys/kernel/random/boot_id", "boot-1\nmore\n")
        let login = try Login(on: system, .init(isLocked: true))
        let environment = ["NFC_SYSTEM_ROOT": machine.path, "DBUS_SYSTEM_BUS_ADDRESS": system.address]
        let daemon = try Daemon(environment: environment) { user, _ in try user.installBrowser() }
        try daemon.waits(for: "lock")
        try daemon.waits(for: "not-reading never-unlocked")
        login.become(.init())
        try daemon.waits(for: "lock")
        try daemon.waits(for: "reading")
        #expect(daemon.user.folder.text("state/nfc/background/unlocked").contains("boot-1"))
        login.become(.init(isIdle: true))
        try daemon.waits(for: "not-reading display-off")
        login.become(.init())
        try daemon.waits(for: "reading")
        login.become(.init(isGoingToSleep: true))
        try daemon.waits(for: "not-reading display-off")
        login.become(.init())
        try daemon.waits(for: "reading")
        // It asks logind before it opens a link, for a lock that was not reported.
        try daemon.bring([try .uri("https://b.example/1")])
        let id = try #require(try daemon.waits(for: "arrived")["id"])
        login.become(.init(isLocked: true), silently: true)
        #expect(try daemon.ask("Open", id) == "opening")
        try daemon.waits(for: "lock")
        try daemon.waits(for: "waits")
        #expect(daemon.end() == 0 && daemon.user.opened == [])
    }

    @Test func `nfcd restarted after the first unlock: tags are read and clicked links open`() throws {
        let machine = try TestFolder()
        try machine.write("proc/sys/kernel/random/boot_id", "boot-1\n")
        let system = try SessionBus()
        let login = try Login(on: system, .init(isLocked: true))
        let environment = ["NFC_SYSTEM_ROOT": machine.path, "DBUS_SYSTEM_BUS_ADDRESS": system.address]
        let daemon = try Daemon(environment: environment) { user, _ in
            try user.installBrowser()
            try user.folder.write("state/nfc/background/unlocked", "boot-1", mode: 0o600)
            let id = try user.add()
            try user.folder.write("state/nfc/background/marks", "\(id) wanted boot-1\n", mode: 0o600)
        }
        try daemon.waits(for: "reading")
        #expect(daemon.user.opened == [])
        login.become(.init())
        try daemon.waits(for: "delivered")
        #expect(daemon.user.opened.first == "https://b.example/1")
        #expect(daemon.end() == 0)
    }

    // MARK: Programs that hang

    @Test func `nfcd with a logind or screen saver that does not answer: the screen counts as locked`() throws {
        let system = try SessionBus()
        let silent = try BusProgram(system.address, "org.freedesktop.login1") { _, _ in }
        var saver: BusProgram?
        // Both wait for an answer at the same time.
        let daemon = try Daemon(environment: ["DBUS_SYSTEM_BUS_ADDRESS": system.address])
        let other = try Daemon { _, bus in saver = try BusProgram(bus.address, "org.gnome.ScreenSaver") { _, _ in } }
        let line = try daemon.waits(for: "lock")
        #expect(line["message"] == "The screen counts as locked: logind does not answer.")
        #expect(try daemon.status("silent_login") == "true" && daemon.status("locked") == "true")
        let text = try other.waits(for: "lock")["message"]
        #expect(text == "The screen counts as locked: org.gnome.ScreenSaver does not answer.")
        try other.waits(for: "reading")
        #expect(try other.status("silent_savers") == #"["org.gnome.ScreenSaver"]"#)
        #expect(daemon.end() == 0 && other.end() == 0)
        withExtendedLifetime((silent, saver)) {}
    }

    @Test func `nfcd, display off by the compositor: tags are read once the compositor has ended`() throws {
        var compositor: BusProgram?
        let daemon = try Daemon { _, bus in
            // `PowerSaveMode`; 0 is on.
            compositor = try BusProgram(bus.address, "org.gnome.Mutter.DisplayConfig") { message, _ in
                try message.answer([.int32(3)])
            }
        }
        try daemon.waits(for: "not-reading display-off")
        withExtendedLifetime(compositor) {}
        compositor = nil
        try daemon.waits(for: "reading")
        #expect(daemon.end() == 0)
    }
}
