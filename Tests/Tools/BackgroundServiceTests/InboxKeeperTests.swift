// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import PrivateStorage
import Testing

@testable import nfcd

/// What the service keeps on the disk, and how it goes on when the disk or the folder fails.
@Suite(.timeLimit(.minutes(3))) struct `The keeper of the inbox` {
    private static let gone = """
        {"ok":false,"event":"failed","error":"inbox","message":"The folder of the inbox is gone or was replaced. The \
        entries in memory are written to a new one."}
        """

    @MainActor @Test func `begins with what an earlier run has left, and names what is damaged`() throws {
        let scene = try Keeping(1, 2)
        for number: UInt32 in [1, 9] { scene.keeper.keep(.dismissed, of: NotifierScene.id(number)) }
        try Data("x".utf8).write(to: URL(fileURLWithPath: scene.path("inbox/junk")))
        try Data("x".utf8).write(to: URL(fileURLWithPath: scene.file(3) + ".tmp"))
        let run = try scene.keeper.recover(shown: NotifierScene.ids(1), summarized: NotifierScene.ids(2))
        let entries = [try Keeping.entry(1), try Keeping.entry(2)]
        #expect(run.entries == entries)
        #expect(run.shown == NotifierScene.ids(1) && run.summarized == NotifierScene.ids(2))
        let marks = [NotifierScene.id(1): EntryMark.dismissed]
        #expect(run.marks == marks)
        #expect(!scene.marks().contains(NotifierScene.id(9).description))
        #expect(try scene.names().count == 3 && scene.names().last == "junk")
        let text = "The file junk of the inbox is damaged or not an entry, and is not offered."
        let line = "{\"event\":\"damaged\",\"message\":\"\(text) nfc inbox clear --damaged removes it.\"}"
        #expect(scene.recorded.lines() == [line])
    }

    @MainActor @Test func `stores what becomes of an entry, and removes it with its mark`() throws {
        let scene = try Keeping(1, 2)
        try scene.begin()
        let id = NotifierScene.id(1)
        #expect(scene.keeper.identifiers == NotifierScene.ids(1, 2))
        scene.keeper.markAnnounced(id)
        #expect(try scene.names() == ["\(id).entry", "\(NotifierScene.id(2)).new"])
        scene.keeper.keep(.wanted, of: id)
        #expect(scene.marks().hasPrefix("\(id) wanted "))
        scene.keeper.remove(id)
        #expect(scene.marks().isEmpty)
        #expect(try scene.names() == ["\(NotifierScene.id(2)).new"])
        #expect(scene.keeper.identifiers == NotifierScene.ids(2))
        #expect(scene.keeper.keepingProblem == nil && scene.recorded.output == "")
    }

    @MainActor @Test func `says once why the disk takes nothing, until it takes something again`() throws {
        let scene = try Keeping(1, 2)
        try scene.begin()
        scene.loop.handle(.inboxLost)
        #expect(scene.stored == [])
        for number: UInt32 in 1...2 { try scene.block(number) }
        scene.loop.handle(.storeAgain)
        #expect(scene.stored == [])
        let lines = scene.recorded.lines()
        let reason = try #require(scene.keeper.keepingProblem)
        #expect(lines.count == 1 && lines[0].contains(#""error":"inbox","message":"The inbox: "#), "\(lines)")
        #expect(lines[0].contains(scene.path("inbox")) && reason.contains(scene.path("inbox")))
        try scene.unblock(1)
        scene.loop.handle(.storeAgain)
        #expect(scene.stored == [NotifierScene.id(1)])
        let kept = (1...2).map { BackgroundReader.Action.note(.kept(NotifierScene.id($0))) }
        #expect(scene.actions.filter { kept.contains($0) } == [kept[0]])
        try scene.unblock(2)
        scene.loop.handle(.storeAgain)
        #expect(scene.stored.count == 2 && scene.keeper.keepingProblem == nil)
        // The next failure is another one.
        _ = scene.recorded.lines()
        try scene.block(3)
        scene.keeper.store(try Keeping.entry(3))
        #expect(scene.recorded.lines().count == 1)
    }

    @MainActor @Test func `writes all that it knows to a new folder when its own is gone`() throws {
        let scene = try Keeping(1)
        try scene.begin()
        scene.keeper.keep(.dismissed, of: NotifierScene.id(1))
        try FileManager.default.moveItem(atPath: scene.path("inbox"), toPath: scene.path("aside"))
        try FileManager.default.removeItem(atPath: scene.path("background"))
        let reason = "The folder \(scene.path("inbox")) is gone or was replaced."
        #expect(scene.keeper.keepingProblem == reason)
        let claim = try scene.keeper.claim(NotifierScene.id(1))
        #expect(claim == nil)
        scene.keeper.store(try Keeping.entry(2))
        #expect(scene.recorded.lines() == [Self.gone])
        #expect(try scene.names() == ["\(NotifierScene.id(1)).new", "\(NotifierScene.id(2)).new"])
        #expect(scene.marks().hasPrefix("\(NotifierScene.id(1)) dismissed "))
        #expect(scene.stored == [NotifierScene.id(1)])
        #expect(scene.keeper.keepingProblem == nil)
    }

    @MainActor @Test func `says why there can be no new folder, until there is one`() throws {
        let scene = try Keeping(1)
        try scene.begin()
        try FileManager.default.moveItem(atPath: scene.path("inbox"), toPath: scene.path("aside"))
        try Data().write(to: URL(fileURLWithPath: scene.path("inbox")))
        for _ in 0..<2 { scene.keeper.store(try Keeping.entry(2)) }
        #expect(scene.recorded.lines() == [Self.gone])
        #expect(scene.stored == [])
        let reason = try #require(scene.keeper.keepingProblem)
        #expect(reason.contains(scene.path("inbox")) && !reason.contains("is gone or was replaced"))
        try FileManager.default.removeItem(atPath: scene.path("inbox"))
        scene.keeper.store(try Keeping.entry(2))
        #expect(scene.keeper.keepingProblem == nil && scene.stored == [NotifierScene.id(1)])
        #expect(try scene.names().count == 2)
    }

    @MainActor @Test func `says what it can't remove, and forgets what becomes of it`() throws {
        let scene = try Keeping(1)
        try scene.begin()
        scene.keeper.keep(.dismissed, of: NotifierScene.id(1))
        try scene.block(1)
        scene.keeper.remove(NotifierScene.id(1))
        let lines = scene.recorded.lines()
        #expect(lines.count == 1 && lines[0].contains(#""error":"inbox","message":"The inbox: "#), "\(lines)")
        #expect(scene.marks().isEmpty)
    }

    @MainActor @Test func `claims what is on the disk, once, and says that it is there no more`() throws {
        let scene = try Keeping(1)
        try scene.begin()
        func code() -> StorageError.Code? {
            do throws(StorageError) {
                return try scene.keeper.claim(NotifierScene.id(1)) == nil ? .failed : nil
            } catch {
                return error.code
            }
        }
        #expect(code() == nil)
        let unknown = try scene.keeper.claim(NotifierScene.id(7))
        #expect(unknown == nil)
        let claim = try #require(try scene.keeper.claim(NotifierScene.id(1)))
        #expect(code() == .inUse)
        withExtendedLifetime(claim) {}
        try FileManager.default.removeItem(atPath: scene.file(1))
        #expect(code() == .missing)
    }

    @MainActor @Test func `notices what others remove, also from a folder that it has made again`() async throws {
        let scene = try Keeping(1, 2, 3)
        try scene.begin()
        try FileManager.default.removeItem(atPath: scene.file(1))
        try await scene.wait { scene.stored == [NotifierScene.id(2), NotifierScene.id(3)] }
        try FileManager.default.moveItem(atPath: scene.file(2), toPath: scene.path("moved"))
        try await scene.wait { scene.stored == [NotifierScene.id(3)] }
        for _ in 0..<2 {
            try FileManager.default.removeItem(atPath: scene.path("inbox"))
            try await scene.wait { FileManager.default.fileExists(atPath: scene.file(3)) }
            #expect(scene.recorded.lines() == [Self.gone])
            #expect(scene.stored == [NotifierScene.id(3)] && scene.keeper.keepingProblem == nil)
        }
        try FileManager.default.removeItem(atPath: scene.file(3))
        try await scene.wait { scene.stored == [] }
    }

    @MainActor @Test func `notices that the folder around its own is moved away`() async throws {
        let scene = try Keeping(1)
        try scene.begin()
        let around = scene.folders.state + "/nfc"
        try FileManager.default.moveItem(atPath: around, toPath: around + "-aside")
        try await scene.wait { FileManager.default.fileExists(atPath: scene.file(1)) }
        #expect(scene.recorded.lines() == [Self.gone])
        #expect(scene.stored == [NotifierScene.id(1)] && scene.keeper.keepingProblem == nil)
    }
}
