// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// A reader that finds the test's tags, and may report when they come and go.
final class ScriptedReader: DiscoveringDriver {
    enum Look: Sendable {
        case nothing
        /// Nothing, and meanwhile something may have come, so many times.
        case changes(Int)
        case tags([any VirtualTag])
        case failure(LinkError)
    }

    private struct State {
        var looks: [Look] = []
        var plans: [(Set<Technology>, [UInt16])] = []
        var releases = 0
        var handler: (@Sendable () -> Void)?
    }

    let name = "scripted"
    let technologies = Set(Technology.allCases)
    private let field = VirtualField()
    private let tells: Bool
    private let state: Locked<State>
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    var statistics: LinkStatistics { field.statistics }

    /// - Parameters:
    ///   - looks: the result of each poll; the last one repeats.
    ///   - tells: whether it reports arrivals and departures of tags.
    init(_ looks: [Look], tells: Bool = false) {
        state = Locked(State(looks: looks))
        self.tells = tells
        (stream, continuation) = AsyncStream.makeStream()
    }

    var lookCount: Int { state.withLock { $0.plans.count } }
    var releaseCount: Int { state.withLock { $0.releases } }
    /// Whether a session or a watcher wants to know of changes.
    var isObserved: Bool { state.withLock { $0.handler != nil } }
    var lastPlan: (technologies: Set<Technology>, systemCodes: [UInt16])? { state.withLock { $0.plans.last } }

    /// Waits until it has looked so many times, or the test's time is over.
    func looks(_ count: Int) async {
        var changes = stream.makeAsyncIterator()
        while lookCount < count, await changes.next() != nil {}
    }

    /// Takes all tags out of the field, without a word.
    func removeTags() { field.removeAll() }

    /// Takes a tag out of the field, without a word.
    func remove(_ tag: any VirtualTag) { field.remove(tag) }

    /// Says that a tag may have come or gone.
    func tell() { state.withLock { $0.handler }?() }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        guard tells else { return nil }
        state.withLock { $0.handler = handler }
        return PresenceObservation { [state] in state.withLock { $0.handler = nil } }
    }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        let look = state.withLock { state in
            state.plans.append((technologies, systemCodes))
            return state.looks.count > 1 ? state.looks.removeFirst() : state.looks.first
        }
        defer { continuation.yield() }
        switch look {
        case .nothing, nil: return []
        case .changes(let count):
            for _ in 0..<count { tell() }
            return []
        case .failure(let error): throw error
        case .tags(let tags):
            field.removeAll()
            for tag in tags { field.bring(tag) }
            return try await ActivatingReader(field).discover(technologies, systemCodes: systemCodes)
        }
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {
        if case .frames(let link) = tag.port { try await link.reactivate() }
    }

    func release() async { state.withLock { $0.releases += 1 } }
}

@Suite(.timeLimit(.minutes(1))) struct `How a session looks for tags` {
    private static func tag(_ number: UInt8 = 1) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number])
    }

    /// Waits until the session waits for its next look.
    private func untilItWaits(_ scene: Scene, for events: Int = 2) async {
        while scene.clock.scheduledEventCount < events, !Task.isCancelled { await Task.yield() }
    }

    @Test func `A reader that can't tell is asked every tenth of a second until there is a tag`() async throws {
        let reader = ScriptedReader([.nothing, .nothing, .nothing, .tags([Self.tag()])])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.event() == "a active")
        for count in 1...3 {
            await reader.looks(count)
            // The limit of the session, and the next look.
            await untilItWaits(scene)
            scene.clock.advance(by: .milliseconds(99))
            // The next look is still to come.
            #expect(scene.clock.scheduledEventCount == 2)
            #expect(reader.lookCount == count)
            scene.clock.advance(by: .milliseconds(1))
        }
        #expect(await scene.event() == "a found 1")
        #expect(reader.lookCount == 4 && reader.lastPlan?.systemCodes == [0x12FC])
        #expect(reader.lastPlan?.technologies == Set(Technology.allCases))
        // Tags pause it.
        scene.clock.advance(by: .seconds(5))
        #expect(reader.lookCount == 4 && reader.releaseCount == 0)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        #expect(reader.releaseCount == 1)
    }

    @Test func `What is known of a tag is not its own words where its reader concludes it`() async throws {
        let field = VirtualField()
        field.bring(Self.tag())
        let scene = Scene(.discovering(ConcludingReader(field)))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let inspection = try await session.work(with: try #require(scene.tags.first)) { hand throws(TagError) in
            try await hand.inspect()
        }
        #expect(!inspection.tellsActivation)
        #expect(inspection.unknown == [.failedAuthentications, .answers, .counters])
        // The reader activates tags by itself, so the airtime of the activation is not known.
        #expect(inspection.findings.activation == nil && inspection.findings.cost != nil)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A reader that reports changes is polled then, and not by time`() async throws {
        let reader = ScriptedReader([.nothing, .nothing, .tags([Self.tag()])], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        await reader.looks(1)
        scene.clock.advance(by: .seconds(5))
        #expect(reader.lookCount == 1)
        reader.tell()
        await reader.looks(2)
        reader.tell()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        reader.tell()
        #expect(reader.lookCount == 3)
    }

    @Test func `A session that ends while it waits for the next look leaves nothing but its sheet`() async throws {
        let reader = ScriptedReader([.nothing])
        let scene = Scene(.discovering(reader))
        let session = try await scene.waiting(reader)
        session.invalidate()
        #expect(await scene.events(2) == ["a active", "a ended: userCanceled"])
        await scene.untilIdle()
        #expect(scene.clock.scheduledEventCount == 1)
        scene.clock.advance(by: .milliseconds(2500))
        #expect(scene.clock.scheduledEventCount == 0 && reader.lookCount == 1)
    }

    @Test func `A session that its app ends in a callback ends after what was due before, and keeps nothing`()
        async throws
    {
        let reader = ScriptedReader([.nothing], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try #require(ReaderSession(environment: scene.environment))
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        session.observe { [weak session] event in
            switch event {
            case .becameActive:
                session?.invalidate(errorMessage: "No.")
                // The call is over before the session ends: nothing has happened yet.
                continuation.yield("active, \(scene.sheet.history)")
            case .detected: continuation.yield("found")
            case .ended(let end): continuation.yield("\(end)")
            }
        }
        session.alertMessage = "a"
        session.begin()
        var happened = events.makeAsyncIterator()
        #expect(await happened.next() == #"active, ["ready: a"]"#)
        #expect(await happened.next() == "userCanceled")
        await scene.untilIdle()
        #expect(scene.sheet.history == ["ready: a", "failure: No."])
        #expect(!reader.isObserved && reader.lookCount == 0 && reader.releaseCount == 1)
    }

    @Test func `A reader that is gone ends the session, and one that is in use does not`() async throws {
        let reader = ScriptedReader([
            .failure(LinkError(.inUse, "Another program has it.")), .failure(LinkError(.transmission, "Noise.")),
            .nothing,
            .failure(LinkError(.readerUnavailable, "It was pulled out.")),
        ])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        await reader.looks(1)
        await untilItWaits(scene)
        #expect(session.obstacle == "Another program has it." && session.isActive)
        for count in 2...4 {
            scene.clock.advance(by: .milliseconds(100))
            await reader.looks(count)
            if count < 4 {
                await untilItWaits(scene)
                // What is no longer in the way is not said.
                #expect(session.obstacle == nil && session.isActive)
            }
        }
        let end = SessionEnd.terminatedUnexpectedly(reason: "It was pulled out.")
        #expect(await scene.events(2) == ["a active", "a ended: \(end)"])
        #expect(scene.sheet.content?.state == .dismissed)
    }

    @Test func `Another plan is looked for at once, until the next restart`() async throws {
        let reader = ScriptedReader([.nothing, .nothing, .tags([Self.tag()])], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        let other = PollingPlan(technologies: [.nfcA], systemCodes: [1, 2])
        // Before the session is active there is nothing to restart.
        session.restartPolling(with: other)
        session.begin()
        await reader.looks(1)
        #expect(reader.lastPlan?.systemCodes == [0x12FC])
        session.restartPolling(with: other)
        await reader.looks(2)
        #expect(reader.lastPlan?.systemCodes == [1, 2] && reader.lastPlan?.technologies == [.nfcA])
        // By the same plan it looks already.
        session.restartPolling(with: other)
        session.restartPolling()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(reader.lookCount == 3 && reader.lastPlan?.systemCodes == [0x12FC])
        session.restartPolling(with: other)
        #expect(await scene.event() == "a found 1")
        #expect(reader.lastPlan?.systemCodes == [1, 2])
        // The plan of the last restart stays, and reported tags are left out.
        session.restartPolling(skippingReported: true)
        reader.tell()
        #expect(await scene.event() == "a found 1")
        #expect(reader.lastPlan?.systemCodes == [1, 2])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A restart with the plan by which it looks already is no news`() async throws {
        let reader = ScriptedReader([.nothing], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        await reader.looks(1)
        await session.settles()
        session.restartPolling()
        session.restartPolling(with: session.plan)
        await session.settles()
        #expect(reader.lookCount == 1)
        session.invalidate()
        #expect(await scene.events(2) == ["a active", "a ended: userCanceled"])
    }

    @Test func `Tags that stay are left out where that is wanted, and come again when they were away`() async throws {
        let field = VirtualField()
        let tags = [Self.tag(1), Self.tag(2)]
        field.bring(tags[0])
        let scene = Scene(.field(field))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        session.restartPolling(skippingReported: true)
        field.bring(tags[1])
        #expect(await scene.event() == "a found 1")
        #expect(scene.tags.map(\.target.identifier.last) == [2])
        #expect(scene.sheet.history == ["ready: a", "scanning: a", "ready: a", "scanning: a"])
        session.restartPolling(skippingReported: true)
        field.remove(tags[0])
        field.bring(tags[0])
        #expect(await scene.event() == "a found 1")
        #expect(scene.tags.map(\.target.identifier.last) == [1])
        // All of them come where nothing is left out.
        session.restartPolling()
        #expect(await scene.event() == "a found 2")
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test
    func `A tag on a reader that can't tell is asked whether it is near, a quarter of a second after its last command`()
        async throws
    {
        let tag = Self.tag()
        let reader = ScriptedReader([.tags([tag])])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        let found = try #require(scene.tags.first)
        #expect(!found.isConnected)
        scene.clock.advance(by: .seconds(5))
        #expect(await session.connects(to: found) == nil)
        var before = reader.statistics.exchanges
        #expect(found.isConnected && found.isConnected)
        scene.clock.advance(by: .milliseconds(249))
        #expect(found.isConnected)
        // A command comes after what was asked before it, which is nothing.
        #expect(try await session.answer([0x30, 3], of: found).get().count == 16)
        #expect(reader.statistics.exchanges - before == 1)
        scene.clock.advance(by: .milliseconds(250))
        before = reader.statistics.exchanges
        #expect(found.isConnected)
        while reader.statistics.exchanges == before, !Task.isCancelled { await Task.yield() }
        #expect(session.connectedTag === found)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        #expect(!found.isConnected && !found.isAvailable)
    }

    @Test func `What changes during a look is looked for after it, once`() async throws {
        for count in 1...3 {
            let reader = ScriptedReader([.changes(count), .nothing, .tags([Self.tag()])], tells: true)
            let scene = Scene(.discovering(reader))
            let session = try scene.session("a")
            session.begin()
            await reader.looks(2)
            #expect(await scene.event() == "a active")
            // It waits for the next change now.
            scene.clock.advance(by: .seconds(5))
            #expect(reader.lookCount == 2)
            reader.tell()
            #expect(await scene.event() == "a found 1")
            session.invalidate()
            #expect(await scene.event() == "a ended: userCanceled")
        }
    }

    @Test func `Tags that were found are not looked for again when they change`() async throws {
        let reader = ScriptedReader([.tags([Self.tag()])], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        reader.tell()
        session.restartPolling()
        #expect(await scene.event() == "a found 1")
        #expect(reader.lookCount == 2 && scene.clock.scheduledEventCount == 1)
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }
}
