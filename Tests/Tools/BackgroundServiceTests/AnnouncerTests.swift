// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import SystemLibrary
import Testing
import UserBus

@testable import nfcd

/// What announces the entries of the inbox, with a desktop.
@MainActor private final class AnnouncerScene {
    let stage: DesktopStage
    let recorded: RecordedLog
    let loop: MachineLoop
    let announcer: Announcer
    private(set) var actions: [BackgroundReader.Action] = []
    /// The entries whose notification was clicked.
    private(set) var activated: [InboxEntry.ID] = []

    /// - Parameter numbers: the entries of an earlier run, which are to be shown.
    init(_ numbers: UInt32...) throws {
        let (stage, recorded) = (try DesktopStage(), RecordedLog())
        let loop = MachineLoop(now: { .zero })
        try stage.open()
        let announcer = try Announcer(stage.connection, stage.store, try recorded.log("--json"), loop)
        (self.stage, self.recorded, self.loop, self.announcer) = (stage, recorded, loop, announcer)
        stage.take = { [weak announcer] message in announcer?.take(message) }
        announcer.onActivation = { [weak self] id in self?.activated.append(id) }
        loop.perform = { [weak self] action in self?.perform(action) }
        var entries: [InboxEntry] = []
        for number in numbers {
            let message = try NDEFMessage([.uri("https://b.example/\(number)")]).encoded()
            entries.append(InboxEntry(id: NotifierScene.id(number), message: message))
        }
        loop.begin([.restored(EarlierRun(entries: entries))])
        try stage.tellCapabilities()
    }

    private func perform(_ action: BackgroundReader.Action) {
        actions.append(action)
        switch action {
        case .announce(let id, let content): announcer.announce(id, content)
        case .summarize(let ids, let content): announcer.summarize(ids, content)
        case .withdraw(let subject): announcer.withdraw(subject)
        default: break
        }
    }

    /// Whether the machine has had this done.
    func hasDone(_ action: BackgroundReader.Action) -> Bool { actions.contains(action) }

    /// The desktop leaves and comes back.
    func restart() throws {
        try stage.close()
        try stage.open()
        try stage.settle()
        try stage.tellCapabilities()
    }

    /// The next call of the desktop, which may come later.
    func call(_ method: String) async throws -> ReceivedMessage {
        for _ in 0..<5_000 {
            let calls = try stage.calls()
            if !calls.isEmpty {
                try #require(calls.map(\.name) == [Notifier.object.interface + "." + method])
                return calls[0]
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw Missing()
    }

    struct Missing: Error {}
}

/// How the service shows the entries of its inbox, and what it makes of what the user does.
@Suite(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The announcer of the service` {
    private static let offer = "Notify 0 Open “b.example” in the browser"

    @MainActor @Test func `tells the log and the machine that an entry is shown`() throws {
        let scene = try AnnouncerScene(1)
        let id = NotifierScene.id(1)
        #expect(scene.announcer.shownEntries.isEmpty && !scene.hasDone(.markAnnounced(id)))
        try scene.stage.call("Notify").answer([.uint32(41)])
        try scene.stage.settle()
        let line = "{\"event\":\"shown\",\"message\":\"The notification is shown.\",\"id\":\"\(id)\"}"
        #expect(scene.recorded.lines() == [line])
        #expect(scene.announcer.shownEntries == NotifierScene.ids(1) && scene.announcer.summarizedEntries.isEmpty)
        let isMarked = scene.hasDone(.markAnnounced(id))
        #expect(isMarked)
    }

    @MainActor @Test func `passes on a click, and the desktop's permission for it once`() throws {
        let scene = try AnnouncerScene(1)
        let id = NotifierScene.id(1)
        try scene.stage.call("Notify").answer([.uint32(41)])
        try scene.stage.settle()
        #expect(scene.announcer.takeToken(of: id) == nil)
        try scene.stage.emit(
            ("ActivationToken", [.uint32(41), .string("a")]),
            ("ActionInvoked", [.uint32(41), .string("default")])
        )
        #expect(scene.activated == [id])
        #expect(scene.announcer.takeToken(of: id) == "a")
        #expect(scene.announcer.takeToken(of: id) == nil)
    }

    @MainActor @Test(arguments: [true, false])
    func `shows an entry to the next desktop, unless the user has dismissed it`(isDismissed: Bool) throws {
        let scene = try AnnouncerScene(1)
        try scene.stage.call("Notify").answer([.uint32(41)])
        try scene.stage.settle()
        try scene.stage.emit(("NotificationClosed", [.uint32(41), .uint32(isDismissed ? 2 : 1)]))
        #expect(scene.hasDone(.mark(NotifierScene.id(1), .dismissed)) == isDismissed)
        try scene.restart()
        #expect(try scene.stage.asked() == (isDismissed ? [] : [Self.offer]))
    }

    @MainActor @Test func `says once that an entry can't be shown, until one is shown`() throws {
        let scene = try AnnouncerScene(1)
        let text = "No notification can be shown. The inbox has the link. There is no room."
        let line = "{\"event\":\"not-shown\",\"message\":\"\(text)\"}"
        for expected in [[line], []] {
            try scene.stage.call("Notify").refuse("Failed", "There is no room.")
            try scene.stage.settle()
            #expect(scene.recorded.lines() == expected)
            try scene.restart()
        }
        try scene.stage.call("Notify").answer([.uint32(41)])
        try scene.stage.settle()
        #expect(scene.recorded.lines().count == 1)
        try scene.restart()
        try scene.stage.call("Notify").refuse("Failed", "There is no room.")
        try scene.stage.settle()
        #expect(scene.recorded.lines() == [line])
    }

    @MainActor @Test func `says of each of several entries that it can't be shown`() throws {
        let scene = try AnnouncerScene(1)
        scene.announcer.announce(NotifierScene.id(2), .notOpened(reason: "Other."))
        for call in try scene.stage.calls() { try call.refuse("Failed", "There is no room.") }
        try scene.stage.settle()
        let texts = ["The inbox has the link.", "There is nothing to open, and the inbox has nothing of it."]
        let lines = texts.map { text in
            "{\"event\":\"not-shown\",\"message\":\"No notification can be shown. \(text) There is no room.\"}"
        }
        #expect(scene.recorded.lines() == lines)
    }

    @MainActor @Test func `says once that a summary can't be shown`() async throws {
        let scene = try AnnouncerScene(1, 2)
        let text = "No notification can be shown. The inbox has the link. There is no room."
        for expected in [["{\"event\":\"not-shown\",\"message\":\"\(text)\"}"], []] {
            try await scene.call("Notify").refuse("Failed", "There is no room.")
            try scene.stage.settle()
            #expect(scene.recorded.lines() == expected)
            try scene.restart()
        }
    }

    @MainActor @Test func `tries by itself to show what could not be shown, and again when that failed too`()
        async throws
    {
        let scene = try AnnouncerScene(1)
        // After the first time a second later, and then after two more.
        for _ in 0..<2 {
            try await scene.call("Notify").refuse("Failed", "There is no room.")
            try scene.stage.settle()
        }
        try await scene.call("Notify").answer([.uint32(41)])
        try scene.stage.settle()
        #expect(scene.announcer.shownEntries == NotifierScene.ids(1))
    }

    @MainActor @Test func `tries again as soon as at first when something was shown meanwhile`() async throws {
        let scene = try AnnouncerScene(1)
        try await scene.call("Notify").refuse("Failed", "There is no room.")
        try scene.stage.settle()
        try await scene.call("Notify").answer([.uint32(41)])
        try scene.stage.settle()
        try scene.restart()
        try await scene.call("Notify").refuse("Failed", "There is no room.")
        try scene.stage.settle()
        // After a second; the second time in a row it would be two.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Later.run(after: .milliseconds(1500)) { continuation.resume() }
        }
        #expect(try scene.stage.asked() == [Self.offer])
    }

    @MainActor @Test func `shows no summary that is withdrawn before it settles`() async throws {
        let scene = try AnnouncerScene(1, 2)
        scene.announcer.withdraw(.summary)
        // What was planned before is done when this is.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Later.run(after: .milliseconds(260)) { continuation.resume() }
        }
        #expect(try scene.stage.asked() == [])
    }

    @MainActor @Test func `counts several entries in one notification, whose click shows each of them`() async throws {
        let scene = try AnnouncerScene(1, 2)
        let ids = [NotifierScene.id(1), NotifierScene.id(2)]
        // Another one that comes meanwhile takes its place.
        scene.announcer.summarize(ids, .notOpened(reason: "The newest."))
        let call = try await scene.call("Notify")
        let values = try #require(call.arguments("susssasa{sv}i"))
        #expect(values[4] == .string("The newest."))
        try call.answer([.uint32(41)])
        try scene.stage.settle()
        let line = #"{"event":"summary","message":"A summary is shown; it counts 2.","count":"2"}"#
        #expect(scene.recorded.lines() == [line])
        #expect(scene.announcer.summarizedEntries == NotifierScene.ids(1, 2) && scene.announcer.shownEntries.isEmpty)
        #expect(scene.hasDone(.markAnnounced(ids[0])) && scene.hasDone(.markAnnounced(ids[1])))
        try scene.stage.emit(("ActionInvoked", [.uint32(41), .string("default")]))
        #expect(try scene.stage.asked() == [Self.offer, Self.offer, "CloseNotification 41"])
        #expect(scene.activated == [])
    }
}
