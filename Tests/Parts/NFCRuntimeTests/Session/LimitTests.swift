// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

@Suite(.timeLimit(.minutes(1))) struct `The limits of a session` {
    private let field = VirtualField()
    private let scene: Scene

    init() {
        scene = Scene(.field(field))
    }

    private static func tag(_ number: UInt8 = 1) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number])
    }

    @Test func `It lasts 60 seconds from its own turn on, and not longer`() async throws {
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.begin()
        scene.clock.advance(by: .seconds(30))
        b.begin()
        scene.clock.advance(by: .milliseconds(29_999))
        #expect(a.isActive)
        scene.clock.advance(by: .milliseconds(1))
        #expect(await scene.events(3) == ["a active", "a ended: timeout", "b active"])
        // There is no result, so the sheet closes without one.
        #expect(scene.sheet.history == ["ready: a", "dismissed: a", "ready: b"])
        scene.clock.advance(by: .milliseconds(59_999))
        #expect(b.isActive)
        scene.clock.advance(by: .milliseconds(1))
        #expect(await scene.event() == "b ended: timeout")
    }

    @Test func `A session may have limits of its own`() async throws {
        var limits = SessionLimits()
        limits.session = .seconds(5)
        limits.connectedTag = .seconds(2)
        let session = try scene.session("a", limits: limits)
        field.bring(Self.tag())
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let tag = try #require(scene.tags.first)
        #expect(await session.connects(to: tag) == nil)
        scene.clock.advance(by: .seconds(2))
        #expect(!tag.isAvailable)
        scene.clock.advance(by: .seconds(3))
        #expect(await scene.event() == "a ended: timeout")
    }

    @Test func `A tag stays connected for 20 seconds, also when it is connected again`() async throws {
        field.bring(Self.tag())
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let tag = try #require(scene.tags.first)
        // The time of a connection begins with it.
        scene.clock.advance(by: .seconds(10))
        #expect(await session.connects(to: tag) == nil)
        scene.clock.advance(by: .seconds(15))
        #expect(await session.connects(to: tag) == nil)
        #expect(session.connectedTag === tag)
        scene.clock.advance(by: .milliseconds(4_999))
        #expect(tag.isAvailable)
        scene.clock.advance(by: .milliseconds(1))
        #expect(!tag.isAvailable && session.connectedTag == nil)
        #expect(await session.read(tag) == .failure(.tagUnavailable))
        #expect(await session.connects(to: tag) == .tagUnavailable)
        // The session continues, and finds the tag again.
        #expect(session.isActive && scene.sheet.content?.state == .scanning)
        session.restartPolling()
        #expect(await scene.event() == "a found 1")
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `Another tag, and a tag after a restart, have 20 seconds of their own`() async throws {
        for number: UInt8 in 1...2 { field.bring(Self.tag(number)) }
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        let tags = scene.tags
        #expect(await session.connects(to: tags[0]) == nil)
        scene.clock.advance(by: .seconds(15))
        #expect(await session.connects(to: tags[1]) == nil)
        scene.clock.advance(by: .seconds(15))
        #expect(tags[1].isAvailable && session.connectedTag === tags[1])
        session.restartPolling()
        #expect(await scene.event() == "a found 2")
        #expect(tags.allSatisfy { !$0.isAvailable })
        let again = try #require(scene.tags.first)
        #expect(await session.connects(to: again) == nil)
        // The time of the connection before the restart is no more.
        scene.clock.advance(by: .seconds(19))
        #expect(again.isAvailable)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `Nothing is left to happen when a session has ended and its sheet has gone`() async throws {
        field.bring(Self.tag())
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(await session.connects(to: try #require(scene.tags.first)) == nil)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        await scene.untilIdle()
        // Only the closing of the sheet.
        #expect(scene.clock.scheduledEventCount == 1)
        scene.clock.advance(by: .milliseconds(2500))
        #expect(scene.clock.scheduledEventCount == 0)
        #expect(scene.sheet.history == ["ready: a", "scanning: a", "success: a", "dismissed: a"])
    }

    @Test func `Commands are refused before a connection, for another tag, and after the end`() async throws {
        for number: UInt8 in 1...2 { field.bring(Self.tag(number)) }
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 2"])
        let (one, other) = (scene.tags[0], scene.tags[1])
        #expect(await session.read(one) == .failure(.notConnected))
        #expect(await session.answer([0x30, 3], of: one) == .failure(.notConnected))
        let packet = TagPacket([0x30, 3], answer: .none)
        #expect(await handedOver { session.send(packet, to: one, completion: $0) } == .failure(.notConnected))
        // What phones take before a connection connects.
        #expect(try await session.answer([0x30, 3], of: one, connecting: true).get().first == 0xE1)
        #expect(session.connectedTag === one)
        // It does not take the connection from the one that has it.
        #expect(await session.answer([0x30, 3], of: other, connecting: true) == .failure(.notConnected))
        #expect(await session.read(other) == .failure(.notConnected))
        session.invalidate()
        #expect(await session.read(one) == .failure(.sessionInvalidated))
        #expect(await session.connects(to: one) == .sessionInvalidated)
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A command that fails while its session ends fails because of that, and else with its own error`()
        async throws
    {
        field.bring(Self.tag())
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let tag = try #require(scene.tags.first)
        #expect(await session.connects(to: tag) == nil)
        let lost = TagError(.badAnswer, "It says nonsense.")
        for (ends, error) in [(false, CommandError.tag(lost)), (true, .sessionInvalidated)] {
            let result: Result<Void, CommandError> = await handedOver { done in
                session.perform(
                    on: tag,
                    { _ throws(TagError) in
                        if ends { session.invalidate() }
                        throw lost
                    },
                    completion: done
                )
            }
            #expect(throws: error) { try result.get() }
        }
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A restart ends the time of the connection, and so does the end of the session`() async throws {
        field.bring(Self.tag())
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        // The limit of the session.
        #expect(scene.clock.scheduledEventCount == 1)
        #expect(await session.connects(to: try #require(scene.tags.first)) == nil)
        #expect(scene.clock.scheduledEventCount == 2)
        #expect(await session.connects(to: try #require(scene.tags.first)) == nil)
        #expect(scene.clock.scheduledEventCount == 2)
        session.restartPolling()
        #expect(scene.clock.scheduledEventCount == 1)
        #expect(await scene.event() == "a found 1")
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `The only tag near is selected, and still takes no command before it is connected`() async throws {
        field.bring(Self.tag())
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let tag = try #require(scene.tags.first)
        let exchanges = field.statistics.exchanges
        #expect(await session.read(tag) == .failure(.notConnected))
        #expect(await session.answer([0x30, 3], of: tag) == .failure(.notConnected))
        #expect(field.statistics.exchanges == exchanges)
        #expect(await session.connects(to: tag) == nil)
        #expect(try await session.answer([0x30, 3], of: tag).get().first == 0xE1)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }
}
