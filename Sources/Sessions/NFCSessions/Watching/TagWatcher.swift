// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink
public import TagProtocols

/// Watches for tags without a session until it is stopped, and reads the message of each tag that arrives.
///
/// If the reader reports arrivals and departures, the watcher releases the reader in between, so that other programs
/// can use it. Other readers are polled a few times a second.
public final class TagWatcher: Sendable {
    /// An event for the observer.
    public enum Event: Sendable {
        /// The reader works. Reported after the start, and when a missing reader is available again.
        case available
        /// The reader is missing or in use; a sentence for people. Reported again when the reason changes.
        case unavailable(reason: String)
        /// The identifiers of all tags in the field. Reported after the first search with a working reader, and
        /// whenever a tag has left.
        case near([[UInt8]])
        /// A tag has arrived and was read.
        case read(Reading)
    }

    /// The result of reading a tag.
    public struct Reading: Sendable {
        /// The tag's identifier.
        public var identifier: [UInt8]
        /// The bytes of the tag's message; nil when the tag has no message.
        public var message: [UInt8]?
        /// The time of the reader's report, or else of the start of the search, by the environment's clock.
        public var noticed: Duration
        /// The airtime of the search and the read; zero if the reader does not count airtime.
        public var airtime: Duration
    }

    /// Works with a tag that has arrived, instead of reading its message.
    ///
    /// Throw `TagError` to try again: after a moment, the function is called again if the tag is still in the field.
    public typealias Attendant = @Sendable (WatchedTag) async throws(TagError) -> Void

    /// The polling interval for a reader that can't report arrivals.
    static let interval = Duration.milliseconds(250)
    /// How long to wait before a failed search is repeated, and how many times it is repeated.
    static let retry = Duration.milliseconds(100)
    static let maximumRetries = 20
    /// How long to wait before checking again for a missing reader that does not report its arrival.
    static let absence = Duration.seconds(5)

    private struct State {
        /// The number of starts and stops. The loop of an earlier start ends when this number has changed.
        var run = 0
        var isRunning = false
        /// The time at which the reader reported a change; nil when a search has followed.
        var pendingChangeTime: Duration?
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

    /// Creates a watcher. Many watchers of readers that never block, such as virtual readers, can share a thread.
    ///
    /// - Parameters:
    ///   - environment: the environment, with the reader and the clock.
    ///   - executor: the executor of the watcher; nil for the reader's own thread.
    ///   - isolation: the actor on which the watcher works and calls the attendant and the observer. The actor must use
    ///     the executor's thread. Nil for no actor.
    ///   - attendant: works with each tag that arrives, instead of reading its message. ``Event/read(_:)`` is then not
    ///     reported. Nil to read messages.
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

    /// Starts to watch. Does nothing if the watcher is already running.
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

    /// Stops watching, and waits until the reader is released.
    public func stop() async {
        let (wasRunning, task, waiter) = state.withLock { state in
            defer { state.isRunning = false }
            if state.isRunning { state.run += 1 }
            return (state.isRunning, state.task, state.waiter.take())
        }
        waiter?.resume()
        // A reader that is blocked in its hardware does not notice `cancel()`, so `interrupt()` wakes it. The loop then
        // releases the reader.
        task?.cancel()
        if wasRunning { source.interrupt() }
        await task?.value
    }

    private func isCurrent(_ run: Int) -> Bool { state.withLock { $0.run == run } }

    private func noticeChange() {
        let now = environment.clock.now
        state.withLock { state in
            if state.pendingChangeTime == nil { state.pendingChangeTime = now }
            return state.waiter.take()
        }?.resume()
    }

    // MARK: The loop

    private enum Answer: Equatable {
        case available
        case unavailable(reason: String)
    }

    /// - Parameters:
    ///   - last: the previous run, which uses the reader until it ends.
    ///   - isolation: the actor of the loop. The nonisolated functions that the loop calls run on this actor too.
    private func run(_ run: Int, after last: Task<Void, Never>?, isolation: isolated (any Actor)?) async {
        await last?.value
        // The previous run may have left a change unhandled. Its time must not be used for tags that this run finds.
        state.withLock { $0.pendingChangeTime = nil }
        let presence = driver.observePresence { [weak self] in self?.noticeChange() }
        let reportsChanges = presence != nil
        state.withLock { $0.presence = presence }
        var readTags: [TagPresenceID] = []
        var nearTags: [TagPresenceID] = []
        // The tags that were in the field after the last reported change; nil before the first search.
        var trackedTags: [TagPresenceID]?
        var answer: Answer?
        var failures = 0
        while isCurrent(run) {
            var pause = reportsChanges ? nil : Self.interval
            do throws(TagError) {
                let began = environment.clock.now
                let changeTime = state.withLock { $0.pendingChangeTime.take() }
                let isRead = try await search(run, &nearTags, &readTags, noticed: changeTime ?? began) {
                    defer { answer = .available }
                    guard answer != .available else { return false }
                    self.observer(.available)
                    return true
                }
                // A newly arrived tag gets the full number of retries. The search may have found it before the reader
                // reported its arrival.
                if changeTime != nil || trackedTags == nil {
                    if let trackedTags, nearTags.contains(where: { !trackedTags.contains($0) }) { failures = 0 }
                    trackedTags = nearTags
                }
                failures = isRead ? 0 : failures + 1
                if !isRead, failures <= Self.maximumRetries { pause = Self.retry }
            } catch {
                if error.code == .readerUnavailable {
                    // Whether the tags have left too is unknown until the reader is available again.
                    (nearTags, readTags, trackedTags, failures) = ([], [], nil, 0)
                    let newAnswer = Answer.unavailable(reason: error.reason)
                    if isCurrent(run), answer != newAnswer { observer(.unavailable(reason: error.reason)) }
                    answer = newAnswer
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

    /// Searches once, and reads the new tags.
    ///
    /// - Parameters:
    ///   - nearTags: the tags of the last search.
    ///   - readTags: those tags of the last search that were read.
    ///   - found: called when the reader has answered; returns true if it was unavailable before.
    /// - Returns: false when a tag in the field could not be read.
    private func search(
        _ run: Int,
        _ nearTags: inout [TagPresenceID],
        _ readTags: inout [TagPresenceID],
        noticed: Duration,
        found: () -> Bool
    ) async throws(TagError) -> Bool {
        let airtimeBefore = driver.statistics.airtime
        var (tags, selected) = try await source.find(.ndef)
        let isFirst = found()
        let present = tags.map { TagPresenceID(of: $0.target, on: driver) }
        if isFirst || nearTags.contains(where: { !present.contains($0) }) {
            readTags.removeAll { !present.contains($0) }
            observer(.near(present.map(\.identifier)))
        }
        nearTags = present
        var isRead = true
        for (index, tag) in tags.enumerated() where !readTags.contains(present[index]) {
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
                    readTags.append(present[index])
                    continue
                }
                message = try await Self.message(tag)
            } catch {
                guard error.code != .readerUnavailable else { throw error }
                isRead = false
                continue
            }
            readTags.append(present[index])
            let airtime = (driver.statistics.airtime - airtimeBefore).duration
            let identifier = tag.target.identifier
            observer(.read(Reading(identifier: identifier, message: message, noticed: noticed, airtime: airtime)))
        }
        return isRead
    }

    /// Reads a tag's message.
    ///
    /// - Returns: the message; nil when the tag has no message.
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
        // The timer may fire before the wait begins.
        let isOver = Locked(false)
        let timer = pause.map { pause in
            environment.clock.schedule(after: pause) { [weak self] in
                isOver.withLock { $0 = true }
                self?.wake()
            }
        }
        await withCheckedContinuation { continuation in
            let continues = state.withLock { state in
                guard state.run == run, state.pendingChangeTime == nil, !isOver.withLock({ $0 }) else { return true }
                state.waiter = continuation
                return false
            }
            if continues { continuation.resume() }
        }
        timer?.cancel()
    }

    private func wake() { state.withLock { $0.waiter.take() }?.resume() }
}

/// A tag that a ``TagWatcher`` has found and selected, for the watcher's ``TagWatcher/Attendant``.
///
/// Use the tag only until that function returns. It is not Sendable, so it stays on the reader's thread.
public struct WatchedTag {
    private let tag: ActivatedTag

    init(_ tag: ActivatedTag) { self.tag = tag }

    /// The data that the tag sent when it was activated.
    public var target: TagTarget { tag.target }

    /// The NDEF procedures of the tag's type; nil when this kind of tag is not supported.
    public var forumTag: (any ForumTag)? { tag.forumTag }

    /// Reads the tag's NDEF status and message. The report also covers a tag without NDEF or of an unsupported kind.
    ///
    /// - Throws: `TagError` with `tagLost`, `badAnswer`, `refused`, `cancelled`, `readerUnavailable`.
    public func queryNDEFStatus() async throws(TagError) -> NDEFStatusReport { try await tag.read().ndefStatus }

    /// Asks the tag for its product name; nil if the tag does not reveal it, or has left.
    public func productName() async -> String? { await tag.productName() }
}
