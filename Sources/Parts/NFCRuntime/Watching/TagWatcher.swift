// SPDX-License-Identifier: Apache-2.0
import SystemLibrary
import TagLink
import TagProtocols

/// Looks for tags without a session, for as long as it is to, and reads the message of each that comes.
///
/// A reader that tells when tags come and go is let go of between them: nothing is done until it tells, and other programs
/// can use it. One that can't tell is asked a few times a second.
public final class TagWatcher: Sendable {
    /// What a watcher reports.
    public enum Event: Sendable {
        /// The reader answers: at the first look after a start, and when it has come back.
        case available
        /// There is no reader, or it is in use; the reason is a sentence for people. Reported again when the reason is
        /// another.
        case unavailable(reason: String)
        /// The identifiers of all tags that are near: after the first look at which the reader answered, and after each
        /// at which one had left.
        case near([[UInt8]])
        /// A tag that was not near before was read.
        case read(Reading)
    }

    /// A tag that was read.
    public struct Reading: Sendable {
        /// The tag's identifier.
        public var identifier: [UInt8]
        /// The octets of its message; nil when it has none.
        public var message: [UInt8]?
        /// When the reader told of the tag, or the look began that found it, by the environment's clock.
        public var noticed: Duration
        /// The time on the air since then, where the reader counts it.
        public var airtime: Duration
    }

    /// How often a reader that can't tell when a tag comes is asked.
    static let interval = Duration.milliseconds(250)
    /// After how long a look that failed is tried again, and how often, when the reader tells of tags.
    static let retry = Duration.milliseconds(100)
    static let maximumRetries = 20
    /// After how long a reader that is not there, and that does not tell when it comes, is looked for again.
    static let absence = Duration.seconds(5)

    private struct State {
        /// Counts starts and stops; a loop of an earlier one ends.
        var run = 0
        var isRunning = false
        /// When the reader told of something that was not looked at yet.
        var changed: Duration?
        var waiter: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var presence: PresenceObservation?
    }

    private let environment: NFCEnvironment
    private let driver: any ReaderDriver
    private let source: any TagSource
    private let executor: any SerialExecutor & TaskExecutor
    private let state = Locked(State())
    private let observer: @Sendable (Event) -> Void

    /// Creates a watcher.
    ///
    /// - Parameters:
    ///   - environment: the reader and the clock.
    ///   - observer: told what happens, in order, on any thread.
    /// - Returns: nil when the environment has no reader.
    public init?(_ environment: NFCEnvironment, observer: @escaping @Sendable (Event) -> Void) {
        switch environment.reader {
        case .field(let driver):
            (self.driver, source) = (driver, FieldTagSource(driver: driver))
            executor = QueueExecutor(target: nil)
        case .discovering(let driver):
            (self.driver, source) = (driver, DiscoveringTagSource(driver: driver))
            executor = driver.executor ?? QueueExecutor(target: nil)
        case .none: return nil
        }
        self.environment = environment
        self.observer = observer
    }

    /// The reader's name.
    public var readerName: String { driver.name }

    /// Begins to look. Does nothing while it looks.
    public func start() {
        state.withLock { state in
            guard !state.isRunning else { return }
            state.isRunning = true
            state.run += 1
            let (last, run) = (state.task, state.run)
            state.task = Task(executorPreference: executor) {
                // What was stopped just now has the reader until its end.
                await last?.value
                await self.run(run)
            }
        }
    }

    /// Looks no longer, and waits until the reader is free.
    public func stop() async {
        let (wasRunning, task, waiter) = state.withLock { state in
            defer { state.isRunning = false }
            if state.isRunning { state.run += 1 }
            return (state.isRunning, state.task, state.waiter.take())
        }
        waiter?.resume()
        // A reader that waits for its hardware stops at once, also on a thread that does not see the cancellation. The loop
        // lets go of it, which lets it be used again.
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

    /// What the last look has shown of the reader.
    private enum Answer: Equatable {
        case available
        case unavailable(reason: String)
    }

    private func run(_ run: Int) async {
        let presence = driver.observePresence { [weak self] in self?.noticeChange() }
        let tells = presence != nil
        state.withLock { $0.presence = presence }
        var known: [TagStay] = []
        var answer: Answer?
        var failures = 0
        while isCurrent(run) {
            var pause = tells ? nil : Self.interval
            do throws(TagError) {
                let began = environment.clock.now
                let noticed = state.withLock { $0.changed.take() } ?? began
                let isRead = try await look(run, &known, noticed: noticed) {
                    defer { answer = .available }
                    guard answer != .available else { return false }
                    self.observer(.available)
                    return true
                }
                failures = isRead ? 0 : failures + 1
                if !isRead, failures <= Self.maximumRetries { pause = Self.retry }
            } catch {
                if error.code == .readerUnavailable {
                    // Whether the tags left with it shows when it is back.
                    known = []
                    let news = Answer.unavailable(reason: error.reason)
                    if isCurrent(run), answer != news { observer(.unavailable(reason: error.reason)) }
                    answer = news
                    pause = Self.absence
                } else {
                    failures += 1
                    if failures <= Self.maximumRetries { pause = Self.retry }
                }
            }
            if tells { await source.shutDown() }
            await wait(run, pause)
        }
        _ = state.withLock { $0.presence.take() }
        await source.shutDown()
    }

    /// Looks once, and reads what is new.
    ///
    /// - Parameters:
    ///   - run: the run that looks.
    ///   - known: the tags that were near at the last look, and were read.
    ///   - noticed: when something was noticed.
    ///   - found: called when the reader has answered; returns whether it did not the last time.
    /// - Returns: false when a tag was there and could not be read.
    private func look(
        _ run: Int,
        _ known: inout [TagStay],
        noticed: Duration,
        found: () -> Bool
    ) async throws(TagError) -> Bool {
        let counted = driver.statistics.airtime
        let (tags, index) = try await source.find(.ndef)
        let isFirst = found()
        var selected = index
        let present = tags.map { driver.stay(of: $0.target.identifier) }
        if isFirst || known.contains(where: { !present.contains($0) }) {
            known.removeAll { !present.contains($0) }
            observer(.near(present.map(\.identifier)))
        }
        var isRead = true
        for (index, tag) in tags.enumerated() where !known.contains(present[index]) {
            guard isCurrent(run) else { return true }
            let message: [UInt8]?
            do throws(TagError) {
                if let last = selected, last != index {
                    selected = nil
                    try await source.letGo(of: tags[last])
                }
                if selected != index { try await source.wake(tag) }
                selected = index
                message = try await Self.message(tag)
            } catch {
                guard error.code != .readerUnavailable else { throw error }
                isRead = false
                continue
            }
            known.append(present[index])
            let airtime = (driver.statistics.airtime - counted).duration
            observer(
                .read(
                    Reading(
                        identifier: tag.target.identifier,
                        message: message,
                        noticed: noticed,
                        airtime: airtime
                    )
                )
            )
        }
        return isRead
    }

    /// Reads a tag's message.
    ///
    /// - Returns: nil when it holds none.
    /// - Throws: ``TagError`` when it has to be tried again.
    private static func message(_ tag: FoundTag) async throws(TagError) -> [UInt8]? {
        guard let forumTag = tag.tag else { return nil }
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

    /// Waits for the reader to tell of something, or for some time.
    private func wait(_ run: Int, _ pause: Duration?) async {
        // The time may be over before anything waits for it.
        let isOver = Locked(false)
        let timer = pause.map { pause in
            environment.clock.schedule(after: pause) { [weak self] in
                isOver.withLock { $0 = true }
                self?.wake()
            }
        }
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                guard state.run == run, state.changed == nil, !isOver.withLock({ $0 }) else { return true }
                state.waiter = continuation
                return false
            }
            if goesOn { continuation.resume() }
        }
        timer?.cancel()
    }

    private func wake() {
        state.withLock { $0.waiter.take() }?.resume()
    }
}
