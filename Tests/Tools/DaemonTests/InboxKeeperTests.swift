// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import NDEF
import ProgramTesting
import Testing

@testable import nfcd  // the program has no public interface

/// The service's keeper of the inbox with the machine, in folders of a test's own.
@MainActor private final class KeeperScene {
    private static let gone =
        "The folder of the inbox is gone or was replaced. The entries in memory are saved to a new folder."

    let folder: TestFolder
    let recorded = RecordedLog()
    let loop = StateMachineDriver(now: { .zero })
    let keeper: InboxKeeper
    private let folders: UserFolders
    private(set) var actions: [BackgroundReader.Action] = []
    /// Opens an entry.
    var deliver: (InboxEntry.ID, Delivery) -> Void = { _, _ in }

    /// - Parameters:
    ///   - numbers: the entries of an earlier run.
    ///   - storingPause: how long the keeper waits before it stores again what the disk did not accept.
    ///   - movingTime: how long it waits before it makes a folder that is missing.
    ///   - begins: whether the machine gets the entries.
    init(
        _ numbers: UInt32...,
        storingPause: Duration = .seconds(5),
        movingTime: Duration = .seconds(1),
        begins: Bool = true
    ) throws {
        folder = try TestFolder()
        folders = UserFolders(environment: ["HOME": folder.path("home"), "XDG_STATE_HOME": folder.path("state")])
        for number in numbers { try Inbox<PrivateFolder>(of: folders).add(try Self.entry(number)) }
        keeper = try InboxKeeper(
            folders,
            marks: try PrivateFolder(store: folder.path("state/nfc/background")),
            try recorded.log("--json"),
            loop,
            storingPause: storingPause,
            movingTime: movingTime
        )
        loop.perform = { [weak self] action in self?.perform(action) }
        if begins { loop.begin([.restored(try keeper.recover(shown: [], summarized: []))]) }
    }

    static func entry(_ number: UInt32) throws -> InboxEntry {
        InboxEntry(id: .test(number), message: try NDEFMessage([.uri("https://b.example/\(number)")]).encoded())
    }

    private func perform(_ action: BackgroundReader.Action) {
        actions.append(action)
        switch action {
        case .store(let entry): keeper.store(entry)
        case .deliver(let id, let delivery): deliver(id, delivery)
        default: break
        }
    }

    static func file(_ number: UInt32) -> String { "state/nfc/inbox/\(InboxEntry.ID.test(number)).new" }

    var names: [String] { folder.names(in: "state/nfc/inbox") }
    var marks: String { folder.text("state/nfc/background/marks") }
    /// The numbers of the entries that are on the disk as far as the machine knows.
    var stored: [UInt32] { loop.machine.storedEntries.map(\.number) }
    /// How often the machine has had an entry stored.
    var storings: Int { actions.count { if case .store = $0 { true } else { false } } }

    /// The errors and events in the log since the last time.
    func logged() -> [String] {
        recorded.lines().map { ($0["error"] ?? $0["event"] ?? "") + ($0["message"] == Self.gone ? " gone" : "") }
    }

    /// Puts a folder in the place of an entry's file, so that it can't be written.
    func block(_ number: UInt32) throws {
        try? folder.remove(Self.file(number))
        try folder.makeFolder(Self.file(number) + "/full")
    }

    /// Puts a file in the place of the inbox, so that it can't be made.
    func blockInbox() throws {
        try folder.move("state/nfc/inbox", to: "aside")
        try folder.write("state/nfc/inbox", "")
    }

    func wait(until isDone: () -> Bool) async throws {
        for _ in 0..<12_000 {
            if isDone() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("\(names) \(stored) \(recorded.output)")
    }
}

/// What the service stores, and how it continues when the disk or the folder fails.
@MainActor @Suite(.timeLimit(.minutes(3))) struct InboxKeeperTests {
    @Test func `Inbox keeper after a restart: entries and delivery flags are restored, and damaged files are reported`()
        throws
    {
        let scene = try KeeperScene(1, 2, begins: false)
        for number: UInt32 in [1, 9] { scene.keeper.keep(.dismissed, of: .test(number)) }
        try scene.folder.write("state/nfc/inbox/junk", "x")
        try scene.folder.write(KeeperScene.file(3) + ".tmp", "x")
        let run = try scene.keeper.recover(shown: [.test(1)], summarized: [.test(2)])
        #expect(run.entries == [try KeeperScene.entry(1), try KeeperScene.entry(2)])
        #expect(run.shown == [.test(1)] && run.summarized == [.test(2)])
        #expect(run.marks == [.test(1): .dismissed] && !scene.marks.contains("\(InboxEntry.ID.test(9))"))
        #expect(scene.names.count == 3 && scene.names.last == "junk")
        let text = "The file junk of the inbox is damaged or not an entry, and is skipped."
        let lines = scene.recorded.lines()
        #expect(lines.map { $0["message"] } == [text + " nfc inbox clear --damaged removes it."])
    }

    @Test func `Inbox keeper: file and delivery flag of an entry follow when it is shown, clicked and removed`() throws
    {
        let scene = try KeeperScene(1, 2)
        let id = InboxEntry.ID.test(1)
        #expect(scene.keeper.identifiers == [.test(1), .test(2)])
        scene.keeper.markAnnounced(id)
        #expect(scene.names == ["\(id).entry", "\(InboxEntry.ID.test(2)).new"])
        scene.keeper.keep(.wanted, of: id)
        #expect(scene.marks.hasPrefix("\(id) wanted "))
        scene.keeper.remove(id)
        #expect(scene.marks.isEmpty && scene.names == ["\(InboxEntry.ID.test(2)).new"])
        #expect(scene.keeper.keepingProblem == nil && scene.logged() == [])
    }

    @Test
    func
        `Inbox keeper on a disk that refuses: the failure is logged once, entries are stored when the disk takes them`()
        throws
    {
        let scene = try KeeperScene(1, 2)
        scene.loop.handle(.inboxLost)
        for number: UInt32 in 1...2 { try scene.block(number) }
        scene.loop.handle(.storeAgain)
        #expect(scene.stored == [] && scene.logged() == ["inbox"])
        #expect(scene.keeper.keepingProblem?.contains(scene.folder.path("state/nfc/inbox")) == true)
        try scene.folder.remove(KeeperScene.file(1))
        scene.loop.handle(.storeAgain)
        #expect(scene.stored == [1])
        #expect(scene.actions.filter { $0 == .note(.kept(.test(1))) || $0 == .note(.kept(.test(2))) }.count == 1)
        try scene.folder.remove(KeeperScene.file(2))
        scene.loop.handle(.storeAgain)
        #expect(scene.stored == [1, 2] && scene.keeper.keepingProblem == nil)
        // The next failure is another one, also of a removal, which forgets the mark all the same.
        _ = scene.logged()
        try scene.block(3)
        scene.keeper.store(try KeeperScene.entry(3))
        #expect(scene.logged() == ["inbox"])
        scene.keeper.keep(.dismissed, of: .test(3))
        scene.keeper.remove(.test(3))
        #expect(scene.logged() == ["inbox"] && scene.marks.isEmpty)
    }

    @Test func `Inbox keeper on a disk that refuses: tries again after each pause`() async throws {
        let scene = try KeeperScene(1, storingPause: .milliseconds(50))
        scene.loop.handle(.inboxLost)
        try scene.block(1)
        for _ in 0..<2 { scene.loop.handle(.storeAgain) }
        #expect(scene.storings == 2)
        try await scene.wait { scene.storings > 3 }
        try scene.folder.remove(KeeperScene.file(1))
        try await scene.wait { scene.stored == [1] }
        #expect(scene.keeper.keepingProblem == nil)
        // An entry that was opened before it could be stored is no problem any more.
        try scene.block(3)
        scene.keeper.store(try KeeperScene.entry(3))
        #expect(scene.keeper.keepingProblem != nil)
        try await scene.wait { scene.keeper.keepingProblem == nil }
    }

    @Test func `Inbox keeper whose folder is gone: entries and delivery flags in memory are written to a new one`()
        throws
    {
        let scene = try KeeperScene(1)
        scene.keeper.keep(.dismissed, of: .test(1))
        try scene.folder.move("state/nfc/inbox", to: "aside")
        try scene.folder.remove("state/nfc/background")
        let inbox = scene.folder.path("state/nfc/inbox")
        #expect(scene.keeper.keepingProblem == "The folder \(inbox) is gone or was replaced.")
        #expect(try scene.keeper.claim(.test(1)) == nil)
        scene.keeper.store(try KeeperScene.entry(2))
        #expect(scene.logged() == ["inbox gone"])
        #expect(scene.names == ["\(InboxEntry.ID.test(1)).new", "\(InboxEntry.ID.test(2)).new"])
        #expect(scene.marks.hasPrefix("\(InboxEntry.ID.test(1)) dismissed "))
        #expect(scene.stored == [1] && scene.keeper.keepingProblem == nil)
    }

    @Test func `Inbox keeper whose folder can't be made: tries again until the folder is made with its entries`()
        async throws
    {
        let scene = try KeeperScene(1, storingPause: .milliseconds(50), movingTime: .seconds(3600))
        try scene.blockInbox()
        for _ in 0..<2 { scene.keeper.store(try KeeperScene.entry(2)) }
        #expect(scene.logged() == ["inbox gone"] && scene.stored == [] && scene.storings == 0)
        let problem = scene.keeper.keepingProblem
        #expect(problem?.contains(scene.folder.path("state/nfc/inbox")) == true)
        #expect(problem?.contains("is gone or was replaced") == false)
        try scene.folder.remove("state/nfc/inbox")
        try await scene.wait { scene.stored == [1] }
        #expect(scene.keeper.keepingProblem == nil)
    }

    @Test
    func
        `Inbox keeper, another program removes entries or folders: entries are forgotten, folders made again`()
        async throws
    {
        let scene = try KeeperScene(1, 2, 3, movingTime: .milliseconds(50))
        try scene.folder.remove(KeeperScene.file(1))
        try await scene.wait { scene.stored == [2, 3] }
        try scene.folder.move(KeeperScene.file(2), to: "moved")
        try await scene.wait { scene.stored == [3] }
        for round in 0..<2 {
            if round == 0 {
                try scene.folder.remove("state/nfc/inbox")
            } else {
                try scene.folder.move("state/nfc", to: "state/aside")
            }
            try await scene.wait { scene.folder.has(KeeperScene.file(3)) }
            #expect(scene.logged() == ["inbox gone"])
            #expect(scene.stored == [3] && scene.keeper.keepingProblem == nil)
        }
        try scene.folder.remove(KeeperScene.file(3))
        try await scene.wait { scene.stored == [] }
    }

    // MARK: Opening

    /// An entry that the service is to open, in a system where no app is installed.
    private func opening() throws -> (scene: KeeperScene, links: LinkOpening) {
        let scene = try KeeperScene(1)
        let environment = [
            "HOME": scene.folder.path("home"), "PATH": "/nowhere", "XDG_DATA_DIRS": "/nowhere",
            "XDG_CONFIG_DIRS": "/nowhere", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
        ]
        let log = try scene.recorded.log("--json")
        let links = LinkOpening(environment, allowsCustomSchemes: false, log, scene.loop, scene.keeper)
        scene.deliver = { [weak links] id, delivery in links?.deliver(id, delivery, token: nil) }
        return (scene, links)
    }

    @Test func `Link opening: an entry that is claimed, gone or unusable is not opened`() throws {
        for (event, left) in [("being-opened", [1]), ("gone", []), ("not-delivered", [1])] as [(String, [UInt32])] {
            let (scene, links) = try opening()
            var claim: FileClaim?
            switch event {
            case "being-opened": claim = try scene.keeper.claim(.test(1))
            case "gone": try scene.folder.remove(KeeperScene.file(1))
            default: try scene.block(1)
            }
            scene.loop.handle(.activated(.test(1)))
            #expect(scene.logged() == [event])
            #expect(scene.stored == left, "\(event)")
            #expect((scene.actions.last == .announce(.test(1), .beingOpened)) == (event == "being-opened"))
            #expect(scene.actions.contains(.note(.notDelivered(.test(1)))) == (event == "not-delivered"))
            withExtendedLifetime((claim, links)) {}
        }
    }

    @Test func `Link opening when the apps can't be read: logged, and the known apps stay`() throws {
        let (scene, links) = try opening()
        links.reloadRouter()
        #expect(scene.loop.machine.router.schemesWithoutBrowser == ["http", "https"] && scene.logged() == [])
        let (other, otherLinks) = try opening()
        try other.folder.write("home/.cache", "")
        otherLinks.reloadRouter()
        #expect(other.logged() == ["apps"])
        #expect(other.loop.machine.router.schemesWithoutBrowser.isEmpty)
    }
}
