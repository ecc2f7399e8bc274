// SPDX-License-Identifier: Apache-2.0
import SystemLibrary
public import TagLink

/// A recording that serves as a reader: what was sent then has to be sent now, in the same order, and is answered as it
/// was answered.
///
/// ```swift
/// let replay = RecordingReplay(try Recording(path: "scan.jsonl"))
/// let environment = NFCEnvironment(reader: replay.reader)
/// ```
///
/// The order is strict: a request that is another one than the recorded one ends in an error that says which was
/// expected, and everything after it in the same. Two things may differ: the timeouts, and how often a session looks for
/// tags while there are none. Answers come at once; the time that they took is given to `onElapsed`. What is not the
/// same at every run, such as the random numbers of an authentication, can't be replayed.
public final class RecordingReplay: Sendable {
    fileprivate struct State {
        var script: ReplayScript
        var observers: [(id: UInt64, handler: @Sendable () -> Void)] = []
        var nextObserver: UInt64 = 0
        var statistics = LinkStatistics.zero
        /// The counts of each technology's frames.
        var airStatistics: [Technology: LinkStatistics] = [:]
    }

    /// What is replayed.
    public let recording: Recording
    let executor = QueueExecutor(target: nil)
    private let state: Locked<State>
    private let onElapsed: (@Sendable (Duration) -> Void)?
    private let onDeparture: (@Sendable (ReplayDeparture) -> Void)?

    /// Creates a replay, at the beginning of its recording.
    ///
    /// - Parameters:
    ///   - recording: what is replayed.
    ///   - onElapsed: called after each call with the time that it took when it was recorded: how recorded time drives a
    ///     clock. On any thread.
    ///   - onDeparture: called once, when the recording is left; on any thread.
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

    /// The reader, for a session.
    public var reader: AttachedReader {
        recording.header.isField ? .field(ReplayField(self)) : .discovering(ReplayReader(self))
    }

    /// Where the recording was left; nil while it was followed.
    public var departure: ReplayDeparture? { state.withLock { $0.script.departure } }

    /// How many of the recording's exchanges were not made yet: 0 when it was followed to its end.
    public var remainingExchangeCount: Int { state.withLock { $0.script.remainingExchanges } }

    var name: String { "recording of \(recording.readerName)" }
    var technologies: Set<Technology> { Set(recording.header.technologies) }
    var statistics: LinkStatistics { state.withLock { $0.statistics } }

    /// What has been counted of a technology's frames.
    func statistics(of technology: Technology) -> LinkStatistics {
        state.withLock { $0.airStatistics[technology] ?? .zero }
    }

    // MARK: Calls

    /// Follows a call.
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
        // The session's own work is done on the executor too: this comes after what it does now.
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
            // Released outside of the lock: what it holds may end here.
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

/// A reader that is a recording.
package protocol ReplayingDriver: ReaderDriver {
    var replay: RecordingReplay { get }
}
