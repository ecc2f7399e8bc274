// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinuxSupport
import ProgramTesting
import Testing
import UserBus

@testable import nfcd  // the program has no public interface

/// Which notifications the service sends to the desktop, and what it makes of the answers and signals (Desktop
/// Notifications Specification 1.2).
@MainActor @Suite(.enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct NotifierTests {
    // MARK: Showing

    @Test func `Notifier: the desktop is asked for capabilities once, and gets the newest text of each notification`()
        throws
    {
        try NotifierScript(capabilities: nil).play(
            """
            show 1 old | < GetCapabilities
            show 2 other
            show 3 gone
            show 1 new
            withdraw 3
            can actions | < Notify 0 other | < Notify 0 new | = ready
            number 41 | = shown 2
            number 42 | = shown 1
            show 1 a | < Notify 42 a
            show 1 b
            number 42 | < Notify 42 b | = shown 1
            """
        )
    }

    @Test func `Notifier, notification withdrawn before the desktop has answered: closed as soon as it is shown`()
        throws
    {
        let script = try NotifierScript()
        try script.play(
            """
            show 1 | < Notify 0 text
            withdraw 1
            number 41 | < CloseNotification 41
            forget
            show 1 | < Notify 0 text
            withdraw 1
            show 1 again
            number 42 | < Notify 42 again | = shown 1
            withdraw 1 | < CloseNotification 42
            number 43 | < CloseNotification 43
            """
        )
        #expect(script.notifier.shownEntries.isEmpty)
    }

    @Test func `Notifier, visible notification withdrawn: closed once, and its signals are ignored`() throws {
        let script = try NotifierScript()
        try script.play(
            """
            show 1 | < Notify 0 text
            number 41 | = shown 1
            show 2 | < Notify 0 text
            number 42 | = shown 2
            withdraw 1 | < CloseNotification 41
            withdraw 1
            withdraw 3
            closed 41 3
            """
        )
        #expect(script.notifier.shownEntries == [.test(2)])
    }

    @Test func `Notifier, answer without a number: reported as not shown, and the next notification follows`() throws {
        try NotifierScript().play(
            """
            show 1 a | < Notify 0 a
            show 1 b
            refuse There is no room. | < Notify 0 b | = not shown 1: There is no room.
            show 1 c
            answer | < Notify 0 c | = not shown 1: The notification was refused.
            answer text | = not shown 1: text
            """
        )
    }

    @Test func `Notifier: a desktop without persistence is asked to keep the notification, one with it is not`() throws
    {
        for (capabilities, time) in [("persistence actions", Int32(-1)), ("actions", 0)] {
            let script = try NotifierScript(capabilities: capabilities)
            try script.play("show 1 | < Notify 0 text")
            let values = try #require(script.last?.arguments("susssasa{sv}i"))
            #expect(values[5] == .list([.string("default"), .string("Try Again")]))
            let hints = try #require(values[6].members)
            #expect(hints["urgency"] == .byte(1))
            #expect((hints["resident"] == .boolean(true)) == (time == 0), "\(capabilities)")
            #expect(values[7] == .int32(time))
        }
    }

    // MARK: What the user does

    @Test
    func `Notifier: only clicks on the default action of its own notifications count, each with its activation token`()
        throws
    {
        try NotifierScript().play(
            """
            show 1 | < Notify 0 text
            number 41 | = shown 1
            show 2 | < Notify 0 text
            number 42 | = shown 2
            token 42 b
            token 43 c
            click 41 | = clicked 1
            click 42 | = clicked 2, token b
            click 43
            click 41 other
            """
        )
    }

    @Test func `Notifier: a closed notification is a dismissal only with reason 2 and without a click`() throws {
        try NotifierScript().play(
            """
            show 1 | < Notify 0 text
            number 41 | = shown 1
            closed 40 2
            closed 41 1 | = closed 1
            closed 41 2
            show 1 | < Notify 0 text
            number 41 | = shown 1
            closed 41 2 | = dismissed 1
            show 1 | < Notify 0 text
            number 41 | = shown 1
            token 41 a
            click 41 | = clicked 1, token a
            closed 41 2 | = closed 1
            show 2 | < Notify 0 text
            number 41 | = shown 2
            closed 41 2 | = dismissed 2
            show 3 | < Notify 0 text
            number 41 | = shown 3
            click 41 | = clicked 3
            """
        )
    }

    // MARK: The desktop

    @Test
    func `Notifier, the desktop ends: its notifications are gone, and the next desktop is asked for capabilities`()
        throws
    {
        let script = try NotifierScript()
        try script.play(
            """
            show 1 | < Notify 0 text
            number 41 | = shown 1
            token 41 a
            click 41 | = clicked 1, token a
            show 2 | < Notify 0 text
            show 2 waits
            close | = gone
            number 42
            open | < GetCapabilities
            show 3
            can actions | < Notify 0 text | = ready
            number 41 | = shown 3
            click 41 | = clicked 3
            close | = gone
            """
        )
        #expect(script.notifier.shownEntries.isEmpty)
    }

    @Test
    func `Notifier, the desktop refuses GetCapabilities: reported as not shown, the next notification asks again`()
        throws
    {
        try NotifierScript(capabilities: nil).play(
            """
            show 1 | < GetCapabilities
            refuse It is busy. | = not shown 1: It is busy.
            show 2 | < GetCapabilities
            can actions | < Notify 0 text | = ready
            """
        )
    }

    @Test func `Notifier, no desktop runs or can be started: notifications are reported as not shown until one runs`()
        async throws
    {
        let script = try NotifierScript(isOpen: false)
        for number: UInt32 in 1...2 {
            script.notifier.show(.entry(.test(number)), of: [.test(number)], .notOpened(reason: "text"))
            try script.stage.settle()
            let report = try await script.report()
            #expect(report?.hasPrefix("not shown \(number): ") == true)
            #expect(report?.contains("org.freedesktop.Notifications") == true)
        }
        try script.play("open | < GetCapabilities\ncan actions | = ready\nshow 3 | < Notify 0 text")
    }

    @Test func `Notifier, a started desktop never answers: each notification is reported as not shown`() async throws {
        let script = try NotifierScript(isOpen: false, program: "/bin/sleep 1", startingTime: .milliseconds(50))
        for number in 1...2 {
            try script.play("show \(number)")
            let text = "org.freedesktop.Notifications was started, but does not respond."
            #expect(try await script.report() == "not shown \(number): \(text)")
        }
    }

    @Test func `Notifier, the bus does not answer: reported as not shown without waiting for the desktop`()
        async throws
    {
        let script = try NotifierScript(isOpen: false, patience: .seconds(2))
        script.stage.bus.stop()
        script.notifier.show(.entry(.test(1)), of: [.test(1)], .notOpened(reason: "text"))
        script.stage.bus.goOn()
        let report = try await script.report()
        #expect(report?.hasPrefix("not shown 1: The session bus does not answer.") == true)
    }

    @Test func `Notifier: of an earlier run's notifications, those of this desktop can still be clicked`() throws {
        func memory(_ stage: DesktopStage) throws -> NotificationMemory {
            let bus = try stage.desktop.ask(BusCall(.daemon, "GetId")).first?.text
            return NotificationMemory(stage.store, bus: try #require(bus))
        }
        let script = try NotifierScript(capabilities: nil) { stage in
            let call = BusCall(.daemon, "GetNameOwner", [.string(Notifier.object.destination)])
            let own = try #require(try stage.desktop.ask(call).first?.text)
            try memory(stage).keep([
                ShownNotification(sender: own, number: 41): NotificationTopic(
                    subject: .entry(.test(1)),
                    entries: [.test(1)]
                ),
                ShownNotification(sender: own, number: 42): NotificationTopic(
                    subject: .summary,
                    entries: [.test(2), .test(3)]
                ),
                ShownNotification(sender: ":1.999", number: 43): NotificationTopic(
                    subject: .entry(.test(4)),
                    entries: [.test(4)]
                ),
            ])
        }
        #expect(script.notifier.shownEntries == [.test(1)])
        #expect(script.notifier.summarizedEntries == [.test(2), .test(3)])
        try script.play(
            """
            look | < GetCapabilities
            can actions | = ready
            click 42 | = clicked summary
            click 43
            withdraw summary | < CloseNotification 42
            """
        )
        let left = try memory(script.stage).notifications.keys.map(\.number)
        #expect(left == [41])
    }
}
