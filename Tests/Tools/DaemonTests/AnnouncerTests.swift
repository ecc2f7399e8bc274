// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinuxSupport
import NDEF
import ProgramTesting
import Testing
import UserBus

@testable import nfcd  // the program has no public interface

/// The announcer of the service with the machine and a desktop.
@MainActor private final class AnnouncerScene {
    let stage: DesktopStage
    let recorded = RecordedLog()
    let loop = StateMachineDriver(now: { .zero })
    let announcer: Announcer
    private(set) var actions: [BackgroundReader.Action] = []
    /// The entries whose notification was clicked.
    private(set) var activated: [InboxEntry.ID] = []

    /// - Parameter numbers: the entries of an earlier run, which are to be shown.
    init(_ numbers: UInt32...) throws {
        stage = try DesktopStage()
        try stage.open()
        announcer = try Announcer(stage.connection, stage.store, try recorded.log("--json"), loop)
        stage.take = { [weak announcer] message in announcer?.take(message) }
        announcer.onActivation = { [weak self] id in self?.activated.append(id) }
        loop.perform = { [weak self] action in self?.perform(action) }
        let entries = try numbers.map { number in
            InboxEntry(id: .test(number), message: try NDEFMessage([.uri("https://b.example/\(number)")]).encoded())
        }
        loop.begin([.restored(PreviousRun(entries: entries))])
        try answerCapabilities()
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

    private func answerCapabilities() throws {
        let calls = try stage.calls()
        try #require(calls.map(DesktopStage.text) == ["GetCapabilities"])
        try calls[0].answer([.strings(["actions"])])
        try stage.settle()
    }

    /// The desktop ends, and another one takes its place.
    func restart() throws {
        try stage.close()
        try stage.open()
        try stage.settle()
        try answerCapabilities()
    }

    /// The next `Notify`, which may come later.
    func notify() async throws -> ReceivedMessage {
        for _ in 0..<12_000 {
            if let call = try stage.calls().first {
                try #require(call.name.hasSuffix(".Notify"))
                return call
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw Missing()
    }

    struct Missing: Error {}

    func show(as number: UInt32 = 41) async throws {
        try await notify().answer([.uint32(number)])
        try stage.settle()
    }

    func refuse() async throws {
        try await notify().refuse("Failed", "There is no room.")
        try stage.settle()
    }

    func emit(_ name: String, _ values: BusValue...) throws {
        try stage.desktop.emit(Notifier.object, name, [.uint32(41)] + values)
        try stage.settle()
    }

    func asked() throws -> [String] { try stage.calls().map(DesktopStage.text) }

    /// The events in the log since the last time.
    func events() -> [String] { recorded.lines().compactMap { $0["event"] } }
}

/// How the service shows the entries of its inbox, and what it does when the user reacts.
@MainActor @Suite(.enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct AnnouncerTests {
    private static let offer = "Notify 0 Open “b.example” in the browser"

    @Test(arguments: [true, false])
    func `Announcer, notification closed: the next desktop shows it again unless the person dismissed it`(
        isDismissed: Bool
    ) async throws {
        let scene = try AnnouncerScene(1)
        try await scene.show()
        #expect(scene.events() == ["shown"] && scene.announcer.shownEntries == [.test(1)])
        #expect(scene.actions.contains(.markAnnounced(.test(1))))
        try scene.emit("NotificationClosed", .uint32(isDismissed ? 2 : 1))
        #expect(scene.actions.contains(.mark(.test(1), .dismissed)) == isDismissed)
        try scene.restart()
        #expect(try scene.asked() == (isDismissed ? [] : [Self.offer]))
    }

    @Test func `Announcer, notification refused: logged once, and tried again by itself until it is shown`()
        async throws
    {
        let scene = try AnnouncerScene(1)
        scene.announcer.announce(.test(2), .notOpened(reason: "Other."))
        for call in try scene.stage.calls() { try call.refuse("Failed", "There is no room.") }
        try scene.stage.settle()
        // Of an entry that is stored, and of one that is not.
        let messages = scene.recorded.lines().compactMap { $0["message"] }
        let what = ["The inbox has the link.", "There is nothing to open, and nothing was saved."]
        #expect(messages == what.map { "No notification can be shown. \($0) There is no room." })
        // A second later.
        try await scene.refuse()
        #expect(scene.events() == [])
        try scene.restart()
        try await scene.show()
        #expect(scene.events() == ["shown"])
        try scene.restart()
        try await scene.refuse()
        #expect(scene.events() == ["not-shown"])
    }

    @Test func `Announcer, several entries: one summary is shown, and a click on it shows each entry`() async throws {
        let scene = try AnnouncerScene(1, 2)
        // Another one that comes meanwhile takes its place.
        scene.announcer.summarize([.test(1), .test(2)], .notOpened(reason: "The newest."))
        let call = try await scene.notify()
        #expect(DesktopStage.text(call) == "Notify 0 The newest.")
        try call.answer([.uint32(41)])
        try scene.stage.settle()
        let line = try #require(scene.recorded.lines().first)
        #expect(line["event"] == "summary" && line["count"] == "2")
        #expect(scene.announcer.summarizedEntries == [.test(1), .test(2)] && scene.announcer.shownEntries.isEmpty)
        for number: UInt32 in 1...2 { #expect(scene.actions.contains(.markAnnounced(.test(number)))) }
        try scene.emit("ActionInvoked", .string("default"))
        #expect(try scene.asked() == [Self.offer, Self.offer, "CloseNotification 41"])
        #expect(scene.activated == [])
    }
}
