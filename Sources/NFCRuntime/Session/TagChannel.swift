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

    /// A tag of the present detection, and what it takes to work with it.
    private struct Entry {
        var handle: DetectedTag
        var found: TagFinder.Found
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

    /// Powers the field and finds every tag in it, once.
    ///
    /// - Returns: handles of what was found; none when the field is empty.
    func findTags(for session: ReaderSession) async throws(TagError) -> [DetectedTag] {
        forgetTags()
        if carrierIsOn { try await setCarrier(false) }
        try await setCarrier(true)
        let (found, index) = try await TagFinder(driver: driver, plan: session.plan).find()
        entries = found.map { found in
            let handle = DetectedTag(
                target: found.target,
                session: session,
                selectedApplication: found.selectedApplication,
                answerToSelect: found.card?.answerToSelect
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
        guard selected !== handle else { return }
        do throws(TagError) {
            if let last = selected, let other = entries.first(where: { $0.handle === last }) {
                selected = nil
                try await letGo(of: other.found)
            }
            try await wake(entry.found)
            selected = handle
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Sends the selected tag away, so that another one of its technology can be worked with.
    private func letGo(of found: TagFinder.Found) async throws(TagError) {
        if let card = found.card {
            // A card that does not agree to be deselected is left to the other's activation.
            try? await card.deselect()
        }
        // Anything but a known command sends the selected tag away; HLTA does it in the regular way.
        if case .nfcA = found.target { try await NFCAActivation(link: found.link).halt() }
    }

    /// Makes a tag ready for commands.
    private func wake(_ found: TagFinder.Found) async throws(TagError) {
        switch found.target {
        case .nfcA(let target) where target.isType1:
            // It has no anticollision: every command carries the UID.
            break
        case .nfcA(let target):
            try await NFCAActivation(link: found.link).reactivate(target)
        case .nfcB(let target):
            let present = try await NFCBActivation(link: found.link).findAll(waking: true)
            guard present.contains(where: { $0.identifier == target.identifier }) else {
                throw TagError(.tagLost, "The card does not answer any more.")
            }
        case .nfcF, .nfcV:
            // Every command carries the identifier.
            break
        }
        found.card?.wasActivated()
        found.tag?.wasActivated()
        if let name = found.selectedApplication, let card = found.card {
            _ = await TagFinder.select(name, on: card)
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
        guard let tag = entry.found.tag else {
            throw .tag(TagError(.unsupported, "A \(handle.target.kindName) does not hold NDEF that can be read here."))
        }
        do throws(TagError) {
            return try await procedure(tag)
        } catch {
            throw failure(error, of: handle)
        }
    }

    /// Runs an exchange of an app's own with the selected tag.
    func exchange(
        with handle: DetectedTag,
        _ exchange: (TagPort) async throws(TagError) -> [UInt8]
    ) async throws(CommandError) -> [UInt8] {
        guard handle.isAvailable, let entry = entries.first(where: { $0.handle === handle }) else {
            throw .tagUnavailable
        }
        guard selected === handle else { throw .notConnected }
        do throws(TagError) {
            return try await exchange(TagPort(entry.found))
        } catch {
            throw failure(error, of: handle)
        }
    }

    private func failure(_ error: TagError, of handle: DetectedTag) -> CommandError {
        if error.code == .tagLost { handle.becomeUnavailable() }
        return .tag(error)
    }
}
