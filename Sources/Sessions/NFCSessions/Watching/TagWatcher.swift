// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink
public import TagProtocols

/// Looks for tags without a session until it is stopped, and reads the message of each tag that arrives.
///
/// If the reader reports arrivals and departures, the watcher releases it in between, so that other programs can use
/// it. Other readers are polled a few times a second.
public final class TagWatcher: Sendable {
    /// An event for the observer.
    public enum Event: Sendable {
        /// The reader answers: at the first look after a start, and when it is back.
        case available
        /// There is no reader, or it is in use. The reason is a sentence for people. A new reason is reported again.
        case unavailable(reason: String)
        /// The identifiers of all tags that are near. Reported after the first look with a working reader, and after
        /// each look at which a tag had left.
        case near([[UInt8]])
        /// A tag that was not near before was read.
        case read(Reading)
    }

    /// The result of reading a tag.
    public struct Reading: Sendable {
        /// The tag's identifier.
        public var identifier: [UInt8]
        /// The bytes of its message; nil when it has none.
        public var message: [UInt8]?
        /// When the reader reported the tag, or the look that found it began, by the environment's clock.
        public var noticed: Duration
        /// The airtime since then, if the reader counts it.
        public var airtime: Duration
    }

    /// Works with a tag that has arrived, in place of reading its message.
    ///
    /// Throw `TagError` when the work has to be tried again: after a moment it is called again, if the tag is still near.
    public typealias Attendant = @Sendable (WatchedTag) async throws(TagError) -> Void

    /// The polling interval for a reader that can't report arrivals.
    static let interval = Duration.milliseconds(250)
    /// How long to wait before a failed look is repeated, and how many times it is repeated.
    static let retry = Duration.milliseconds(100)
    static let maximumRetries = 20
    /// How long to wait before looking again for a missing reader that does not report its arrival.
    static let absence = Duration.seconds(5)

    private struct State {
        /// The number of starts and stops. It lets the loop of an earlier start end.
        var run = 0
        var isRunning = false
        /// When the reader reported a change that was not looked at yet.
        var changed: Duration?
        var waiter: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var presence: PresenceObservation?
    }

    private let environment: NFCEnvironment
    private let driver: any ReaderDriver
    private let source: TagSource
    private let executor: any TaskExecutor
    private let isolation: (any Actor)?
    private let state = Locked(State())
    private let observer: @Sendable (Event) -> Void
    private let attendant: Attendant?

    /// Creates a watcher. One for many readers that never wait, such as those in memory, can work on a thread of the
    /// caller's.
    ///
    /// - Parameters:
    ///   - environment: the reader, the clock and the turns.
    ///   - executor: where it works; nil for the reader's own thread.
    ///   - isolation: the actor in which it works and calls the attendant and the observer, on the same thread; nil for
    ///     none. It is kept.
    ///   - attendant: works with each tag that arrives, while the reader has it. Then no message is read, and
    ///     ``Event/read(_:)`` is not reported. Nil to read messages.
    ///   - observer: called with the events in order, on any thread.
    /// - Returns: nil when the environment has no reader.
    public init?(
        _ environment: NFCEnvironment,
        executor: (any TaskExecutor)? = nil,
        isolation: (any Actor)? = nil,
        attendant: Attendant? = nil,
        observer: @escaping @Sendable (Event) -> Void
    ) {
        guard let driver = environment.driver else { return nil }
        self.driver = driver
        source = TagSource(environment.reader)
        self.executor = executor ?? driver.executor ?? QueueExecutor(target: nil)
        self.isolation = isolation
        self.environment = environment
        self.observer = observer
        self.attendant = attendant
    }

    /// The reader's name.
    public var readerName: String { driver.name }

    /// Starts to look. Does nothing if it is already looking.
    public func start() {
        state.withLock { state in
            guard !state.isRunning else { return }
            state.isRunning = true
            state.run += 1
            let (last, run) = (state.task, state.run)
            state.task = Task(executorPreference: executor) {
                await self.run(run, after: last, isolation: self.isolation)
            }
        }
    }

    /// Stops looking, and waits until the reader is free.
    public func stop() async {
        let (wasRunning, task, waiter) = state.withLock { state in
            defer { state.isRunning = false }
            if state.isRunning { state.run += 1 }
            return (state.isRunning, state.task, state.waiter.take())
        }
        waiter?.resume()
        // A reader that waits for its hardware stops at once, even on a thread that does not notice the cancellation.
        // The loop then releases the reader, so that it can be used again.
        task?.cancel()
        if wasRunning { source.interrupt() }
        await task?.value
    }

    private func isCurrent(_ run: Int) -> Bool { state.withLock { $0.run == run } }

    private func noticeChange() {
        let now = environment.clock.now
        state.withLock { state in
            if state.changed == nil { state.changed = now }
            return state.waiter.take()
        }?.resume()
    }

    // MARK: The loop

    /// The reader's answer at the last look.
    private enum Answer: Equatable {
        case available
        case unavailable(reason: String)
    }

    /// - Parameters:
    ///   - last: the run before, which uses the reader until it ends.
    ///   - isolation: where it works. All that it calls belongs to no actor, and stays there.
    private func run(_ run: Int, after last: Task<Void, Never>?, isolation: isolated (any Actor)?) async {
        await last?.value
        // What the run before did not look at any more says nothing about the moment in which this one finds a tag.
        state.withLock { $0.changed = nil }
        let presence = driver.observePresence { [weak self] in self?.noticeChange() }
        let reportsChanges = presence != nil
        state.withLock { $0.presence = presence }
        var known: [TagPresenceID] = []
        var near: [TagPresenceID] = []
        // The tags that were near after the last change that was noticed; nil before the first look.
        var counted: [TagPresenceID]?
        var answer: Answer?
        var failures = 0
        while isCurrent(run) {
            var pause = reportsChanges ? nil : Self.interval
            do throws(TagError) {
                let began = environment.clock.now
                let changed = state.withLock { $0.changed.take() }
                let isRead = try await look(run, &near, &known, noticed: changed ?? began) {
                    defer { answer = .available }
                    guard answer != .available else { return false }
                    self.observer(.available)
                    return true
                }
                // A tag that has just come is tried as often as those before it. It may have been seen before its arrival
                // was noticed.
                if changed != nil || counted == nil {
                    if let counted, near.contains(where: { !counted.contains($0) }) { failures = 0 }
                    counted = near
                }
                failures = isRead ? 0 : failures + 1
                if !isRead, failures <= Self.maximumRetries { pause = Self.retry }
            } catch {
                if error.code == .readerUnavailable {
                    // When the reader is back, it shows whether the tags have left too.
                    (near, known, counted, failures) = ([], [], nil, 0)
                    let news = Answer.unavailable(reason: error.reason)
                    if isCurrent(run), answer != news { observer(.unavailable(reason: error.reason)) }
                    answer = news
                    pause = Self.absence
                } else {
                    failures += 1
                    if failures <= Self.maximumRetries { pause = Self.retry }
                }
            }
            if reportsChanges { await source.shutDown() }
            await wait(run, pause)
        }
        _ = state.withLock { $0.presence.take() }
        await source.shutDown()
    }

    /// Looks once, and reads the new tags.
    ///
    /// - Parameters:
    ///   - near: the tags that were near at the last look.
    ///   - known: those of them that were read.
    ///   - found: called when the reader has answered; returns whether it did not answer the last time.
    /// - Returns: false when a tag was near and could not be read.
    private func look(
        _ run: Int,
        _ near: inout [TagPresenceID],
        _ known: inout [TagPresenceID],
        noticed: Duration,
        found: () -> Bool
    ) async throws(TagError) -> Bool {
        let counted = driver.statistics.airtime
        var (tags, selected) = try await source.find(.ndef)
        let isFirst = found()
        let present = tags.map { TagPresenceID(of: $0.target.identifier, on: driver) }
        if isFirst || near.contains(where: { !present.contains($0) }) {
            known.removeAll { !present.contains($0) }
            observer(.near(present.map(\.identifier)))
        }
        near = present
        var isRead = true
        for (index, tag) in tags.enumerated() where !known.contains(present[index]) {
            guard isCurrent(run) else { return true }
            let message: [UInt8]?
            do throws(TagError) {
                if let last = selected, last !== tag {
                    selected = nil
                    try await last.deselect()
                }
                if selected !== tag { try await tag.wake() }
                selected = tag
                if let attendant {
                    try await attendant(WatchedTag(tag))
                    known.append(present[index])
                    continue
                }
                message = try await Self.message(tag)
            } catch {
                guard error.code != .readerUnavailable else { throw error }
                isRead = false
                continue
            }
            known.append(present[index])
            let airtime = (driver.statistics.airtime - counted).duration
            let identifier = tag.target.identifier
            observer(.read(Reading(identifier: identifier, message: message, noticed: noticed, airtime: airtime)))
        }
        return isRead
    }

    /// Reads a tag's message.
    ///
    /// - Returns: nil when it has none.
    /// - Throws: `TagError` when another try may succeed.
    private static func message(_ tag: ActivatedTag) async throws(TagError) -> [UInt8]? {
        guard let forumTag = tag.forumTag else { return nil }
        do throws(TagError) {
            let message = try await forumTag.readNDEF()
            return message.isEmpty ? nil : message
        } catch {
            switch error.code {
            case .tagLost, .readerUnavailable, .cancelled, .writeInProgress: throw error
            default: return nil
            }
        }
    }

    /// Waits until the reader reports a change, or some time has passed.
    private func wait(_ run: Int, _ pause: Duration?) async {
        // The time may have passed before the wait begins.
        let isOver = Locked(false)
        let timer = pause.map { pause in
            environment.clock.schedule(after: pause) { [weak self] in
                isOver.withLock { $0 = true }
                self?.wake()
            }
        }
        await withCheckedContinuation { continuation in
            let continues = state.withLock { state in
                guard state.run == run, state.changed == nil, !isOver.withLock({ $0 }) else { return true }
                state.waiter = continuation
                return false
            }
            if continues { continuation.resume() }
        }
        timer?.cancel()
    }

    private func wake() { state.withLock { $0.waiter.take() }?.resume() }
}

/// A tag that a ``TagWatcher`` has found and selected, for the function that works with it.
///
/// It is good until that function returns. It is not Sendable, so that it stays with whoever uses the reader.
public struct WatchedTag {
    private let tag: ActivatedTag

    init(_ tag: ActivatedTag) { self.tag = tag }

    /// The data that the tag sent when it was activated.
    public var target: TagTarget { tag.target }

    /// The NDEF procedures of its type; nil when there are none for its kind.
    public var forumTag: (any ForumTag)? { tag.forumTag }

    /// Reads the tag's status and its message. A tag without NDEF, or of a kind that has none, is a result.
    ///
    /// - Throws: `TagError` with `tagLost`, `badAnswer`, `refused`, `cancelled`, `readerUnavailable`.
    public func survey() async throws(TagError) -> NDEFStatusReport { try await tag.read().survey }

    /// Asks the tag for its product; nil if it does not say, or has left.
    public func productName() async -> String? { await tag.productName() }
}
