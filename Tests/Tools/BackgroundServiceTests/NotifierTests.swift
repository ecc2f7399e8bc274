// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing
import UserBus

@testable import nfcd

/// Which notifications the service sends to the desktop, and when.
@Suite(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The notifier of the service` {
    @MainActor @Test func `asks a desktop that runs what it can do, once`() throws {
        let scene = try NotifierScene()
        scene.show(1)
        scene.show(2)
        let question = try scene.stage.call("GetCapabilities")
        #expect(scene.reported() == [])
        try question.answer([.strings([])])
        try scene.stage.settle()
        #expect(scene.reported() == ["ready"])
        #expect(try scene.stage.asked() == ["Notify 0 text", "Notify 0 text"])
    }

    @MainActor @Test func `sends the newest of each subject when it knows what the desktop can do`() throws {
        let scene = try NotifierScene()
        scene.show(1, "old")
        scene.show(2, "other")
        scene.show(3, "gone")
        scene.show(1, "new")
        scene.withdraw(3)
        try scene.stage.tellCapabilities()
        #expect(try scene.stage.asked() == ["Notify 0 other", "Notify 0 new"])
    }

    @MainActor @Test func `asks a desktop to keep a notification if it does not do so itself`() throws {
        for (capabilities, time) in [(["persistence", "actions"], Int32(-1)), (["actions"], 0)] {
            let scene = try NotifierScene.begun(capabilities)
            scene.show(1)
            let values = try #require(try scene.stage.call("Notify").arguments("susssasa{sv}i"))
            #expect(values[5] == .list([.string("default"), .string("Try Again")]))
            let hints = try #require(values[6].members)
            #expect(hints["urgency"] == .byte(1))
            #expect((hints["resident"] == .boolean(true)) == (time == 0))
            #expect(values[7] == .int32(time))
        }
    }

    @MainActor @Test func `sends the next of a subject when the last one is shown, and others at once`() throws {
        let scene = try NotifierScene.begun()
        scene.show(1, "a")
        let first = try scene.stage.call("Notify")
        scene.show(1, "b")
        scene.show(2, "c")
        #expect(try scene.stage.asked() == ["Notify 0 c"])
        try first.answer([.uint32(41)])
        try scene.stage.settle()
        #expect(scene.reported() == ["shown 1, of 1"])
        #expect(scene.notifier?.shownEntries == NotifierScene.ids(1))
        #expect(try scene.stage.asked() == ["Notify 41 b"])
    }

    @MainActor
    @Test(
        arguments: [
            (nil, "There is no room."), ([], "The notification was refused."), ([.string("41")], "41"),
        ] as [([BusValue]?, String)]
    )
    func `says why one is not shown, and sends the next of its subject`(answer: [BusValue]?, reason: String) throws {
        let scene = try NotifierScene.begun()
        scene.show(1, "a")
        let first = try scene.stage.call("Notify")
        scene.show(1, "b")
        if let answer { try first.answer(answer) } else { try first.refuse("Failed", reason) }
        try scene.stage.settle()
        #expect(scene.reported() == ["not shown 1: \(reason)"])
        #expect(scene.notifier?.shownEntries == NotifierScene.ids())
        #expect(try scene.stage.asked() == ["Notify 0 b"])
    }

    @MainActor @Test func `closes one that was withdrawn on its way, but not if it is wanted again`() throws {
        let scene = try NotifierScene.begun()
        scene.show(1)
        let first = try scene.stage.call("Notify")
        scene.withdraw(1)
        #expect(try scene.stage.asked() == [])
        try first.answer([.uint32(41)])
        try scene.stage.settle()
        #expect(scene.reported() == [])
        #expect(try scene.stage.asked() == ["CloseNotification 41"])
        #expect(scene.notifier?.shownEntries == NotifierScene.ids())
        scene.show(1)
        let second = try scene.stage.call("Notify")
        scene.withdraw(1)
        scene.show(1, "again")
        try second.answer([.uint32(42)])
        try scene.stage.settle()
        #expect(scene.reported() == ["shown 1, of 1"])
        #expect(try scene.stage.asked() == ["Notify 42 again"])
    }

    @MainActor @Test func `closes one that was withdrawn while its next text was on its way, and then that too`()
        throws
    {
        let scene = try NotifierScene.begun()
        try scene.show(1, as: 41)
        scene.show(1, "next")
        let next = try scene.stage.call("Notify")
        scene.withdraw(1)
        #expect(scene.notifier?.shownEntries == NotifierScene.ids())
        #expect(try scene.stage.asked() == ["CloseNotification 41"])
        try next.answer([.uint32(42)])
        try scene.stage.settle()
        #expect(scene.reported() == [])
        #expect(scene.notifier?.shownEntries == NotifierScene.ids())
        #expect(try scene.stage.asked() == ["CloseNotification 42"])
    }

    @MainActor @Test func `closes what it has shown when it is withdrawn, and hears no more of it`() throws {
        let scene = try NotifierScene.begun()
        try scene.show(1, as: 41)
        try scene.show(2, as: 42)
        scene.withdraw(1)
        scene.withdraw(1)
        scene.withdraw(3)
        #expect(scene.notifier?.shownEntries == NotifierScene.ids(2))
        #expect(try scene.stage.asked() == ["CloseNotification 41"])
        try scene.stage.emit(("NotificationClosed", [.uint32(41), .uint32(3)]))
        #expect(scene.reported() == [])
    }

    @MainActor @Test func `says why nothing can be shown where no program does, and forgets it`() throws {
        let scene = try NotifierScene(isOpen: false)
        #expect(try scene.stage.asked() == [])
        scene.show(1)
        scene.show(2)
        try scene.stage.settle()
        let reasons = scene.reported()
        #expect(reasons.count == 2 && reasons[0].hasPrefix("not shown 1: ") && reasons[1].hasPrefix("not shown 2: "))
        #expect(reasons.allSatisfy { $0.contains("org.freedesktop.Notifications") }, "\(reasons)")
        // The next one is tried, too.
        scene.show(3)
        try scene.stage.settle()
        #expect(scene.reported().map { $0.prefix(12) } == ["not shown 3:"])
        try scene.stage.open()
        try scene.stage.settle()
        try scene.stage.tellCapabilities()
        #expect(scene.reported() == ["ready"])
        #expect(try scene.stage.asked() == [])
    }

    @MainActor @Test func `asks a desktop once that comes while its start is awaited`() throws {
        let scene = try NotifierScene(isOpen: false)
        scene.show(1)
        // The bus can't start a desktop, but one comes by itself.
        #expect(try scene.stage.asked() == [])
        try scene.stage.open()
        scene.show(2)
        try scene.stage.settle()
        #expect(scene.reported().map { $0.prefix(12) } == ["not shown 1:", "not shown 2:"])
        // This demands that there was one question.
        try scene.stage.tellCapabilities()
        #expect(scene.reported() == ["ready"])
    }

    @MainActor @Test func `says why nothing can be shown by a desktop that does not tell what it can do`() throws {
        let scene = try NotifierScene()
        scene.show(1)
        try scene.stage.call("GetCapabilities").refuse("Failed", "It is busy.")
        try scene.stage.settle()
        #expect(scene.reported() == ["not shown 1: It is busy."])
        // The next one asks again.
        scene.show(2)
        try scene.stage.tellCapabilities()
        #expect(scene.reported() == ["ready"])
        #expect(try scene.stage.asked() == ["Notify 0 text"])
    }
}
