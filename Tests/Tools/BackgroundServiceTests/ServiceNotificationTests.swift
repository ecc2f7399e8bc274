// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestThreads
import Testing
import UserBus

/// The service and a desktop that takes its time: what becomes of a notification that is on its way.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct `Notifications of the service` {
    /// A service with one link in its inbox, which it offers at its start, and what shows its notifications.
    private struct Scene {
        let service: RunningNfcd
        let desktop: NotificationServer
        let id: String

        /// - Parameters:
        ///   - holds: whether the desktop answers `Notify` only when it is let go on.
        ///   - refusals: how many notifications the desktop refuses at first.
        ///   - isLocked: whether the desktop's screen saver covers the screen; nil if it has none.
        ///   - path: the folders of programs; nil for those of the user and the system.
        ///   - preparing: called first, to prepare the user's files.
        init(
            holds: Bool = false,
            refusals: Int = 0,
            isLocked: Bool? = nil,
            path: String? = nil,
            preparing: (User) throws -> Void = { _ in }
        ) throws {
            let parts = Mutex<(desktop: NotificationServer, id: String)?>(nil)
            var environment = ["NFC_READER": "virtual"]
            environment["PATH"] = path
            service = try RunningNfcd(environment: environment) { user in
                try preparing(user)
                let id = try user.add("https://b.example/1")
                let address = try #require(user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"])
                let desktop = try NotificationServer(address, holds: holds, refusals: refusals, isLocked: isLocked)
                parts.withLock { $0 = (desktop, id) }
            }
            let known = try #require(parts.withLock { $0 })
            (desktop, id) = (known.desktop, known.id)
        }

        /// Calls a program on the service's bus.
        func ask(_ object: BusCall.Object, _ method: String, _ values: [BusValue] = []) throws -> [BusValue] {
            let address = service.user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"]
            return try BusConnection(.user, address: address).ask(BusCall(object, method, values), within: 30)
        }

        /// The number of links that wait, by the service's status.
        func waiting() throws -> Int? {
            try service.user.nfc.run("background", "status", "--json").objects().first?["waiting"] as? Int
        }
    }

    /// Installs a browser that notes each link with its permission to come to the front.
    static func installFox(_ user: User) throws {
        let script = "#!/bin/sh\nprintf '%s\\n' \"$1\" \"${XDG_ACTIVATION_TOKEN-none}\" >> \"$OPENED\"\n"
        let opened = user.scratch.path("opened")
        try user.write("bin/fox", script.replacing("$OPENED", with: opened), mode: 0o755)
        let entry = "[Desktop Entry]\nType=Application\nName=Fox\nExec=fox %u\n"
        try user.write("data/applications/fox.desktop", entry)
        let list = "[Default Applications]\nx-scheme-handler/https=fox.desktop\n"
        try user.write("config/mimeapps.list", list)
    }

    @Test func `A link that goes elsewhere by now is offered anew, and opens then`() throws {
        let scene = try Scene()
        #expect(scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
        try Self.installFox(scene.service.user)
        for isOpened in [false, true] {
            #expect(try scene.ask(RunningNfcd.object, "Open", [.string(scene.id)]) == [.string("opening")])
            let (event, times) = isOpened ? ("delivered", 1) : ("shown", 2)
            #expect(scene.service.prints("\"event\":\"\(event)\"", times: times), "\(scene.service.log)")
            #expect(scene.service.log.contains(#""event":"delivered""#) == isOpened)
        }
        #expect(scene.desktop.notified.count == 2)
        #expect(scene.desktop.notified.last?[4] == .string("Open “b.example” in Fox"))
        #expect(scene.service.end() == 0)
        scene.desktop.stop()
    }

    @Test func `A click opens the link with the desktop's permission to come to the front`() throws {
        let scene = try Scene(holds: false) { try Self.installFox($0) }
        #expect(scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
        // A desktop that keeps nothing by itself is asked to keep it, and to make no fuss.
        let hints: [String: BusValue] = [
            "desktop-entry": .string("org.opencorenfc.Background"), "urgency": .byte(1), "resident": .boolean(true),
            "category": .string("device.added"), "sound-name": .string("device-added"),
        ]
        let arguments: [BusValue] = [
            .string("NFC"), .uint32(0), .string("org.opencorenfc.Background"), .string("NFC Tag Detected"),
            .string("Open “b.example” in Fox"), .list([.string("default"), .string("Open")]), .properties(hints),
            .int32(0),
        ]
        #expect(scene.desktop.notified == [arguments])
        // A permission for another notification is none for this one.
        for (number, token) in [(UInt32(7), "token"), (8, "other")] {
            scene.desktop.emit("ActivationToken", [.uint32(number), .string(token)])
        }
        scene.desktop.emit("ActionInvoked", [.uint32(7), .string("default")])
        _ = try scene.ask(NotificationServer.object, "GetServerInformation")
        #expect(scene.service.prints(#""event":"delivered""#), "\(scene.service.log)")
        waitWhile(scene.service.user.opened.count < 2)
        #expect(scene.service.user.opened == ["https://b.example/1", "token"])
        #expect(scene.service.end() == 0)
        scene.desktop.stop()
    }

    @Test func `One whose link was removed while it was on its way is closed as soon as it is shown`() throws {
        let scene = try Scene(holds: true)
        #expect(scene.desktop.isAsked("Notify"), "\(scene.service.log)")
        #expect(try scene.service.user.nfc.run("inbox", "clear").status == 0)
        try waitWhile(scene.waiting() != 0)
        #expect(try scene.waiting() == 0)
        scene.desktop.goOn()
        #expect(scene.desktop.isAsked("CloseNotification 7"), "\(scene.desktop.asked)")
        #expect(scene.service.end() == 0)
        #expect(!scene.service.log.contains(#""event":"shown""#))
        scene.desktop.stop()
    }

    @Test func `One that is to be another while it is on its way is the other one after it`() throws {
        // No program opens the link.
        let scene = try Scene(holds: true, path: "/nowhere")
        #expect(scene.desktop.isAsked("Notify"), "\(scene.service.log)")
        #expect(try scene.ask(RunningNfcd.object, "Open", [.string(scene.id)]) == [.string("opening")])
        #expect(scene.service.prints(#""event":"not-delivered""#), "\(scene.service.log)")
        #expect(scene.desktop.notified.count == 1)
        scene.desktop.goOn()
        #expect(scene.desktop.isAsked("Notify", times: 2), "\(scene.service.log)")
        let notified = scene.desktop.notified
        #expect(notified.map { $0[1] } == [.uint32(0), .uint32(7)])
        #expect(notified.map { $0[3] } == [.string("NFC Tag Detected"), .string("The Link Was Not Opened")])
        #expect(scene.service.end() == 0)
        scene.desktop.stop()
    }

    @Test func `Several links that wait are counted by one summary`() throws {
        let scene = try Scene { user in
            for number: UInt32 in 2...3 { _ = try user.add("https://b.example/\(number)", number: number) }
        }
        #expect(scene.service.prints(#""event":"summary""#), "\(scene.service.log)")
        #expect(try scene.service.objects().last { $0["event"] as? String == "summary" }?["count"] as? String == "3")
        #expect(scene.desktop.notified.count == 1)
        #expect(scene.service.end() == 0)
        scene.desktop.stop()
    }

    @Test func `One that is refused is reported once, and tried again until it is shown`() throws {
        let scene = try Scene(refusals: 2)
        #expect(scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
        #expect(scene.desktop.notified.count == 3)
        let failures = try scene.service.objects().filter { $0["event"] as? String == "not-shown" }
        let text = "No notification can be shown. The inbox has the link. There is no room."
        #expect(failures.compactMap { $0["message"] as? String } == [text])
        #expect(scene.service.end() == 0)
        scene.desktop.stop()
    }

    @Test func `One that is refused each time is tried again after a while, which grows`() throws {
        let began = ContinuousClock.now
        let scene = try Scene(refusals: 1000)
        // After one second, and then after two.
        #expect(scene.desktop.isAsked("Notify", times: 3), "\(scene.service.log)")
        #expect(ContinuousClock.now - began >= .seconds(3))
        #expect(scene.service.end() == 0)
        scene.desktop.stop()
    }

    @Test func `A tag's link is offered with the apps that are installed by then`() throws {
        let (tags, images) = (try ScratchFolder(), try Images())
        let desktop = Mutex<NotificationServer?>(nil)
        let service = try RunningNfcd(["--json", "--tags", tags.path("")]) { user in
            let address = try #require(user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"])
            let server = try NotificationServer(address)
            desktop.withLock { $0 = server }
        }
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        try Self.installFox(service.user)
        try FileManager.default.copyItem(atPath: try images.poster(), toPath: tags.path("poster.nfc"))
        #expect(service.prints(#""event":"shown""#), "\(service.log)")
        let server = try #require(desktop.withLock { $0 })
        #expect(server.notified.last?[4] == .string("Open “example.com” in Fox"))
        #expect(service.end() == 0)
        server.stop()
    }

    @Test func `A link that is wanted while the screen is locked opens when the screen saver has gone`() throws {
        let scene = try Scene(isLocked: true) { try $0.opener() }
        #expect(scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
        #expect(scene.service.log.contains("The screen is locked."))
        #expect(try scene.ask(RunningNfcd.object, "Open", [.string(scene.id)]) == [.string("locked")])
        #expect(scene.service.prints(#""asked":"org.gnome.ScreenSaver""#), "\(scene.service.log)")
        #expect(scene.service.log.contains(#""message":"The link is opened when the screen is unlocked.","asked""#))
        #expect(scene.desktop.isAsked("SimulateUserActivity"), "\(scene.desktop.asked)")
        let command = try scene.service.user.nfc.run("inbox", "open", scene.id)
        #expect(command.status == 1)
        #expect(command.error == "Error: The screen is locked. The link opens when the screen is unlocked.\n")
        #expect(scene.service.user.opened == [])
        scene.desktop.unlock()
        _ = try scene.ask(NotificationServer.object, "GetServerInformation")
        #expect(scene.service.prints("The screen is unlocked."), "\(scene.service.log)")
        #expect(scene.service.prints(#""event":"delivered""#), "\(scene.service.log)")
        #expect(scene.service.user.opened.last == "https://b.example/1")
        #expect(scene.service.end() == 0)
        scene.desktop.stop()
    }

    @Test func `A screen saver that starts after the service is asked whether the screen is locked`() throws {
        let service = try RunningNfcd()
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let address = try #require(service.user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"])
        let desktop = try NotificationServer(address, isLocked: true)
        #expect(service.prints("The screen is locked."), "\(service.log)")
        #expect(service.end() == 0)
        desktop.stop()
    }
}
