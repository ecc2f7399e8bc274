// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
public import TagLink

/// A recording that acts as a reader. The same requests must be sent in the same order, and get the recorded answers.
///
/// ```swift
/// let replay = RecordingReplay(try Recording(path: "scan.jsonl"))
/// let environment = NFCEnvironment(reader: replay.reader)
/// ```
///
/// The order is strict. A request that differs from the recorded one throws an error with the expected request, and
/// every later call throws the same error. Two things may differ: the timeouts, and how often a session looks for tags
/// while there are none. Answers come at once, and the time that they took is passed to `onElapsed`. A flow with values
/// that change in every run, such as the random numbers of an authentication, can't be replayed.
public final class RecordingReplay: Sendable {
    fileprivate struct State {
        var script: ReplayScript
        var observers: [(id: UInt64, handler: @Sendable () -> Void)] = []
        var nextObserver: UInt64 = 0
        var statistics = LinkStatistics.zero
        /// The counts for each technology's frames.
        var airStatistics: [Technology: LinkStatistics] = [:]
    }

    /// The recording.
    public let recording: Recording
    let executor = QueueExecutor(target: nil)
    private let state: Locked<State>
    private let onElapsed: (@Sendable (Duration) -> Void)?
    private let onDeparture: (@Sendable (ReplayDeparture) -> Void)?

    /// Creates a replay at the start of its recording.
    ///
    /// - Parameters:
    ///   - recording: the recording.
    ///   - onElapsed: called after each call with the time that the call took when it was recorded. Use it to advance a
    ///     clock by the recorded times. Called on any thread.
    ///   - onDeparture: called once, when the flow departs from the recording. Called on any thread.
    public init(
        _ recording: Recording,
        onElapsed: (@Sendable (Duration) -> Void)? = nil,
        onDeparture: (@Sendable (ReplayDeparture) -> Void)? = nil
    ) {
        self.recording = recording
        self.onElapsed = onElapsed
        self.onDeparture = onDeparture
        state = Locked(State(script: ReplayScript(recording)))
    }

    /// The reader to use in a session.
    public var reader: AttachedReader {
        recording.header.isField ? .field(ReplayField(self)) : .discovering(ReplayReader(self))
    }

    /// Where the flow departed from the recording; nil when it did not.
    public var departure: ReplayDeparture? { state.withLock { $0.script.departure } }

    /// The number of recorded exchanges that were not made yet; 0 after a complete replay.
    public var remainingExchangeCount: Int { state.withLock { $0.script.remainingExchanges } }

    var name: String { "recording of \(recording.readerName)" }
    var technologies: Set<Technology> { Set(recording.header.technologies) }
    var statistics: LinkStatistics { state.withLock { $0.statistics } }

    /// Returns the counts for a technology's frames.
    func statistics(of technology: Technology) -> LinkStatistics {
        state.withLock { $0.airStatistics[technology] ?? .zero }
    }

    // MARK: Calls

    /// Replays a call.
    func call(_ action: Recording.Action) throws(LinkError) -> Recording.Outcome {
        let (result, left) = state.withLock { state in
            let wasLeft = state.script.departure != nil
            let result = state.script.follow(action, isObserved: !state.observers.isEmpty)
            state.count(action, result.outcome)
            return (result, wasLeft ? nil : state.script.departure)
        }
        onElapsed?(result.duration)
        switch result.notice {
        case .none: break
        case .now: tellPresence()
        // The session's own work runs on the executor too, so this runs after the current work.
        case .soon: executor.async { [weak self] in self?.tellPresence() }
        }
        if let left { onDeparture?(left) }
        if case .failed(let error) = result.outcome { throw error }
        return result.outcome
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        guard recording.header.tellsPresence else { return nil }
        let id = state.withLock { state in
            state.nextObserver += 1
            state.observers.append((state.nextObserver, handler))
            return state.nextObserver
        }
        return PresenceObservation { [weak self] in
            // Released outside the lock, because the handler may hold the last reference to other objects.
            let released = self?.state.withLock { state in
                state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
            }
            _ = released
        }
    }

    func isStillNear(_ identifier: [UInt8]) -> Bool {
        let (isNear, duration) = state.withLock { $0.script.isStillNear(identifier) }
        onElapsed?(duration)
        return isNear
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { state.withLock { $0.script.arrival(of: identifier) } }

    private func tellPresence() {
        for observer in state.withLock({ $0.observers }) { observer.handler() }
    }
}

extension RecordingReplay.State {
    fileprivate mutating func count(_ action: Recording.Action, _ outcome: Recording.Outcome) {
        guard case .exchange(let medium, _, let request, let timeout) = action else { return }
        var response: Frame?
        if case .frame(let frame) = outcome { response = frame }
        if case .frames(let technology) = medium {
            var counted = LinkStatistics.zero
            counted.count(request: request, response: response, timing: FrameTiming(technology), timeout: timeout)
            statistics += counted
            airStatistics[technology, default: .zero] += counted
        } else {
            statistics.exchanges += 1
            statistics.bytesOnAir += request.bytes.count + (response?.bytes.count ?? 0)
        }
    }
}
