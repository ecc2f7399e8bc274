// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import Testing

@testable import nfcd

/// When the service tries again what the disk did not take, and looks after a folder that is gone.
@Suite(.timeLimit(.minutes(3))) struct `The keeper of the inbox after a while` {
    @MainActor @Test func `stores again what the disk did not take, until it takes it`() async throws {
        let scene = try Keeping(1, storingPause: .milliseconds(100))
        try scene.begin()
        scene.loop.handle(.inboxLost)
        try scene.block(1)
        for _ in 0..<2 { scene.loop.handle(.storeAgain) }
        #expect(scene.storings == 2)
        // The second try is planned for the time after that of the first one.
        let (storings, problem) = await scene.look(after: .milliseconds(150)) {
            (scene.storings, scene.keeper.keepingProblem)
        }
        #expect(storings == 3 && problem?.contains(scene.path("inbox")) == true)
        try await scene.wait { scene.storings > 3 }
        try scene.unblock(1)
        try await scene.wait { scene.stored == [NotifierScene.id(1)] }
        #expect(scene.keeper.keepingProblem == nil)
    }

    @MainActor @Test func `knows of no problem when what the disk did not take is there no more`() async throws {
        let scene = try Keeping(1, storingPause: .milliseconds(50))
        try scene.begin()
        try scene.block(3)
        scene.keeper.store(try Keeping.entry(3))
        #expect(scene.keeper.keepingProblem != nil)
        try await scene.wait { scene.keeper.keepingProblem == nil }
    }

    @MainActor @Test func `makes a new folder as soon as there can be one, and stores nothing before`() async throws {
        let scene = try Keeping(1, storingPause: .milliseconds(50), movingTime: .seconds(3600))
        try scene.begin()
        try FileManager.default.moveItem(atPath: scene.path("inbox"), toPath: scene.path("aside"))
        try Data().write(to: URL(fileURLWithPath: scene.path("inbox")))
        scene.keeper.store(try Keeping.entry(2))
        let storings = await scene.look(after: .milliseconds(120)) { scene.storings }
        #expect(storings == 0 && scene.stored == [])
        try FileManager.default.removeItem(atPath: scene.path("inbox"))
        try await scene.wait { scene.stored == [NotifierScene.id(1)] }
    }

    @MainActor @Test func `makes a new folder when it is asked for a problem, and hears of no change`() async throws {
        let scene = try Keeping(1, movingTime: .milliseconds(50))
        try FileManager.default.moveItem(atPath: scene.path("inbox"), toPath: scene.path("aside"))
        #expect(scene.keeper.keepingProblem == "The folder \(scene.path("inbox")) is gone or was replaced.")
        try await scene.wait { FileManager.default.fileExists(atPath: scene.path("inbox")) }
        #expect(scene.keeper.keepingProblem == nil)
    }

    @MainActor @Test func `forgets why there could be no folder when there is one, though nothing is to be stored`()
        async throws
    {
        let scene = try Keeping(storingPause: .seconds(3600), movingTime: .milliseconds(50))
        let gone = "The folder \(scene.path("inbox")) is gone or was replaced."
        try FileManager.default.moveItem(atPath: scene.path("inbox"), toPath: scene.path("aside"))
        try Data().write(to: URL(fileURLWithPath: scene.path("inbox")))
        #expect(scene.keeper.keepingProblem == gone)
        try await scene.wait { scene.keeper.keepingProblem != gone }
        #expect(scene.keeper.keepingProblem?.contains(scene.path("inbox")) == true)
        try FileManager.default.removeItem(atPath: scene.path("inbox"))
        try await scene.wait { scene.keeper.keepingProblem == nil }
    }
}
