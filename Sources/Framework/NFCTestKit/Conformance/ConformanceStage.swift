// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

/// The field and the session of one scenario. It runs in real time: each wait ends when the event happens, or after a
/// limit.
final class ConformanceStage: Sendable {
    private struct State {
        var session: ReaderSession?
        var found: [[ConnectableTag]] = []
        var end: SessionEnd?
    }

    let setup: ReaderSetup
    private let state = Locked(State())

    init(_ setup: ReaderSetup) {
        self.setup = setup
        setup.field.arm(FaultPlan())
        setup.field.removeAll()
    }

    /// Ends the session and empties the field.
    func clear() async {
        setup.field.arm(FaultPlan())
        setup.field.removeAll()
        await endSession()
    }

    // MARK: The session

    /// Begins a session and waits for its first tags.
    func scan(_ plan: PollingPlan = .ndef) async throws -> [ConnectableTag] {
        await endSession()
        let environment = setup.makeEnvironment()
        let sessionLimits = SessionLimits(lasting: setup.patience * 10)
        guard let session = ReaderSession(environment: environment, plan: plan, limits: sessionLimits) else {
            throw ConformanceFailure(description: "The set-up has no reader.")
        }
        state.withLock { $0 = State(session: session) }
        session.observe { [weak self] event in
            self?.state.withLock { state in
                switch event {
                case .becameActive: break
                case .detected(let tags): state.found.append(tags)
                case .ended(let end): state.end = end
                }
            }
        }
        session.begin()
        return try await nextTags()
    }

    /// Waits for the only tag near.
    func scanOne(_ plan: PollingPlan = .ndef) async throws -> ConnectableTag {
        try await one(of: scan(plan))
    }

    func one(of tags: [ConnectableTag]) throws -> ConnectableTag {
        try expect(tags.count == 1, "There is one tag, and the reader found \(tags.count).")
        return tags[0]
    }

    /// Waits for the tags that the session finds next.
    func nextTags() async throws -> [ConnectableTag] {
        let end = ContinuousClock.now + setup.patience
        while ContinuousClock.now < end {
            let (found, ended) = state.withLock { state in
                (state.found.isEmpty ? nil : state.found.removeFirst(), state.end)
            }
            if let found { return found }
            if let ended { throw ConformanceFailure(description: "The session ended: \(ended).") }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw ConformanceFailure(description: "The reader did not find the tag.", isLimit: true)
    }

    /// Looks for tags again.
    func restartPolling() { state.withLock { $0.session }?.restartPolling() }

    private func endSession() async {
        guard let session = state.withLock({ $0.session }) else { return }
        session.invalidate()
        let end = ContinuousClock.now + setup.patience
        while state.withLock({ $0.end == nil }), ContinuousClock.now < end {
            // In another task: in one that was cancelled a sleep ends at once, and the session would get no thread.
            _ = await Task { try? await Task.sleep(for: .milliseconds(1)) }.value
        }
        state.withLock { $0 = State() }
    }

    // MARK: Work with a tag

    func connect(to tag: ConnectableTag) async throws {
        guard let session = state.withLock({ $0.session }) else { return }
        let result = await withCompletion { session.connect(to: tag, completion: $0) }
        if case .failure(let error) = result { throw Self.failure(error) }
    }

    /// Connects to a tag again and again, until connecting fails because the tag has left. A reader may notice it a
    /// little later.
    func connectUntilLost(_ tag: ConnectableTag) async throws {
        guard let session = state.withLock({ $0.session }) else { return }
        let end = ContinuousClock.now + setup.patience
        while ContinuousClock.now < end {
            switch await withCompletion({ session.connect(to: tag, completion: $0) }) {
            case .success: try await Task.sleep(for: .milliseconds(1))
            case .failure(.tagUnavailable): return
            case .failure(.tag(let error)) where error.code == .tagLost: return
            case .failure(let error): throw Self.failure(error)
            }
        }
        throw ConformanceFailure(description: "The reader did not notice that the tag has left.")
    }

    /// Runs a procedure on the connected tag.
    func perform<Value: Sendable>(
        on tag: ConnectableTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
    ) async throws -> Value {
        switch await result(on: tag, procedure) {
        case .success(let value): return value
        case .failure(let error): throw Self.failure(error)
        }
    }

    /// The kind of error with which a procedure on the connected tag fails; nil when it succeeds.
    func error<Value: Sendable>(
        on tag: ConnectableTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
    ) async -> TagError.Code? {
        guard case .failure(.tag(let error)) = await result(on: tag, procedure) else { return nil }
        return error.code
    }

    private func result<Value: Sendable>(
        on tag: ConnectableTag,
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
    ) async -> Result<Value, CommandError> {
        guard let session = state.withLock({ $0.session }) else { return .failure(.sessionInvalidated) }
        return await withCompletion { done in
            session.perform(on: tag, { tag throws(TagError) in try await procedure(tag.ndef) }, completion: done)
        }
    }

    /// Sends a packet of the app to the connected tag.
    func send(_ bytes: [UInt8], to tag: ConnectableTag) async throws -> [UInt8] {
        guard let session = state.withLock({ $0.session }) else { return [] }
        let packet = TagPacket(bytes, answer: .within(.milliseconds(20)))
        let result = await withCompletion { done in
            session.perform(on: tag, { tag throws(TagError) in try await tag.send(packet) }, completion: done)
        }
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw Self.failure(error)
        }
    }

    private static func failure(_ error: CommandError) -> ConformanceFailure {
        if case .tag(let error) = error {
            return ConformanceFailure(description: error.description, isLimit: error.code == .unsupported)
        }
        return ConformanceFailure(description: "\(error)")
    }

    func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(description: what()) }
    }
}
