// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks what a session makes of single looks for tags, and who has the reader meanwhile.
@Suite(.timeLimit(.minutes(1))) struct `A look for tags` {
    private static func tag(_ number: UInt8 = 1) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number])
    }

    @Test func `A tag that was away is new where arrivals can't be told apart, and one that stayed is not`()
        async throws
    {
        let tag = Self.tag()
        let reader = ScriptedReader([.tags([tag]), .tags([tag]), .nothing, .tags([tag])])
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        session.restartPolling(skippingReported: true)
        for look in 2...3 {
            await reader.looks(look)
            await session.settles()
            #expect(scene.sheet.content?.state == .ready, "\(look)")
            scene.clock.advance(by: .milliseconds(100))
        }
        await reader.looks(4)
        await session.settles()
        try #require(scene.sheet.content?.state == .scanning)
        #expect(await scene.event() == "a found 1")
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `The field goes off and on again for each further look, and off at the end`() async throws {
        let reader = PluggedReader()
        reader.field.bring(Self.tag())
        let scene = Scene(.field(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        session.restartPolling()
        #expect(await scene.event() == "a found 1")
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        #expect(reader.carriers.withLock { $0 } == [true, false, true, false])
    }

    @Test func `What was found by a plan that is no longer wanted is not reported`() async throws {
        let reader = PlannedReader()
        let gate = Gate(ScriptedReader([.nothing]))
        let scene = Scene(.discovering(reader), gate: gate)
        let session = try scene.session("a")
        reader.meanwhile.withLock { $0 = { session.restartPolling(with: PollingPlan(technologies: [.nfcA])) } }
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(scene.tags.map(\.target.identifier.last) == [2])
        // The service is not told of it either, because the app never had that tag.
        #expect(gate.log == ["claimed for session", "found 1, released 0 times"])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `What was found is not reported when another plan is wanted just before it is`() async throws {
        let reader = ScriptedReader([.tags([Self.tag(1)]), .tags([Self.tag(2)])])
        let gate = Gate(reader)
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock(), gate: gate)
        let session = try #require(ReaderSession(environment: environment))
        let (events, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        session.observe { event in
            switch event {
            case .becameActive: break
            case .detected(let tags): continuation.yield(tags.compactMap { $0.target.identifier.last })
            case .ended: continuation.yield([])
            }
        }
        gate.onFound.withLock { $0 = { session.restartPolling(with: PollingPlan(technologies: [.nfcA])) } }
        session.begin()
        var happened = events.makeAsyncIterator()
        #expect(await happened.next() == [2])
        #expect(reader.lastPlan?.technologies == [.nfcA])
        session.invalidate()
        #expect(await happened.next() == [])
    }

    @Test func `A look that fails is repeated, also on a reader that reports changes`() async throws {
        let noise = LinkError(.transmission, "Noise.")
        let reader = ScriptedReader([.failure(noise), .tags([Self.tag()])], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try await scene.waiting(reader)
        scene.clock.advance(by: .milliseconds(100))
        #expect(await scene.events(2) == ["a active", "a found 1"])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `A look that fails is repeated, also when the time until then is over at once`() async throws {
        let reader = ScriptedReader([.failure(LinkError(.transmission, "Noise.")), .tags([Self.tag()])])
        let environment = NFCEnvironment(reader: .discovering(reader), clock: PollingClock())
        let session = try #require(ReaderSession(environment: environment))
        let (ends, continuation) = AsyncStream.makeStream(of: SessionEnd.self)
        session.observe { if case .ended(let end) = $0 { continuation.yield(end) } }
        session.begin()
        await reader.looks(1)
        // The second time, the look that the first one asked for is done.
        for _ in 0..<2 { await session.settles() }
        #expect(reader.lookCount == 2)
        session.invalidate()
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .userCanceled)
    }

    @Test func `A look that comes before its time takes the place of the one that was due`() async throws {
        let reader = ScriptedReader([.nothing])
        let scene = Scene(.discovering(reader))
        let session = try await scene.waiting(reader)
        scene.clock.advance(by: .milliseconds(50))
        session.restartPolling(with: PollingPlan(technologies: [.nfcA]))
        await reader.looks(2)
        await session.settles()
        #expect(scene.clock.scheduledEventCount == 2)
        scene.clock.advance(by: .milliseconds(99))
        #expect(scene.clock.scheduledEventCount == 2 && reader.lookCount == 2)
        scene.clock.advance(by: .milliseconds(1))
        await reader.looks(3)
        session.invalidate()
        #expect(await scene.events(2) == ["a active", "a ended: userCanceled"])
    }

    @Test func `A tag whose data break every standard is left out, and those after it are found`() async throws {
        let field = VirtualField()
        field.bring(Self.tag())
        let scene = Scene(.discovering(NonsenseReader(field)))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(scene.tags.first?.target.identifier == [4, 1, 2, 3, 4, 5, 1])
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
    }

    @Test func `The service's reader is claimed once, and given back when it is free, before the end is reported`()
        async throws
    {
        let reader = ScriptedReader([.tags([Self.tag()])])
        let gate = Gate(reader)
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock(), gate: gate)
        let session = try #require(ReaderSession(environment: environment))
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        session.observe { event in
            switch event {
            case .becameActive: break
            case .detected: continuation.yield("found")
            case .ended:
                gate.note("ended")
                continuation.yield("ended")
            }
        }
        session.begin()
        var happened = events.makeAsyncIterator()
        #expect(await happened.next() == "found")
        session.restartPolling()
        #expect(await happened.next() == "found")
        session.invalidate()
        #expect(await happened.next() == "ended")
        #expect(
            gate.log == [
                "claimed for session", "found 1, released 0 times", "found 1, released 0 times",
                "given back, released 1 times", "ended",
            ]
        )
    }

    @Test func `The service has its reader back before a session's files are saved, which may take long`()
        async throws
    {
        let reader = ScriptedReader([.nothing])
        let gate = Gate(reader)
        let environment = NFCEnvironment(
            reader: .discovering(reader),
            clock: ManualClock(),
            isOfTest: false,
            gate: gate,
            companion: Files(gate),
            place: nil
        )
        let session = try #require(ReaderSession(environment: environment))
        let (ends, continuation) = AsyncStream.makeStream(of: SessionEnd.self)
        session.observe { event in
            guard case .ended(let end) = event else { return }
            gate.note("ended")
            continuation.yield(end)
        }
        session.begin()
        await reader.looks(1)
        session.invalidate()
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .userCanceled)
        #expect(gate.log == ["claimed for session", "given back, released 1 times", "saved", "ended"])
    }

    @Test func `The service learns of a tag before the app does, which may end with that`() async throws {
        let reader = ScriptedReader([.nothing, .tags([Self.tag()])])
        let (gate, clock) = (Gate(reader), ManualClock())
        let environment = NFCEnvironment(reader: .discovering(reader), clock: clock, gate: gate)
        let session = try #require(ReaderSession(environment: environment))
        let (ends, continuation) = AsyncStream.makeStream(of: SessionEnd.self)
        session.observe { [weak session] event in
            switch event {
            case .becameActive: break
            case .detected:
                gate.note("the app learns of it")
                session?.invalidate()
            case .ended(let end): continuation.yield(end)
            }
        }
        session.begin()
        await reader.looks(1)
        await session.settles()
        // The tag comes when no other thread acts for the session.
        clock.advance(by: .milliseconds(100))
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .userCanceled)
        #expect(
            gate.log == [
                "claimed for session", "found 1, released 0 times", "the app learns of it",
                "given back, released 1 times",
            ]
        )
    }

    @Test func `The service has its reader back of a session that ends while the reader is claimed for it`()
        async throws
    {
        let reader = ScriptedReader([.nothing])
        let gate = Gate(reader)
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock(), gate: gate)
        let session = try #require(ReaderSession(environment: environment))
        let (ends, continuation) = AsyncStream.makeStream(of: SessionEnd.self)
        session.observe { event in
            guard case .ended(let end) = event else { return }
            gate.note("ended")
            continuation.yield(end)
        }
        gate.onClaim.withLock { $0 = { session.invalidate() } }
        session.begin()
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .userCanceled)
        #expect(gate.log == ["claimed for session", "given back, released 1 times", "ended"])
        #expect(reader.lookCount == 0)
    }

    @Test func `A session looks all the same where the service has no reader to give, and asks it no more`()
        async throws
    {
        let reader = ScriptedReader([.tags([Self.tag()])])
        let gate = Gate(reader, isEmpty: true)
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock(), gate: gate)
        let session = try #require(ReaderSession(environment: environment))
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        session.observe { event in
            switch event {
            case .becameActive: break
            case .detected(let tags): continuation.yield("found \(tags.count)")
            case .ended(let end): continuation.yield("\(end)")
            }
        }
        session.begin()
        var happened = events.makeAsyncIterator()
        #expect(await happened.next() == "found 1")
        session.restartPolling()
        #expect(await happened.next() == "found 1")
        session.invalidate()
        #expect(await happened.next() == "userCanceled")
        #expect(gate.log == ["claimed for session"])
    }

    @Test func `The service's reader is not claimed for a session that ends as soon as it is active`() async throws {
        let reader = ScriptedReader([.nothing])
        let gate = Gate(reader)
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock(), gate: gate)
        let session = try #require(ReaderSession(environment: environment))
        let (ends, continuation) = AsyncStream.makeStream(of: SessionEnd.self)
        session.observe { [weak session] event in
            switch event {
            case .becameActive: session?.invalidate()
            case .detected: break
            case .ended(let end): continuation.yield(end)
            }
        }
        session.begin()
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .userCanceled)
        #expect(gate.log == [] && reader.lookCount == 0)
    }
}

/// A clock that stands still, and on which the time until the next look is over at once.
private final class PollingClock: RuntimeClock {
    private let base = ManualClock()
    var now: Duration { base.now }

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledEvent {
        guard delay == SessionLimits().pollingInterval else { return base.schedule(after: delay, action) }
        action()
        return ScheduledEvent {}
    }
}

/// A service that gives its reader away, and notes when, with how often the reader was released by then.
private final class Gate: ReaderSharing {
    private final class Claim: ReaderClaim {
        private let gate: Gate

        init(_ gate: Gate) { self.gate = gate }

        func note(_ identifiers: [[UInt8]]) {
            gate.note("found \(identifiers.count), \(gate.releases)")
            gate.onFound.withLock { $0.take() }?()
        }

        deinit { gate.note("given back, \(gate.releases)") }
    }

    private let reader: ScriptedReader
    private let notes = Locked<[String]>([])
    /// What happens when it learns of tags for the first time.
    let onFound = Locked<(@Sendable () -> Void)?>(nil)
    /// What happens when it is asked for its reader for the first time.
    let onClaim = Locked<(@Sendable () -> Void)?>(nil)
    private let isEmpty: Bool
    private var releases: String { "released \(reader.releaseCount) times" }
    var log: [String] { notes.withLock { $0 } }

    /// - Parameter isEmpty: whether it has no reader to give.
    init(_ reader: ScriptedReader, isEmpty: Bool = false) { (self.reader, self.isEmpty) = (reader, isEmpty) }

    func note(_ line: String) { notes.withLock { $0.append(line) } }

    func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)? {
        note("claimed for \(purpose)")
        onClaim.withLock { $0.take() }?()
        return isEmpty ? nil : Claim(self)
    }
}

/// Files that are saved when a session has ended, which they note at the service.
private final class Files: EnvironmentCompanion {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func sessionEnded() { gate.note("saved") }
}

/// A reader that finds one tag for NFC-A alone and another one for every other plan.
///
/// Something may happen during its first look.
private final class PlannedReader: DiscoveringDriver {
    let name = "planned"
    let technologies = Set(Technology.allCases)
    let meanwhile = Locked<(@Sendable () -> Void)?>(nil)
    private let field = VirtualField()
    var statistics: LinkStatistics { field.statistics }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        meanwhile.withLock { $0.take() }?()
        field.removeAll()
        field.bring(VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, technologies == [.nfcA] ? 2 : 1]))
        return try await ActivatingReader(field).discover(technologies, systemCodes: systemCodes)
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {}
    func release() async {}
}

/// A reader that finds a card with an ATQB that is none before each look's other tags.
private final class NonsenseReader: ForwardingReader {
    let base: ActivatingReader
    let name = "nonsense"

    init(_ field: VirtualField) { base = ActivatingReader(field) }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        let found = try await base.discover(technologies, systemCodes: systemCodes)
        guard let port = found.first?.port else { return [] }
        return [DiscoveredTag(identity: .nfcB(answer: [0x50]), port: port)] + found
    }
}
