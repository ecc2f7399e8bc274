// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// The only place where a session uses its reader. Operations run one at a time, in the order in which they were given,
/// from any thread.
actor TagChannel {
    /// An operation on the reader. It calls its own completion.
    typealias Operation = @Sendable (isolated TagChannel) async -> Void

    private struct Queue {
        var pending: [Operation] = []
        var isDraining = false
        var task: Task<Void, Never>?
    }

    /// A tag of the current detection, with the data for using it.
    private struct Entry {
        var handle: DetectedTag
        var found: FoundTag
        /// Whether an app was connected to it. Then the app has changed its state, and it has to be asked whether it is
        /// near.
        var wasConnected = false
    }

    private let source: any TagSource
    private nonisolated let executor: any SerialExecutor & TaskExecutor
    private nonisolated let environment: NFCEnvironment
    private nonisolated let queue = Locked(Queue())
    private var entries: [Entry] = []
    /// The selected tag.
    private(set) var selected: DetectedTag?

    /// Creates a channel.
    ///
    /// - Parameters:
    ///   - source: the reader, and how to find tags on it.
    ///   - executor: the thread on which the reader's driver waits, or a queue.
    ///   - environment: the session's environment.
    init(source: any TagSource, executor: any SerialExecutor & TaskExecutor, environment: NFCEnvironment) {
        self.source = source
        self.executor = executor
        self.environment = environment
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    // MARK: Order

    /// Runs an operation after the ones that were given before.
    nonisolated func enqueue(_ operation: @escaping Operation) {
        queue.withLock { queue in
            queue.pending.append(operation)
            guard !queue.isDraining else { return }
            queue.isDraining = true
            queue.task = environment.within { Task(executorPreference: executor) { await self.drain() } }
        }
    }

    /// Cancels the running operation and the waiting ones, because nothing needs their results any more.
    nonisolated func interrupt() {
        queue.withLock { $0.task }?.cancel()
        source.interrupt()
    }

    private func drain() async {
        while true {
            let batch = queue.withLock { queue in
                if queue.pending.isEmpty { queue.isDraining = false }
                defer { queue.pending = [] }
                return queue.pending
            }
            if batch.isEmpty { return }
            for operation in batch { await operation(self) }
        }
    }

    // MARK: Finding tags

    /// Turns the field on and finds every tag of a plan in it, once.
    ///
    /// - Returns: the tags; empty when there are none.
    func findTags(of plan: PollingPlan, for session: ReaderSession) async throws(TagError) -> [DetectedTag] {
        forgetTags()
        let (found, index) = try await source.find(plan)
        entries = found.map { found in
            let handle = DetectedTag(
                target: found.target,
                session: session,
                selectedApplication: found.selectedApplication,
                supportsPACE: found.supportsPACE,
                answerToSelect: found.answerToSelect
            )
            return Entry(handle: handle, found: found)
        }
        if let index { selected = entries[index].handle }
        return entries.map(\.handle)
    }

    /// Forgets the tags of the last detection.
    func forgetTags() {
        for entry in entries { entry.handle.becomeUnavailable() }
        entries = []
        selected = nil
    }

    /// Forgets the tags and turns the field off.
    func shutDown() async {
        forgetTags()
        // In a new task, because this one may be cancelled and the field still has to be turned off.
        await Task(executorPreference: executor) { [source] in await source.shutDown() }.value
    }

    // MARK: Working with a tag

    /// Selects a tag, and wakes it if another one was selected.
    func select(_ handle: DetectedTag) async throws(CommandError) {
        let entry = try entry(of: handle)
        guard selected !== handle else { return }
        do throws(TagError) {
            if let last = selected, let other = entries.first(where: { $0.handle === last }) {
                selected = nil
                try await source.letGo(of: other.found)
            }
            try await source.wake(entry.found)
            selected = handle
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Selects a tag for an app, and makes sure that it is near.
    ///
    /// A reader that distinguishes arrivals knows whether a newly found tag is still the same. A tag that was already
    /// connected is asked, and so is any tag on a reader that does not know.
    func connect(_ handle: DetectedTag) async throws(CommandError) {
        _ = try entry(of: handle)
        let isKnownToStay = await handle.isKnownToStay(by: handle.session.driver)
        if isKnownToStay == false { throw lost(handle) }
        let wasSelected = selected === handle
        try await select(handle)
        guard let index = entries.firstIndex(where: { $0.handle === handle }) else { throw .tagUnavailable }
        if isKnownToStay == nil || wasSelected && entries[index].wasConnected {
            guard await source.isPresent(entries[index].found) else { throw lost(handle) }
        }
        entries[index].wasConnected = true
    }

    /// Finds out whether a tag has left. If the reader does not know and the tag is selected, the tag is asked.
    ///
    /// - Parameters:
    ///   - handle: the tag.
    ///   - driver: the reader.
    func noticeDeparture(of handle: DetectedTag, from driver: any ReaderDriver) async {
        guard let entry = try? entry(of: handle) else { return }
        if let isNear = await handle.isKnownToStay(by: driver) {
            if !isNear { handle.noticeDeparture() }
        } else if selected === handle, await !source.isPresent(entry.found) {
            handle.noticeDeparture()
        }
    }

    private func lost(_ handle: DetectedTag) -> CommandError {
        failure(TagError(.tagLost, "The tag has left the field. Restart polling to find it again."), of: handle)
    }

    /// Runs a procedure on the selected tag.
    func run<Value>(
        on handle: DetectedTag,
        _ procedure: (any ForumTag) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        let entry = try selectedEntry(of: handle)
        guard let tag = entry.found.tag else {
            throw .tag(handle.target.holdsNoNDEF)
        }
        do throws(TagError) {
            return try await procedure(tag)
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Runs a procedure on the selected tag of any kind.
    func work<Value>(
        with handle: DetectedTag,
        _ procedure: (TagInHand) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        let entry = try selectedEntry(of: handle)
        do throws(TagError) {
            return try await procedure(TagInHand(entry.found))
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Runs an app's own exchange with the selected tag.
    func exchange(
        with handle: DetectedTag,
        _ exchange: (TagPort) async throws(TagError) -> [UInt8]
    ) async throws(CommandError) -> [UInt8] {
        let entry = try selectedEntry(of: handle)
        do throws(TagError) {
            return try await exchange(TagPort(entry.found, on: source))
        } catch {
            throw failure(error, of: handle)
        }
    }

    private func entry(of handle: DetectedTag) throws(CommandError) -> Entry {
        guard handle.isAvailable, let entry = entries.first(where: { $0.handle === handle }) else {
            throw .tagUnavailable
        }
        return entry
    }

    /// Returns a tag that can be used: it is near, and selected on the reader.
    private func selectedEntry(of handle: DetectedTag) throws(CommandError) -> Entry {
        let entry = try entry(of: handle)
        guard selected === handle else { throw .notConnected }
        return entry
    }

    private func failure(_ error: TagError, of handle: DetectedTag) -> CommandError {
        if error.code == .tagLost { handle.becomeUnavailable() }
        return .tag(error)
    }
}
