// SPDX-License-Identifier: Apache-2.0
import Dispatch
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
    }

    /// A tag of the present detection and the procedures of its type.
    private struct Entry {
        var handle: DetectedTag
        /// nil when the tag is of a kind that is not known.
        var tag: (any ForumTag)?
    }

    private let driver: any FieldDriver
    private nonisolated let executor: QueueExecutor
    private nonisolated let queue = Locked(Queue())
    private var entries: [Entry] = []
    /// The tag that is selected on the reader.
    private var selected: DetectedTag?
    private var carrierIsOn = false

    /// Creates a channel.
    ///
    /// - Parameters:
    ///   - driver: the reader.
    ///   - queue: the queue on whose threads the work is done; nil for any.
    init(driver: any FieldDriver, queue: DispatchQueue?) {
        self.driver = driver
        executor = QueueExecutor(target: queue)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    // MARK: Order

    /// Runs an operation after those that were given before it.
    nonisolated func enqueue(_ operation: @escaping Operation) {
        let starts = queue.withLock { queue in
            queue.pending.append(operation)
            defer { queue.isDraining = true }
            return !queue.isDraining
        }
        if starts { Task(executorPreference: executor) { await self.drain() } }
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

    /// Powers the field and activates every tag in it, once.
    ///
    /// - Returns: handles of what was found, in the order of activation; none when the field is empty.
    func findTags(for session: ReaderSession) async throws(TagError) -> [DetectedTag] {
        forgetTags()
        guard let link = driver.link(for: .nfcA) else { return [] }
        if carrierIsOn { try await setCarrier(false) }
        try await setCarrier(true)
        let targets = try await NFCAActivation(link: link).activateAll()
        entries = targets.map { target in
            Entry(handle: DetectedTag(target: target, session: session), tag: makeForumTag(for: target, link: link))
        }
        // Activation leaves the last tag selected and the others halted.
        selected = entries.last?.handle
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
        // A reader that can't even turn its field off has nothing more to lose.
        if carrierIsOn { try? await setCarrier(false) }
    }

    private func setCarrier(_ isOn: Bool) async throws(TagError) {
        do {
            try await driver.setCarrier(isOn)
            carrierIsOn = isOn
        } catch {
            throw TagError(.readerUnavailable, error.reason, link: error)
        }
    }

    // MARK: Working with a tag

    /// Selects a tag, waking it when another one was selected.
    func select(_ handle: DetectedTag) async throws(CommandError) {
        guard handle.isAvailable, let entry = entries.first(where: { $0.handle === handle }) else {
            throw .tagUnavailable
        }
        guard selected !== handle, let link = driver.link(for: .nfcA) else { return }
        let activation = NFCAActivation(link: link)
        do {
            // Anything but a known command sends the selected tag away; HLTA does it in the regular way.
            if selected != nil { try await activation.halt() }
            selected = nil
            try await activation.reactivate(handle.target)
            entry.tag?.wasActivated()
            selected = handle
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Runs a procedure on the selected tag.
    func run<Value>(
        on handle: DetectedTag,
        _ procedure: (any ForumTag) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        guard let entry = entries.first(where: { $0.handle === handle }), handle.isAvailable else {
            throw .tagUnavailable
        }
        guard selected === handle else { throw .notConnected }
        guard let tag = entry.tag else {
            throw .tag(TagError(.unsupported, "A \(handle.target.kindName) does not hold NDEF that can be read here."))
        }
        do throws(TagError) {
            return try await procedure(tag)
        } catch {
            throw failure(error, of: handle)
        }
    }

    private func failure(_ error: TagError, of handle: DetectedTag) -> CommandError {
        if error.code == .tagLost { handle.becomeUnavailable() }
        return .tag(error)
    }
}
