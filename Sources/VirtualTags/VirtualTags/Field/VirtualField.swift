// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A reader with a simulated field. You add and remove virtual tags, and the reader's links deliver raw frames.
///
/// All methods may be called at any time from any thread. An exchange completes without suspending. It takes only
/// simulated time, which the link's statistics count and `onElapsed` reports.
///
/// ```swift
/// let field = VirtualField()
/// field.bring(VirtualType2Tag(.ntag213))
/// ```
///
/// The carrier is initially on. An exchange without a tag times out, as on a reader without presence detection.
public final class VirtualField: FieldDriver {
    public let name: String
    public let technologies: Set<Technology>
    private let core: FieldCore
    private let links: [VirtualLink]

    /// Creates an empty field.
    ///
    /// - Parameters:
    ///   - name: the reader's display name.
    ///   - technologies: the technologies that the reader can poll for.
    ///   - maximumFrameLength: the longest answer that the reader accepts, in bytes with the checksum. A longer answer
    ///     causes the error `frameTooLong`.
    ///   - onElapsed: called after each exchange with its simulated time, on the caller's thread and without holding
    ///     locks. Use it to advance a clock.
    ///   - onExchange: called like `onElapsed`, just before it, with the data of the exchange.
    public init(
        name: String = "virtual",
        technologies: Set<Technology> = Set(Technology.allCases),
        maximumFrameLength: Int = 270,
        onElapsed: (@Sendable (Airtime) -> Void)? = nil,
        onExchange: (@Sendable (ExchangeRecord) -> Void)? = nil
    ) {
        let core = FieldCore(maximumFrameLength: maximumFrameLength, onElapsed: onElapsed, onExchange: onExchange)
        self.name = name
        self.technologies = technologies
        self.core = core
        links = Technology.allCases.map { VirtualLink($0, core) }
    }

    public func link(for technology: Technology) -> (any FrameLink)? {
        technologies.contains(technology) ? links[Int(technology.rawValue)] : nil
    }

    public func setCarrier(_ isOn: Bool) async throws(LinkError) { switchCarrier(isOn) }

    /// Switches the carrier on or off at once. Switching it off clears the volatile state of all tags.
    public func switchCarrier(_ isOn: Bool) { core.switchCarrier(isOn) }

    public func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        core.observers.add(handler)
    }

    public func arrival(of identifier: [UInt8]) -> UInt64? {
        core.state.withLock { $0.arrival(of: identifier) }
    }

    // MARK: Tags

    /// The tags in the field, in the order of their arrival.
    public var tags: [any VirtualTag] { core.state.withLock { $0.tags } }

    /// Brings a tag near. Does nothing if the tag is already near.
    public func bring(_ tag: any VirtualTag) {
        core.changePresence { state in
            guard !state.tags.contains(where: { $0 === tag }) else { return false }
            tag.losePower()
            state.add(tag)
            return true
        }
    }

    /// Removes a tag. It loses its power and its volatile state.
    public func remove(_ tag: any VirtualTag) {
        core.changePresence { state in
            guard let index = state.tags.firstIndex(where: { $0 === tag }) else { return false }
            state.removeTag(at: index)
            return true
        }
    }

    /// Removes all tags.
    public func removeAll() {
        core.changePresence { state in
            guard !state.tags.isEmpty else { return false }
            state.removeAllTags()
            return true
        }
    }

    // MARK: Exchanges

    /// Sends a frame and returns the answer and the simulated time. It needs no task, so that a program can forward
    /// another program's frames.
    ///
    /// It works like the link of the technology, except that it doesn't call `onExchange`, `onElapsed` or the closures
    /// of a fault plan.
    public func exchange(
        _ frame: Frame,
        over technology: Technology,
        timeout: Airtime
    ) -> (result: Result<Frame, LinkError>, elapsed: Airtime) {
        guard technologies.contains(technology) else {
            return (.failure(LinkError(.unsupported, "This field does not support the technology.")), .zero)
        }
        let outcome = core.exchange(frame, technology, timeout: timeout)
        if outcome.changedPresence { core.observers.notify() }
        return (outcome.record.result, outcome.record.elapsed)
    }

    // MARK: Faults and recording

    /// The number of commands that programmed a tag's memory so far.
    public var writeCount: Int { core.state.withLock { $0.writes } }

    /// Activates a plan of faults, replacing any earlier plan. Counts exchanges and writes from now on.
    public func arm(_ plan: FaultPlan) {
        core.state.withLock { $0.faults = plan.isEmpty ? nil : ArmedFaults(plan) }
    }

    /// The exchanges and writes since a plan was armed; nil without a plan.
    package var countsSinceArmed: (exchanges: Int, writes: Int)? {
        core.state.withLock { $0.faults.map { ($0.exchanges, $0.writes) } }
    }

    /// Starts recording up to `limit` exchanges. An earlier recording is discarded.
    public func startRecording(limit: Int = 100_000) {
        core.state.withLock { state in
            state.recording = []
            state.recordingLimit = limit
        }
    }

    /// Ends the recording, and returns the exchanges since ``startRecording(limit:)``, oldest first.
    @discardableResult
    public func stopRecording() -> [ExchangeRecord] {
        core.state.withLock { state in
            let recording = state.recording ?? []
            state.recording = nil
            return recording
        }
    }
}

/// A recorded exchange of a ``VirtualField``.
public struct ExchangeRecord: Sendable, Hashable, CustomStringConvertible {
    /// The technology of the link.
    public var technology: Technology
    /// The frame from the reader.
    public var request: Frame
    /// The frame that the reader received, or the error.
    public var result: Result<Frame, LinkError>
    /// The duration of the exchange: airtime and the tag's work.
    public var elapsed: Airtime

    /// Creates a record.
    public init(technology: Technology, request: Frame, result: Result<Frame, LinkError>, elapsed: Airtime) {
        self.technology = technology
        self.request = request
        self.result = result
        self.elapsed = elapsed
    }

    /// The answer; nil when the exchange failed.
    public var response: Frame? { try? result.get() }

    /// The exchange on one line, such as `30 03 -> e1 10 12 00 …` or `26' -> timeout`. A `'` marks incomplete bytes.
    public var description: String {
        func text(_ frame: Frame) -> String {
            frame.bytes.hexText(separator: " ") + (frame.validBitsInLastByte == 8 ? "" : "'")
        }
        return switch result {
        case .success(let response): "\(text(request)) -> \(text(response))"
        case .failure(let error): "\(text(request)) -> \(error.code)"
        }
    }
}

final class VirtualLink: FrameLink {
    let technology: Technology
    private let core: FieldCore

    init(_ technology: Technology, _ core: FieldCore) {
        self.technology = technology
        self.core = core
    }

    /// Procedures ask for answers of 256 bytes at most, the largest frame of ISO-DEP, although a phone takes a little more.
    var maximumFrameLength: Int { min(core.maximumFrameLength, 256) }

    var statistics: LinkStatistics { core.state.withLock { $0.statistics[Int(technology.rawValue)] } }

    /// Performs an exchange, then notifies the clock and the observers without holding the lock.
    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let calls = core.state.withLock { state in state.isCarrierOn ? state.faults?.takeCalls() ?? [] : [] }
        for call in calls { call() }
        if Task.isCancelled { throw LinkError(.cancelled, "The task was cancelled.") }
        let outcome = core.exchange(frame, technology, timeout: timeout)
        core.onExchange?(outcome.record)
        if outcome.record.elapsed > .zero { core.onElapsed?(outcome.record.elapsed) }
        if outcome.changedPresence { core.observers.notify() }
        return try outcome.record.result.get()
    }

    func resetField() async throws(LinkError) {
        core.switchCarrier(false)
        core.switchCarrier(true)
    }
}

final class FieldCore: Sendable {
    let state = Locked(FieldState())
    let observers = PresenceObservers()
    let maximumFrameLength: Int
    let onElapsed: (@Sendable (Airtime) -> Void)?
    let onExchange: (@Sendable (ExchangeRecord) -> Void)?

    init(
        maximumFrameLength: Int,
        onElapsed: (@Sendable (Airtime) -> Void)?,
        onExchange: (@Sendable (ExchangeRecord) -> Void)?
    ) {
        self.maximumFrameLength = maximumFrameLength
        self.onElapsed = onElapsed
        self.onExchange = onExchange
    }

    func exchange(_ frame: Frame, _ technology: Technology, timeout: Airtime) -> FieldState.Outcome {
        state.withLock {
            $0.exchange(frame, technology, timeout: timeout, maximumFrameLength: maximumFrameLength)
        }
    }

    func switchCarrier(_ isOn: Bool) {
        state.withLock { state in
            if state.isCarrierOn, !isOn {
                for tag in state.tags { tag.losePower() }
            }
            state.isCarrierOn = isOn
        }
    }

    func changePresence(_ change: @Sendable (inout FieldState) -> Bool) {
        if state.withLock({ change(&$0) }) { observers.notify() }
    }
}
