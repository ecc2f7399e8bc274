// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// When a session looks for tags, and which of them it reports.
@Suite(.timeLimit(.minutes(1))) struct PollingTests {
    private static let other = PollingPlan(technologies: [.nfcA], systemCodes: [1, 2])

    /// Waits until a session's limit and its next look are scheduled.
    private func untilItWaits(_ scene: Scene) async { await until { scene.clock.scheduledEventCount == 2 } }

    @Test func `reader that does not report presence: polled every 100 ms until there is a tag`() async throws {
        let reader = ScriptedReader([.nothing, .nothing, .nothing, .tags(ntag())])
        let scene = Scene(.discovering(reader))
        let session = try scene.session()
        session.begin()
        #expect(await scene.event() == "a active")
        for count in 1...3 {
            await reader.looks(count)
            await untilItWaits(scene)
            scene.clock.advance(by: .milliseconds(99))
            #expect(scene.clock.scheduledEventCount == 2 && reader.lookCount == count)
            scene.clock.advance(by: .milliseconds(1))
        }
        #expect(await scene.event() == "a found 1")
        #expect(reader.lastPlan?.systemCodes == [0x12FC] && reader.lastPlan?.technologies == Set(Technology.allCases))
        scene.clock.advance(by: .seconds(5))
        #expect(reader.lookCount == 4 && reader.log == [])
        session.invalidate()
        #expect(await scene.event() == Scene.canceled)
        #expect(reader.log == ["interrupt", "release"])
    }

    @Test func `reader that reports presence: polled after each report, and not by time`() async throws {
        let reader = ScriptedReader([.nothing, .nothing, .tags(ntag())], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try scene.session()
        session.begin()
        await reader.looks(1)
        scene.clock.advance(by: .seconds(5))
        #expect(reader.lookCount == 1)
        reader.tell()
        await reader.looks(2)
        reader.tell()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        // What was found is not looked for again.
        reader.tell()
        await session.settles()
        #expect(reader.lookCount == 3 && scene.clock.scheduledEventCount == 1)
        session.invalidate()
        #expect(await scene.event() == Scene.canceled)
        reader.tell()
        #expect(reader.lookCount == 3 && !reader.isObserved)
    }

    @Test(arguments: 1...3)
    func `presence reports during a poll: one more poll follows, however many reports there were`(count: Int)
        async throws
    {
        let reader = ScriptedReader([.changes(count), .nothing, .tags(ntag())], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try scene.session()
        session.begin()
        await reader.looks(2)
        #expect(await scene.event() == "a active")
        await session.settles()
        scene.clock.advance(by: .seconds(5))
        #expect(reader.lookCount == 2)
        reader.tell()
        #expect(await scene.event() == "a found 1")
    }

    @Test(arguments: [false, true], [0, 1])
    func `poll that fails: repeated after 100 ms, whether or not the reader reports presence`(tells: Bool, reports: Int)
        async throws
    {
        let failing = ScriptedReader.Look.changes(reports, then: LinkError(.transmission, "Noise."))
        let reader = ScriptedReader([failing, .tags(ntag())], tells: tells)
        let scene = Scene(.discovering(reader))
        let session = try await scene.waiting(reader)
        #expect(scene.clock.scheduledEventCount == 2 && reader.lookCount == 1)
        scene.clock.advance(by: .milliseconds(100))
        #expect(await scene.events(2) == ["a active", "a found 1"])
        scene.clock.advance(by: .seconds(5))
        await session.settles()
        #expect(reader.lookCount == 2 && scene.clock.scheduledEventCount == 1)
    }

    @Test func `reader in use: the session goes on and has the reason; readerUnavailable: the session ends`()
        async throws
    {
        let reader = ScriptedReader([
            .failure(.inUse, "Another program has it."), .failure(.transmission), .nothing,
            .failure(.readerUnavailable, "It was pulled out."),
        ])
        let scene = Scene(.discovering(reader))
        let session = try scene.session()
        session.begin()
        for count in 1...3 {
            await reader.looks(count)
            await untilItWaits(scene)
            #expect(session.obstacle == (count == 1 ? "Another program has it." : nil) && session.isActive)
            scene.clock.advance(by: .milliseconds(100))
        }
        let end = SessionEnd.terminatedUnexpectedly(reason: "It was pulled out.")
        #expect(await scene.events(2) == ["a active", "a ended: \(end)"])
        #expect(scene.sheet.content?.state == .dismissed)
    }

    // MARK: Restarts and plans

    @Test func `restart with another plan: the reader polls with that plan at once, until the next restart`()
        async throws
    {
        let reader = ScriptedReader([.nothing, .nothing, .tags(ntag())], tells: true)
        let scene = Scene(.discovering(reader))
        let session = try scene.session()
        // Before the session is active there is nothing to restart.
        session.restartPolling(with: Self.other)
        session.begin()
        await reader.looks(1)
        await session.settles()
        #expect(reader.lastPlan?.systemCodes == [0x12FC])
        // It already looks with this plan.
        session.restartPolling()
        session.restartPolling(with: session.plan)
        await session.settles()
        #expect(reader.lookCount == 1)
        session.restartPolling(with: Self.other)
        await reader.looks(2)
        #expect(reader.lastPlan?.systemCodes == [1, 2] && reader.lastPlan?.technologies == [.nfcA])
        session.restartPolling(with: Self.other)
        session.restartPolling()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(reader.lookCount == 3 && reader.lastPlan?.systemCodes == [0x12FC])
        session.restartPolling(with: Self.other)
        #expect(await scene.event() == "a found 1")
        // The plan of the last restart stays where reported tags are skipped.
        session.restartPolling(skippingReported: true)
        reader.tell()
        #expect(await scene.event() == "a found 1")
        #expect(reader.lastPlan?.systemCodes == [1, 2])
    }

    @Test func `restart with another plan during a poll: the tags of that poll are not reported`() async throws {
        let restart = Locked<(@Sendable () -> Void)?>(nil)
        let reader = ScriptedReader([.tags(ntag(1)) { restart.withLock { $0.take() }?() }, .tags(ntag(2))])
        let scene = Scene(.discovering(reader))
        let session = try scene.session()
        restart.withLock { $0 = { [weak session] in session?.restartPolling(with: Self.other) } }
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        #expect(scene.tags.map(\.target.identifier.last) == [2] && reader.lastPlan?.technologies == [.nfcA])
    }

    @Test func `restart that skips reported tags: only new and returned tags are reported`() async throws {
        let (near, tags) = (VirtualField(), [ntag(1), ntag(2)])
        near.bring(tags[0])
        let scene = Scene(.field(near))
        let (session, _) = try await scene.finding()
        session.restartPolling(skippingReported: true)
        near.bring(tags[1])
        #expect(await scene.event() == "a found 1")
        #expect(scene.tags.map(\.target.identifier.last) == [2])
        #expect(scene.sheet.history == ["ready: a", "scanning: a", "ready: a", "scanning: a"])
        session.restartPolling(skippingReported: true)
        near.remove(tags[0])
        near.bring(tags[0])
        #expect(await scene.event() == "a found 1")
        #expect(scene.tags.map(\.target.identifier.last) == [1])
        session.restartPolling()
        #expect(await scene.event() == "a found 2")
    }

    @Test
    func `restart that skips reported tags: without arrivals, a tag is reported again after a poll without the tag`()
        async throws
    {
        let tag = ntag()
        let reader = ScriptedReader([.tags(tag), .tags(tag), .nothing, .tags(tag)])
        let scene = Scene(.discovering(reader))
        let (session, _) = try await scene.finding()
        session.restartPolling(skippingReported: true)
        for look in 2...3 {
            await reader.looks(look)
            await session.settles()
            #expect(scene.sheet.content?.state == .ready, "\(look)")
            scene.clock.advance(by: .milliseconds(100))
        }
        #expect(await scene.event() == "a found 1")
    }

    @Test func `restart that skips reported tags: a card with a random identifier is reported once for each visit`()
        async throws
    {
        let near = VirtualField()
        let document = VirtualType4Tag(card: ScriptedCard([]), frontEnd: .randomEMRTD)
        near.bring(document)
        let scene = Scene(.field(near))
        let (session, _) = try await scene.finding()
        session.restartPolling(skippingReported: true)
        near.bring(ntag(2))
        #expect(await scene.event() == "a found 1")
        #expect(scene.tags.map(\.target.identifier.last) == [2])
        session.restartPolling(skippingReported: true)
        near.remove(document)
        near.bring(document)
        #expect(await scene.event() == "a found 1")
        #expect(scene.tags.map(\.target.identifier.first) == [0x08])
        // On a reader without arrivals, it has to be gone for a poll.
        let first = VirtualType4Tag(card: ScriptedCard([]), frontEnd: .nfcA(uid: [0x08, 1, 2, 3], ats: [0x02, 0x08]))
        let second = VirtualType4Tag(card: ScriptedCard([]), frontEnd: .nfcA(uid: [0x08, 4, 5, 6], ats: [0x02, 0x08]))
        let reader = ScriptedReader([.tags(first), .tags(second), .nothing, .tags(first)])
        let other = Scene(.discovering(reader))
        let (polling, _) = try await other.finding()
        polling.restartPolling(skippingReported: true)
        for look in 2...3 {
            await reader.looks(look)
            await polling.settles()
            #expect(other.sheet.content?.state == .ready, "\(look)")
            other.clock.advance(by: .milliseconds(100))
        }
        #expect(await other.event() == "a found 1")
    }

    @Test func `field reader: the field is off between looks and after the session`() async throws {
        let reader = PluggedReader(ntag())
        let scene = Scene(.field(reader))
        let (session, _) = try await scene.finding()
        session.restartPolling()
        #expect(await scene.event() == "a found 1")
        session.invalidate()
        #expect(await scene.event() == Scene.canceled)
        #expect(reader.carriers.withLock { $0 } == [true, false, true, false])
    }

    // MARK: The background service

    /// A service that lends its reader, and notes when.
    private final class Service: ReaderSharing {
        private final class Claim: ReaderClaim {
            private let service: Service
            init(_ service: Service) { self.service = service }
            func note(_ identifiers: [[UInt8]]) { service.reader.note("found") }
            deinit { service.reader.note("return") }
        }

        private let reader: ScriptedReader
        private let isEmpty: Bool
        /// What happens when it is asked for its reader for the first time.
        let onClaim = Locked<(@Sendable () -> Void)?>(nil)

        /// - Parameter isEmpty: whether it has no reader to lend.
        init(_ reader: ScriptedReader, isEmpty: Bool = false) { (self.reader, self.isEmpty) = (reader, isEmpty) }

        func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)? {
            reader.note("claim")
            onClaim.withLock { $0.take() }?()
            return isEmpty ? nil : Claim(self)
        }
    }

    /// Files that are saved when a session has ended.
    private final class Files: SessionEndObserver {
        private let reader: ScriptedReader
        init(_ reader: ScriptedReader) { self.reader = reader }
        func sessionEnded() { reader.note("save") }
    }

    /// What is noted of a session with two looks, which ends at some moment.
    private static let services: [(end: String, log: String)] = [
        ("active", "interrupt release save ended"), ("claim", "claim interrupt release return save ended"),
        ("no reader", "claim app app interrupt release save ended"),
        ("found", "claim found app interrupt release return save ended"),
        ("later", "claim found app found app interrupt release return save ended"),
    ]

    @Test(arguments: services.indices)
    func `service's gate: claimed once, told of tags before the app, released before image files are saved`(index: Int)
        async throws
    {
        let (end, log) = Self.services[index]
        let reader = ScriptedReader([.tags(ntag())])
        let service = Service(reader, isEmpty: end == "no reader")
        let scene = Scene(.discovering(reader), gate: service, sessionEndObserver: Files(reader))
        scene.onEvent.withLock {
            $0 = { session, event in
                switch event {
                case .becameActive: if end == "active" { session.invalidate() }
                case .detected:
                    reader.note("app")
                    if end == "found" { session.invalidate() }
                case .ended: reader.note("ended")
                }
            }
        }
        let session = try scene.session()
        if end == "claim" { service.onClaim.withLock { $0 = { [weak session] in session?.invalidate() } } }
        session.begin()
        var events = await scene.events(2)
        if events.last == "a found 1" {
            if end != "found" {
                session.restartPolling()
                #expect(await scene.event() == "a found 1")
                session.invalidate()
            }
            events.append(await scene.event() ?? "")
        }
        #expect(events.last == Scene.canceled)
        #expect(reader.log.joined(separator: " ") == log)
    }
}
