// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing
import UserBus

@testable import nfcd

/// What the service makes of what the user does with notifications, and of a desktop that comes and goes.
@Suite(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The notifier of the service hears` {
    private static func click(_ number: UInt32, _ action: String = "default") -> (name: String, values: [BusValue]) {
        ("ActionInvoked", [.uint32(number), .string(action)])
    }

    private static func token(_ number: UInt32, _ text: String) -> (name: String, values: [BusValue]) {
        ("ActivationToken", [.uint32(number), .string(text)])
    }

    private static func closed(_ number: UInt32, _ reason: UInt32) -> (name: String, values: [BusValue]) {
        ("NotificationClosed", [.uint32(number), .uint32(reason)])
    }

    @MainActor @Test func `of clicks on what it has shown, with the permission for each, and of nothing else`() throws {
        let scene = try NotifierScene.begun()
        try scene.show(1, as: 41)
        try scene.show(2, as: 42)
        try scene.stage.emit(
            Self.token(42, "b"),
            Self.token(43, "c"),
            Self.click(41),
            Self.click(42),
            Self.click(43),
            Self.click(41, "other"),
            ("ActionInvoked", [.string("41"), .string("default")]),
            ("ActionInvoked", [.uint32(41)]),
            ("Other", [.uint32(41), .string("default")])
        )
        #expect(scene.reported() == ["clicked 1: no token", "clicked 2: b"])
    }

    @MainActor @Test(arguments: [(1, false), (2, true), (3, false)] as [(UInt32, Bool)])
    func `of the user's dismissal, and of a closing with another reason`(reason: UInt32, isDismissed: Bool) throws {
        let scene = try NotifierScene.begun()
        try scene.show(1, as: 41)
        try scene.stage.emit(Self.closed(40, reason), Self.closed(41, reason), Self.closed(41, reason))
        #expect(scene.reported() == [isDismissed ? "dismissed 1" : "closed 1"])
        #expect(scene.notifier?.shownEntries == NotifierScene.ids())
    }

    @MainActor @Test func `of no dismissal when the desktop closes what was clicked`() throws {
        let scene = try NotifierScene.begun()
        try scene.show(1, as: 41)
        try scene.show(2, as: 42)
        try scene.stage.emit(Self.click(41), Self.closed(41, 2), Self.closed(42, 2))
        #expect(scene.reported() == ["clicked 1: no token", "closed 1", "dismissed 2"])
    }

    @MainActor @Test func `nothing of the last notification when its number comes again`() throws {
        let scene = try NotifierScene.begun()
        try scene.show(1, as: 41)
        try scene.stage.emit(Self.token(41, "a"), Self.click(41), Self.closed(41, 2))
        #expect(scene.reported() == ["clicked 1: a", "closed 1"])
        try scene.show(2, as: 41)
        try scene.stage.emit(Self.closed(41, 2))
        #expect(scene.reported() == ["dismissed 2"])
        try scene.show(3, as: 41)
        try scene.stage.emit(Self.click(41))
        #expect(scene.reported() == ["clicked 3: no token"])
    }

    @MainActor @Test func `that all is gone with the desktop, and nothing of that when the desktop is back`() throws {
        let scene = try NotifierScene.begun()
        try scene.show(1, as: 41)
        try scene.stage.emit(Self.token(41, "a"), Self.click(41))
        _ = scene.reported()
        scene.show(2)
        let late = try scene.stage.call("Notify")
        scene.show(2, "waits")
        try scene.stage.close()
        try scene.stage.settle()
        #expect(scene.reported() == ["gone"])
        #expect(scene.notifier?.shownEntries == NotifierScene.ids())
        try late.answer([.uint32(42)])
        try scene.stage.settle()
        #expect(scene.reported() == [])
        try scene.stage.open()
        try scene.stage.settle()
        try scene.stage.tellCapabilities()
        #expect(scene.reported() == ["ready"])
        #expect(try scene.stage.asked() == [])
        try scene.show(3, as: 41)
        try scene.stage.emit(Self.click(41))
        #expect(scene.reported() == ["clicked 3: no token"])
        try scene.stage.close()
        try scene.stage.open()
        try scene.stage.settle()
        try scene.stage.tellCapabilities()
        try scene.show(4, as: 41)
        try scene.stage.emit(Self.closed(41, 2))
        #expect(scene.reported() == ["dismissed 4"])
    }

    @MainActor @Test func `of a desktop that comes before the last one has said what it can do`() throws {
        let scene = try NotifierScene()
        scene.show(1)
        _ = try scene.stage.call("GetCapabilities")
        try scene.stage.close()
        try scene.stage.open()
        try scene.stage.settle()
        try scene.stage.tellCapabilities()
        #expect(scene.reported() == ["gone", "ready"])
        #expect(try scene.stage.asked() == [])
    }

    @MainActor @Test func `what the next desktop can do, and sends it nothing before`() throws {
        let scene = try NotifierScene.begun(["actions", "persistence"])
        try scene.stage.close()
        try scene.stage.open()
        try scene.stage.settle()
        scene.show(1)
        // This demands that it was asked for nothing else.
        let question = try scene.stage.call("GetCapabilities")
        try question.answer([.strings(["actions"])])
        try scene.stage.settle()
        #expect(scene.reported() == ["gone", "ready"])
        let values = try #require(try scene.stage.call("Notify").arguments("susssasa{sv}i"))
        #expect(values[7] == .int32(0))
    }

    @MainActor @Test func `of a desktop that has left when a notification is sent`() throws {
        let scene = try NotifierScene.begun()
        try scene.stage.close()
        scene.show(1)
        let reports = scene.reported()
        #expect(reports.count == 1 && reports[0].hasPrefix("not shown 1: "), "\(reports)")
        #expect(reports[0] != "not shown 1: ")
    }

    @MainActor @Test func `nothing in the coming and going of other programs`() throws {
        let scene = try NotifierScene.begun()
        try scene.stage.connection.listen(to: "sender='org.freedesktop.DBus',member='NameOwnerChanged'")
        let other = try scene.stage.another()
        try other.take("org.example.Other")
        _ = try other.ask(BusCall(.daemon, "ReleaseName", [.string("org.example.Other")]))
        try scene.stage.settle()
        #expect(scene.reported() == [])
        scene.show(1)
        #expect(try scene.stage.asked() == ["Notify 0 text"])
    }

    @MainActor @Test func `of what an earlier run has shown by this desktop, as long as it is shown`() throws {
        func topics(_ stage: DesktopStage) throws -> NotificationMemory {
            let bus = try stage.desktop.ask(BusCall(.daemon, "GetId")).first?.text
            return NotificationMemory(stage.store, bus: try #require(bus))
        }
        let scene = try NotifierScene { stage in
            let own = try stage.desktopName()
            let ids = (1...4).map { NotifierScene.id($0) }
            var shown: [ShownNotification: NotificationTopic] = [:]
            func note(_ sender: String, _ number: UInt32, _ topic: NotificationTopic) {
                shown[ShownNotification(sender: sender, number: number)] = topic
            }
            note(own, 41, NotificationTopic(subject: .entry(ids[0]), entries: [ids[0]]))
            note(own, 42, NotificationTopic(subject: .summary, entries: [ids[1], ids[2]]))
            note(":1.999", 43, NotificationTopic(subject: .entry(ids[3]), entries: [ids[3]]))
            try topics(stage).keep(shown)
        }
        #expect(scene.notifier?.shownEntries == NotifierScene.ids(1))
        #expect(scene.notifier?.summarizedEntries == NotifierScene.ids(2, 3))
        try scene.stage.tellCapabilities()
        try scene.stage.emit(Self.click(42), Self.click(43))
        #expect(scene.reported() == ["ready", "clicked summary: no token"])
        scene.notifier?.withdraw(.summary)
        #expect(try scene.stage.asked() == ["CloseNotification 42"])
        let left = try topics(scene.stage).notifications.keys.map { $0.number }
        #expect(left == [41])
    }
}
