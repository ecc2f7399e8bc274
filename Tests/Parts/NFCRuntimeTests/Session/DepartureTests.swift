// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks what a session does after one of its tags has left or was lost.
@Suite(.timeLimit(.minutes(1))) struct `A tag that has left` {
    private static func tag(_ number: UInt8 = 1) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number])
    }

    /// A session that has found two tags, and is connected to the first.
    private struct Pair {
        let scene: Scene
        let session: ReaderSession
        let found: [ConnectableTag]
        private let field = VirtualField()
        private let tags = (1...2).map { tag(UInt8($0)) }

        init() async throws {
            for tag in tags { field.bring(tag) }
            scene = Scene(.field(field))
            session = try scene.session("a")
            session.begin()
            #expect(await scene.events(2) == ["a active", "a found 2"])
            found = scene.tags
            #expect(await session.connects(to: found[0]) == nil)
        }

        func remove(_ tag: ConnectableTag) throws {
            field.remove(try #require(tags.first { $0.identifier == tag.target.identifier }))
        }
    }

    @Test(arguments: [false, true])
    func `A tag of the next look is asked, also when the last one was dropped or lost when it was to be asked`(
        isLost: Bool
    ) async throws {
        let reader = ScriptedReader([.tags([Self.tag()])])
        let scene = Scene(.discovering(reader))
        let (session, tag) = try await scene.finding()
        #expect(await session.connects(to: tag) == nil)
        scene.clock.advance(by: .seconds(5))
        let looked: Result<Void, CommandError> = await handedOver { done in
            session.perform(
                on: tag,
                { _ throws(TagError) in
                    // What is asked now waits for the end of this command, and then there is no such tag any more.
                    _ = session.isConnected(to: tag)
                    if isLost { throw TagError(.tagLost, "It is gone.") }
                    session.restartPolling()
                },
                completion: done
            )
        }
        if isLost {
            #expect(throws: CommandError.self) { try looked.get() }
            await session.settles()
            session.restartPolling()
        } else {
            #expect(throws: Never.self) { try looked.get() }
        }
        #expect(await scene.event() == "a found 1")
        let next = try #require(scene.tags.first)
        #expect(next !== tag && !tag.isAvailable)
        #expect(await session.connects(to: next) == nil)
        scene.clock.advance(by: .seconds(5))
        reader.removeTags()
        #expect(session.isConnected(to: next))
        await session.settles()
        #expect(!session.isConnected(to: next))
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test(arguments: [false, true])
    func `Each tag is asked whether it is near, also after another one was asked and had left`(restarts: Bool)
        async throws
    {
        let tags = (1...3).map { Self.tag(UInt8($0)) }
        let looks: [ScriptedReader.Look] = restarts ? tags.map { .tags([$0]) } : [.tags(tags)]
        let reader = ScriptedReader(looks)
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", restarts ? "a found 1" : "a found 3"])
        for (number, tag) in tags.enumerated() {
            if restarts, number > 0 {
                session.restartPolling()
                #expect(await scene.event() == "a found 1")
            }
            let found = try #require(scene.tags.first { $0.target.identifier == tag.identifier })
            #expect(await session.connects(to: found) == nil)
            scene.clock.advance(by: .milliseconds(250))
            // One that stays is asked too.
            #expect(session.isConnected(to: found))
            await session.settles()
            scene.clock.advance(by: .milliseconds(250))
            reader.remove(tag)
            #expect(session.isConnected(to: found))
            await session.settles()
            #expect(!session.isConnected(to: found) && session.connectedTag == nil)
        }
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test(arguments: [(false, 0), (false, 1), (false, 2), (true, 0), (true, 1), (true, 2)])
    func `Of several tags each is known to have left, whichever it is, and those that stay are not`(
        activatesTags: Bool,
        index: Int
    ) async throws {
        let (field, number) = (VirtualField(), 3)
        let tags = (1...number).map { Self.tag(UInt8($0)) }
        for tag in tags { field.bring(tag) }
        let scene = Scene(activatesTags ? .discovering(KnowingReader(field)) : .field(field))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 3"])
        let found = scene.tags
        for other in found.indices {
            #expect(await session.connects(to: found[other]) == nil)
            #expect(found[other].isConnected)
        }
        #expect(await session.connects(to: found[index]) == nil)
        let leaving = try #require(tags.first { $0.identifier == found[index].target.identifier })
        field.remove(leaving)
        await session.settles()
        #expect(!found[index].isConnected && session.connectedTag == nil)
        let other = found[(index + 1) % number]
        #expect(await session.connects(to: other) == nil)
        #expect(other.isConnected)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test(arguments: [false, true])
    func `A packet connects its tag when the connected one is lost, or has left as far as known`(isLost: Bool)
        async throws
    {
        let pair = try await Pair()
        let (scene, session, found) = (pair.scene, pair.session, pair.found)
        #expect(await session.answer([0x30, 3], of: found[1], connecting: true) == .failure(.notConnected))
        scene.clock.advance(by: .seconds(5))
        if isLost {
            let result: Result<Void, CommandError> = await handedOver { done in
                session.perform(
                    on: found[0],
                    { _ throws(TagError) in throw TagError(.tagLost, "It is gone.") },
                    completion: done
                )
            }
            #expect(throws: CommandError.self) { try result.get() }
        } else {
            try pair.remove(found[0])
        }
        #expect(try await session.answer([0x30, 3], of: found[1], connecting: true).get().first == 0xE1)
        #expect(session.connectedTag === found[1] && !found[0].isConnected)
        // Its time begins with it, and the other one's is no more.
        scene.clock.advance(by: .milliseconds(19_999))
        #expect(found[1].isAvailable)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A tag stays connected, and its time goes on, when another one can't be connected that has left`()
        async throws
    {
        let pair = try await Pair()
        let (scene, session, found) = (pair.scene, pair.session, pair.found)
        scene.clock.advance(by: .seconds(15))
        try pair.remove(found[1])
        guard case .tag(let error)? = await session.connects(to: found[1]) else { return #expect(Bool(false)) }
        #expect(error.code == .tagLost && !found[1].isAvailable)
        #expect(await session.connects(to: found[1]) == .tagUnavailable)
        #expect(session.connectedTag === found[0] && found[0].isConnected)
        #expect(try await session.answer([0x30, 3], of: found[0]).get().first == 0xE1)
        scene.clock.advance(by: .milliseconds(4_999))
        #expect(found[0].isAvailable)
        scene.clock.advance(by: .milliseconds(1))
        #expect(!found[0].isAvailable && session.connectedTag == nil && session.isActive)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `What changes during a look that fails is found by the next one, and by no other`()
        async throws
    {
        let reader = FailingReader([Self.tag()])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.event() == "a active")
        while reader.looks < 1, !Task.isCancelled { await Task.yield() }
        await session.settles()
        // The limit of the session, and the next look.
        #expect(scene.clock.scheduledEventCount == 2 && reader.looks == 1)
        scene.clock.advance(by: .milliseconds(100))
        #expect(await scene.event() == "a found 1")
        scene.clock.advance(by: .seconds(5))
        await session.settles()
        #expect(scene.clock.scheduledEventCount == 1 && reader.looks == 2)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }
}

/// A reader whose first look fails, during which it reports a change.
private final class FailingReader: ForwardingReader {
    let base: ActivatingReader
    private let state = Locked<(handler: (@Sendable () -> Void)?, looks: Int)>((nil, 0))
    var looks: Int { state.withLock { $0.looks } }

    init(_ tags: [any VirtualTag]) {
        let field = VirtualField()
        for tag in tags { field.bring(tag) }
        base = ActivatingReader(field)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        state.withLock { $0.handler = handler }
        return PresenceObservation { [state] in state.withLock { $0.handler = nil } }
    }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        let (isFirst, handler) = state.withLock { state in
            state.looks += 1
            return (state.looks == 1, state.handler)
        }
        guard isFirst else { return try await base.discover(technologies, systemCodes: systemCodes) }
        handler?()
        throw LinkError(.transmission, "Noise.")
    }
}
