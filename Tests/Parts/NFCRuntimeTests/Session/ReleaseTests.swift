// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCRuntime
import NFCTestKit
import TagLink
import Testing
import VirtualTags

/// Checks in which order a session that ends lets go of its reader.
@Suite(.timeLimit(.minutes(1))) struct `The release of a reader` {
    @Test func `What it does is cut off first, because the next session's work comes after the release`() async throws {
        let reader = NotedReader()
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.event() == "a active")
        while !reader.isIdle, !Task.isCancelled { await Task.yield() }
        reader.clear()
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        #expect(reader.log.prefix(2) == ["interrupted", "work"])
        #expect(reader.log.filter { $0 != "work" } == ["interrupted", "released"])
    }

    @Test func `A look that is cut off knows that nobody needs its result`() async throws {
        let reader = NotedReader(waits: true)
        let scene = Scene(.discovering(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.event() == "a active")
        while !reader.isIdle, !Task.isCancelled { await Task.yield() }
        session.invalidate()
        #expect(await scene.event() == "a ended: userCanceled")
        #expect(reader.log.filter { $0 != "work" } == ["cancelled", "interrupted", "released"])
    }

    @Test func `A watcher works on the thread of its reader, and lets go of it at its end`() async throws {
        let reader = NotedReader()
        let environment = NFCEnvironment(reader: .discovering(reader), clock: ManualClock())
        let watcher = try #require(TagWatcher(environment) { _ in })
        watcher.start()
        // It has looked once.
        while !reader.log.contains("released"), !Task.isCancelled { await Task.yield() }
        await watcher.stop()
        #expect(reader.log.first == "work")
        // Its thread may let go of it before or after the interruption.
        #expect(reader.log.filter { $0 != "work" }.sorted() == ["interrupted", "released", "released"])
    }

    @Test func `Whoever is told of its events is kept until the end is told, and not longer`() async throws {
        let scene = Scene(.field(VirtualField()))
        let session = try #require(ReaderSession(environment: scene.environment))
        let (ends, continuation) = AsyncStream.makeStream(of: SessionEnd.self)
        weak var kept: Locked<Int>?
        do {
            let listener = Locked(0)
            kept = listener
            session.observe { event in
                listener.withLock { $0 += 1 }
                if case .ended(let end) = event { continuation.yield(end) }
            }
        }
        session.begin()
        #expect(kept != nil)
        session.invalidate()
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .userCanceled)
        await scene.untilIdle()
        #expect(kept == nil)
    }

    @Test func `A session that found a tag is freed when it has ended, its sheet has gone, and its app lets go of it`()
        async throws
    {
        let (field, clock) = (VirtualField(), ManualClock())
        field.bring(VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6]))
        let environment = NFCEnvironment(reader: .field(field), clock: clock)
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        var happened = events.makeAsyncIterator()
        weak var kept: ReaderSession?
        do {
            let session = try #require(ReaderSession(environment: environment))
            kept = session
            session.observe { event in
                switch event {
                case .becameActive: break
                case .detected(let tags): continuation.yield("found \(tags.count)")
                case .ended: continuation.yield("ended")
                }
            }
            session.begin()
            #expect(await happened.next() == "found 1")
            session.invalidate()
            #expect(await happened.next() == "ended")
        }
        clock.advance(by: .seconds(3))
        // The reader's thread may still be about to leave it.
        while kept != nil, !Task.isCancelled { await Task.yield() }
        #expect(clock.scheduledEventCount == 0)
    }

    @Test func `A field that stayed on when it was to be turned off is turned off at the end`() async throws {
        let reader = StubbornReader()
        let scene = Scene(.field(reader))
        let session = try scene.session("a")
        session.begin()
        #expect(await scene.events(2) == ["a active", "a found 1"])
        // A new look begins without a field.
        session.restartPolling()
        let end = SessionEnd.terminatedUnexpectedly(reason: "It stays on.")
        #expect(await scene.event() == "a ended: \(end)")
        #expect(reader.log == ["on", "off", "off"])
    }
}

/// A reader with a tag, which refuses the first time that it is to turn its field off, and notes what is asked of it.
private final class StubbornReader: FieldDriver {
    private let field = VirtualField()
    private let lines = Locked<[String]>([])
    var name: String { field.name }
    var technologies: Set<Technology> { field.technologies }
    var log: [String] { lines.withLock { $0 } }

    init() { field.bring(VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6])) }

    func link(for technology: Technology) -> (any FrameLink)? { field.link(for: technology) }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        let refuses = lines.withLock { lines in
            defer { lines.append(isOn ? "on" : "off") }
            return !isOn && !lines.contains("off")
        }
        if refuses { throw LinkError(.readerUnavailable, "It stays on.") }
        field.switchCarrier(isOn)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { nil }
}

/// A reader without tags, which may wait for them until it is cut off, that notes what is asked of it, and when its thread is given work.
private final class NotedReader: DiscoveringDriver {
    /// What was noted, and the work that has not ended.
    struct State {
        var log: [String] = []
        var jobs = 0
        var hasLooked = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private final class Thread: SerialExecutor, TaskExecutor {
        private let queue = DispatchQueue(label: "noted")
        let state = Locked(State())

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            state.withLock { state in
                state.log.append("work")
                state.jobs += 1
            }
            queue.async { [self] in
                unsafe job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
                state.withLock { $0.jobs -= 1 }
            }
        }
    }

    let name = "noted"
    let technologies: Set<Technology> = [.nfcA]
    private let thread = Thread()
    private let waits: Bool
    var statistics: LinkStatistics { .zero }
    var executor: (any SerialExecutor & TaskExecutor)? { thread }
    var log: [String] { thread.state.withLock { $0.log } }
    /// Whether it has looked once, and has nothing more to do.
    var isIdle: Bool { thread.state.withLock { $0.hasLooked && $0.jobs == 0 } }

    init(waits: Bool = false) { self.waits = waits }

    func clear() { thread.state.withLock { $0.log = [] } }

    // It reports changes, of which there are none, so that it looks only once.
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? { PresenceObservation {} }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        guard waits else {
            thread.state.withLock { $0.hasLooked = true }
            return []
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                thread.state.withLock { state in
                    state.waiting = continuation
                    state.hasLooked = true
                }
            }
        } onCancel: {
            thread.state.withLock { $0.log.append("cancelled") }
        }
        return []
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {}
    func interrupt() {
        let waiting = thread.state.withLock { state in
            state.log.append("interrupted")
            return state.waiting.take()
        }
        waiting?.resume()
    }
    func release() async { thread.state.withLock { $0.log.append("released") } }
}
