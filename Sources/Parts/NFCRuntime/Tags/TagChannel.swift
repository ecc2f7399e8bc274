// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// The one place from which a session talks to its reader: operations run one at a time, in the order in which they
/// were given, whatever thread they came from.
actor TagChannel {
    /// One piece of work on the reader; it calls its own completion.
    typealias Operation = @Sendable (isolated TagChannel) async -> Void

    private struct Queue {
        var pending: [Operation] = []
        var isDraining = false
        var task: Task<Void, Never>?
    }

    /// A tag of the present detection, and what it takes to work with it.
    private struct Entry {
        var handle: DetectedTag
        var found: FoundTag
        /// Whether an app was connected to it: then its state is the app's, and whether it stays is to be asked.
        var wasConnected = false
    }

    private let source: any TagSource
    private nonisolated let executor: any SerialExecutor & TaskExecutor
    private nonisolated let environment: NFCEnvironment
    private nonisolated let queue = Locked(Queue())
    private var entries: [Entry] = []
    /// The tag that is selected on the reader.
    private(set) var selected: DetectedTag?

    /// Creates a channel.
    ///
    /// - Parameters:
    ///   - source: the reader, and how tags are found on it.
    ///   - executor: where the work is done: the thread on which the reader's driver waits, or a queue.
    ///   - environment: whose session it is.
    init(source: any TagSource, executor: any SerialExecutor & TaskExecutor, environment: NFCEnvironment) {
        self.source = source
        self.executor = executor
        self.environment = environment
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    // MARK: Order

    /// Runs an operation after those that were given before it.
    nonisolated func enqueue(_ operation: @escaping Operation) {
        queue.withLock { queue in
            queue.pending.append(operation)
            guard !queue.isDraining else { return }
            queue.isDraining = true
            queue.task = environment.within { Task(executorPreference: executor) { await self.drain() } }
        }
    }

    /// Cuts off the operation that is under way, and those that wait: nobody wants their outcome any more.
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

    /// Powers the field and finds every tag of a plan in it, once.
    ///
    /// - Returns: handles of what was found; none when the field is empty.
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
        // What was cut off is over; this has to be done all the same.
        await Task(executorPreference: executor) { [source] in await source.shutDown() }.value
    }

    // MARK: Working with a tag

    /// Selects a tag, waking it when another one was selected.
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
    /// A reader that tells arrivals apart knows whether a tag that was just found is still the one. A tag that is connected
    /// already is asked, and so is any on a reader that does not know.
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

    /// Finds out whether a tag has left: by what the reader knows, and where it knows nothing, by asking the tag when it is
    /// the selected one.
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

    /// Runs a procedure on the selected tag, of whatever kind it is.
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

    /// Runs an exchange of an app's own with the selected tag.
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

    /// A tag that can be worked with: it is there, and the reader has selected it.
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
