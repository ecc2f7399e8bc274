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

    private let source: any TagSource
    private nonisolated let executor: any SerialExecutor & TaskExecutor
    private nonisolated let environment: NFCEnvironment
    private nonisolated let queue = Locked(Queue())
    /// The tags of the last look, each with the handle that the session reported.
    private var tags: [(handle: ConnectableTag, tag: ActivatedTag)] = []
    /// The selected tag.
    private(set) var selected: ConnectableTag?

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
    func findTags(of plan: PollingPlan, for session: ReaderSession) async throws(TagError) -> [ConnectableTag] {
        forgetTags()
        let found = try await source.find(plan)
        tags = found.tags.map { (ConnectableTag($0, session: session), $0) }
        selected = tags.first { $0.tag === found.selected }?.handle
        return tags.map(\.handle)
    }

    /// Forgets the tags of the last detection.
    func forgetTags() {
        for (handle, _) in tags { handle.becomeUnavailable() }
        tags = []
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
    func select(_ handle: ConnectableTag) async throws(CommandError) {
        let tag = try tag(of: handle)
        guard selected !== handle else { return }
        do throws(TagError) {
            if let last = selected, let (_, other) = tags.first(where: { $0.handle === last }) {
                selected = nil
                try await source.letGo(of: other)
            }
            try await source.wake(tag)
            selected = handle
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Selects a tag for an app, and makes sure that it is near.
    ///
    /// A reader that distinguishes arrivals knows whether a newly found tag is still the same. A tag that was already
    /// connected is asked, and so is any tag on a reader that does not know.
    func connect(_ handle: ConnectableTag) async throws(CommandError) {
        let tag = try tag(of: handle)
        let isKnownToStay = await handle.isKnownToStay(by: handle.session.driver)
        if isKnownToStay == false { throw lost(handle) }
        let wasSelected = selected === handle
        try await select(handle)
        if isKnownToStay == nil || wasSelected && tag.wasConnected {
            guard await source.isPresent(tag) else { throw lost(handle) }
        }
        tag.wasConnected = true
    }

    /// Finds out whether a tag has left. If the reader does not know and the tag is selected, the tag is asked.
    ///
    /// - Parameters:
    ///   - handle: the tag.
    ///   - driver: the reader.
    func noticeDeparture(of handle: ConnectableTag, from driver: any ReaderDriver) async {
        guard let tag = try? tag(of: handle) else { return }
        if let isNear = await handle.isKnownToStay(by: driver) {
            if !isNear { handle.noticeDeparture() }
        } else if selected === handle, await !source.isPresent(tag) {
            handle.noticeDeparture()
        }
    }

    private func lost(_ handle: ConnectableTag) -> CommandError {
        failure(TagError(.tagLost, "The tag has left the field. Restart polling to find it again."), of: handle)
    }

    /// Checks that a tag can still be used. If the reader distinguishes arrivals, one that has left can't: neither what was
    /// read of it before is true, nor does it know what was done with it when it is back.
    func check(_ handle: ConnectableTag) async throws(CommandError) {
        guard handle.isAvailable else { throw .tagUnavailable }
        // The question is part of the flow in a recording. A replay does not know in time that a tag has left. So it is
        // asked before each command, and answers as the reader did where that was asked.
        let driver = handle.session.driver
        guard handle.hasLeft || !driver.reportsPresenceInTime else { return }
        let asked = driver.reportsPresenceInTime ? driver : driver.unrecorded
        if await handle.isKnownToStay(by: asked) == false { throw lost(handle) }
    }

    /// Runs a procedure on the selected tag, which is near as far as known.
    func work<Value>(
        with handle: ConnectableTag,
        _ procedure: (ActivatedTag) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        let tag = try tag(of: handle)
        guard selected === handle else { throw .notConnected }
        do throws(TagError) {
            return try await procedure(tag)
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Runs an NDEF procedure on the selected tag.
    func run<Value>(
        on handle: ConnectableTag,
        _ procedure: (any ForumTag) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        try await work(with: handle) { tag throws(TagError) in
            guard let forumTag = tag.forumTag else { throw tag.target.holdsNoNDEF }
            return try await procedure(forumTag)
        }
    }

    /// Sends an app's own packet to the selected tag.
    func send(_ packet: TagPacket, to handle: ConnectableTag) async throws(CommandError) -> [UInt8] {
        try await work(with: handle) { tag throws(TagError) in try await tag.send(packet, from: source) }
    }

    private func tag(of handle: ConnectableTag) throws(CommandError) -> ActivatedTag {
        let tag = tags.first { $0.handle === handle }?.tag
        guard handle.isAvailable, let tag else { throw .tagUnavailable }
        return tag
    }

    private func failure(_ error: TagError, of handle: ConnectableTag) -> CommandError {
        if error.code == .tagLost { handle.becomeUnavailable() }
        return .tag(error)
    }
}
