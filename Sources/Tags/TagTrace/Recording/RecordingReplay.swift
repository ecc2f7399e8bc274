// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
public import TagLink

/// A recording that acts as a reader. The same requests, sent in the same order, get the recorded answers.
///
/// ```swift
/// let replay = RecordingReplay(try Recording(path: "scan.jsonl"))
/// let environment = NFCEnvironment(reader: replay.reader)
/// ```
///
/// The order is strict. A request that differs from the recorded one throws an error with the expected request, and so
/// does every later call. Only two things may differ: the timeouts, and how often a session polls while no tag is near.
/// Answers arrive at once, and `onElapsed` gets the time that they originally took. A flow with values that change in
/// every run, such as the random numbers of an authentication, can't be replayed.
public final class RecordingReplay: Sendable {
    private struct State {
        var script: ReplayScript
        var statistics = LinkStatistics.zero
        var airStatistics: [Technology: LinkStatistics] = [:]
    }

    /// The recording.
    public let recording: Recording
    fileprivate let executor = QueueExecutor(target: nil)
    private let state: Locked<State>
    private let observers = PresenceObservers()
    private let onElapsed: (@Sendable (Duration) -> Void)?
    private let onDeparture: (@Sendable (ReplayDeparture) -> Void)?

    /// Creates a replay at the start of its recording.
    ///
    /// - Parameters:
    ///   - recording: the recording.
    ///   - onElapsed: called after each call, with the recorded duration of the call. Use it to advance a clock by the
    ///     recorded times. Called on any thread.
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

    /// The point at which the flow departed from the recording; nil if it did not.
    public var departure: ReplayDeparture? { state.withLock { $0.script.departure } }

    /// The number of recorded exchanges still to replay; 0 after a complete replay.
    public var remainingExchangeCount: Int { state.withLock { $0.script.remainingExchanges } }

    fileprivate var statistics: LinkStatistics { state.withLock { $0.statistics } }

    fileprivate func statistics(of technology: Technology) -> LinkStatistics {
        state.withLock { $0.airStatistics[technology] ?? .zero }
    }

    // MARK: Calls

    fileprivate func call(_ action: Recording.Action) throws(LinkError) -> Recording.Outcome {
        let (reply, departure) = state.withLock { state in
            let hadDeparted = state.script.departure != nil
            let reply = state.script.follow(action, isObserved: !observers.isEmpty)
            Self.count(action, reply.outcome, &state)
            return (reply, hadDeparted ? nil : state.script.departure)
        }
        onElapsed?(reply.duration)
        switch reply.notice {
        case .none: break
        case .now: observers.notify()
        // The session runs on this executor too, so the observers are notified after its current work.
        case .soon: executor.async { [observers] in observers.notify() }
        }
        if let departure { onDeparture?(departure) }
        if case .failed(let error) = reply.outcome { throw error }
        return reply.outcome
    }

    fileprivate func exchange(
        _ medium: Trace.Medium,
        tag: Int?,
        _ frame: Frame,
        timeout: Airtime
    ) throws(LinkError) -> Frame {
        let outcome = try call(.exchange(medium, tag: tag, frame, timeout: timeout))
        guard case .frame(let answer) = outcome else { throw LinkError(.timeout, "No answer.") }
        return answer
    }

    private static func count(_ action: Recording.Action, _ outcome: Recording.Outcome, _ state: inout State) {
        guard case .exchange(let medium, _, let request, let timeout) = action else { return }
        var response: Frame?
        if case .frame(let frame) = outcome { response = frame }
        if case .frames(let technology) = medium {
            var counts = LinkStatistics.zero
            counts.count(request: request, response: response, timing: FrameTiming(technology), timeout: timeout)
            state.statistics += counts
            state.airStatistics[technology, default: .zero] += counts
        } else {
            state.statistics.exchanges += 1
            state.statistics.bytesOnAir += request.bytes.count + (response?.bytes.count ?? 0)
        }
    }

    fileprivate func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        guard recording.header.reportsPresence else { return nil }
        return observers.add(handler)
    }

    fileprivate func isStillNear(_ identifier: [UInt8]) -> Bool {
        let (isNear, duration) = state.withLock { $0.script.isStillNear(identifier) }
        onElapsed?(duration)
        return isNear
    }

    fileprivate func arrival(of identifier: [UInt8]) -> UInt64? {
        state.withLock { $0.script.arrival(of: identifier) }
    }
}

/// The point at which a replayed flow departed from its recording, with the expected and actual calls.
public struct ReplayDeparture: Sendable, Hashable, CustomStringConvertible {
    /// The number of the expected exchange; if another call was expected, of the last exchange.
    public var exchange: Int
    /// The time in the recording; nil at its end.
    public var time: Duration?
    /// A description of the expected call; nil at the end of the recording.
    public var expected: String?
    /// A description of the actual call.
    public var actual: String
    /// Whether the recording was cut off at its end.
    public var isCutOff = false

    /// Sentences that explain what happened and what to do.
    public var reason: String {
        guard let expected else {
            let verb = isCutOff ? "breaks off" : "ends"
            let end = exchange == 0 ? "\(verb) before its first exchange" : "\(verb) after exchange \(exchange)"
            return "The recording \(end), but this call followed: \(actual). Record the flow again."
        }
        let position = exchange == 0 ? "before its first exchange" : "at exchange \(exchange)"
        let moment = time.map { " (\($0.wholeMicroseconds / 1000) ms)" } ?? ""
        return """
            The replay departed from the recording \(position)\(moment). Expected: \(expected). Actual: \(actual). \
            Find out what changed, or record the flow again.
            """
    }

    public var description: String { reason }
}

// MARK: Drivers and links

/// A reader that replays a recording.
package protocol ReplayingDriver: ReaderDriver {
    var replay: RecordingReplay { get }
}

extension ReplayingDriver {
    var name: String { "recording of \(replay.recording.readerName)" }
    var technologies: Set<Technology> { Set(replay.recording.header.technologies) }
    var statistics: LinkStatistics { replay.statistics }
    var executor: (any SerialExecutor & TaskExecutor)? { replay.executor }
    var reportsPresenceInTime: Bool { false }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        replay.observePresence(handler)
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { replay.arrival(of: identifier) }

    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool { replay.isStillNear(identifier) }
}

private final class ReplayField: FieldDriver, ReplayingDriver {
    let replay: RecordingReplay
    private let links: [Technology: ReplayLink]

    init(_ replay: RecordingReplay) {
        self.replay = replay
        let header = replay.recording.header
        let links = header.technologies.map {
            ($0, ReplayLink(replay, $0, tag: nil, maximumFrameLength: header.maximumFrameLength))
        }
        self.links = Dictionary(links) { first, _ in first }
    }

    var statistics: LinkStatistics { replay.statistics }
    func link(for technology: Technology) -> (any FrameLink)? { links[technology] }
    func setCarrier(_ isOn: Bool) async throws(LinkError) { _ = try replay.call(.field(isOn: isOn)) }
}

private final class ReplayReader: DiscoveringDriver, ReplayingDriver {
    let replay: RecordingReplay

    init(_ replay: RecordingReplay) { self.replay = replay }

    /// False: a recording does not contain whether the tag sent ATQA and SAK.
    var reportsActivationData: Bool { false }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        let polled = Technology.allCases.filter(technologies.contains)
        guard case .tags(let tags) = try replay.call(.discover(polled, systemCodes: systemCodes)) else { return [] }
        return tags.map { tag in
            switch tag.port {
            case .frames(let length, let countsAir):
                let technology = tag.identity.technology
                let link = ReplayLink(replay, technology, tag: tag.number, maximumFrameLength: length)
                return DiscoveredTag(identity: tag.identity, port: .frames(ReplayTagLink(link, countsAir: countsAir)))
            case .commands(let limits, let answerToSelect):
                let card = ReplayCard(replay, tag: tag.number, limits)
                return DiscoveredTag(identity: tag.identity, port: .commands(card, answerToSelect: answerToSelect))
            }
        }
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {
        let number =
            switch tag.port {
            case .frames(let link): (link as? ReplayTagLink)?.link.tag
            case .commands(let card, _): (card as? ReplayCard)?.tag
            }
        guard let number else { throw LinkError(.tagRemoved, "The tag belongs to another reader.") }
        _ = try replay.call(.select(tag: number))
    }

    func release() async { _ = try? replay.call(.release) }
}

private final class ReplayLink: FrameLink {
    let replay: RecordingReplay
    let technology: Technology
    let tag: Int?
    let maximumFrameLength: Int

    init(_ replay: RecordingReplay, _ technology: Technology, tag: Int?, maximumFrameLength: Int) {
        self.replay = replay
        self.technology = technology
        self.tag = tag
        self.maximumFrameLength = maximumFrameLength
    }

    var statistics: LinkStatistics { replay.statistics(of: technology) }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        try replay.exchange(.frames(technology), tag: tag, frame, timeout: timeout)
    }

    func resetField() async throws(LinkError) {
        for isOn in [false, true] { _ = try replay.call(.field(isOn: isOn)) }
    }
}

private final class ReplayTagLink: ForwardingLink, SelfActivatingLink {
    let link: ReplayLink
    let countsAir: Bool

    init(_ link: ReplayLink, countsAir: Bool) {
        self.link = link
        self.countsAir = countsAir
    }

    var target: any FrameLink { link }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        try await link.transceive(frame, timeout: timeout)
    }

    func reactivate() async throws(LinkError) {
        if let tag = link.tag { _ = try link.replay.call(.reactivate(tag: tag)) }
    }

    func resetField() async throws(LinkError) { try await reactivate() }
}

private final class ReplayCard: APDULink {
    private let replay: RecordingReplay
    let tag: Int
    private let limits: Recording.Tag.Limits

    init(_ replay: RecordingReplay, tag: Int, _ limits: Recording.Tag.Limits) {
        self.replay = replay
        self.tag = tag
        self.limits = limits
    }

    var maximumCommandLength: Int { limits.command }
    var maximumResponseLength: Int { limits.response }
    var singleBlockCommandLength: Int { limits.blockCommand }
    var singleBlockResponseLength: Int { limits.blockResponse }
    var statistics: LinkStatistics { replay.statistics }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        try replay.exchange(.commands, tag: tag, Frame(apdu), timeout: .zero).bytes
    }

    func isPresent() async -> Bool { (try? replay.call(.isPresent(tag: tag))) == .isPresent(true) }
}

/// Follows a recording step by step, and returns the recorded outcome of each call.
struct ReplayScript: Sendable {
    let recording: Recording
    private(set) var position = 0
    private(set) var departure: ReplayDeparture?
    private var lastExchange = 0
    /// Describes exchanges, based on the exchanges so far.
    private var lines = TraceLineWriter()
    /// The last call, if it was a poll that found nothing.
    private var emptyPoll: Recording.Action?
    /// Whether the reader reported a tag while no observer was registered.
    private var hasPendingPresence = false
    private var arrivals: [[UInt8]: UInt64] = [:]

    init(_ recording: Recording) { self.recording = recording }

    /// When to notify the presence observers about a recorded event after a call.
    enum Notice: Sendable {
        case none
        case now
        /// After the session's current work.
        case soon
    }

    struct Reply {
        var outcome: Recording.Outcome
        var duration = Duration.zero
        var notice = Notice.none
    }

    var remainingExchanges: Int { recording.steps[position...].count { $0.number != nil } }

    mutating func follow(_ action: Recording.Action, isObserved: Bool) -> Reply {
        if let departure { return Reply(outcome: .failed(LinkError(.readerUnavailable, departure.reason))) }
        passEvents()
        guard position < recording.steps.count else {
            // A waiting session polls repeatedly.
            if action == emptyPoll { return Reply(outcome: .tags([])) }
            return depart(expected: nil, action)
        }
        let step = recording.steps[position]
        guard matches(step.action, action) else {
            // The recording was cut off before the answer.
            if case .isStillNear = step.action, step.outcome == nil { return breakOff(step) }
            if action == emptyPoll { return Reply(outcome: .tags([])) }
            return depart(expected: step, action)
        }
        guard let outcome = step.outcome else { return breakOff(step) }
        position += 1
        emptyPoll = outcome == .tags([]) ? action : nil
        lastExchange = step.number ?? lastExchange
        _ = lines.lines(of: step.traceEntry)
        let notice = notice(isObserved: isObserved)
        return Reply(outcome: outcome, duration: (step.endTime ?? step.time) - step.time, notice: notice)
    }

    /// Returns the arrival number of a tag at this point in the recording; nil if the reader did not report one.
    mutating func arrival(of identifier: [UInt8]) -> UInt64? {
        passEvents()
        return arrivals[identifier]
    }

    /// Returns the reader's recorded answer at this point, whether a tag had stayed near; true if none was recorded.
    mutating func isStillNear(_ identifier: [UInt8]) -> (answer: Bool, duration: Duration) {
        passEvents()
        guard position < recording.steps.count, departure == nil else { return (true, .zero) }
        let step = recording.steps[position]
        guard step.action == .isStillNear(identifier), case .isPresent(let isNear)? = step.outcome else {
            return (true, .zero)
        }
        position += 1
        return (isNear, (step.endTime ?? step.time) - step.time)
    }

    private mutating func passEvents() {
        while position < recording.steps.count, recording.steps[position].action.isEvent {
            if case .arrival(let identifier, let number) = recording.steps[position].action {
                arrivals[identifier] = number
            } else {
                hasPendingPresence = true
            }
            position += 1
        }
    }

    private mutating func notice(isObserved: Bool) -> Notice {
        passEvents()
        guard hasPendingPresence, isObserved else { return .none }
        hasPendingPresence = false
        // If the session polls next, it is notified once it waits; otherwise at once.
        guard position < recording.steps.count else { return .soon }
        switch recording.steps[position].action {
        case .discover, .field: return .soon
        default: return .now
        }
    }

    private mutating func depart(expected step: Recording.Step?, _ action: Recording.Action) -> Reply {
        let departure = ReplayDeparture(
            exchange: step?.number ?? lastExchange,
            time: step?.time,
            expected: step.map { describe($0.action) },
            actual: describe(action),
            isCutOff: step == nil && recording.isCutOff
        )
        self.departure = departure
        return Reply(outcome: .failed(LinkError(.readerUnavailable, departure.reason)))
    }

    /// Departs because the recording was cut off during a call and so lacks its outcome.
    private mutating func breakOff(_ step: Recording.Step) -> Reply {
        let departure = ReplayDeparture(exchange: lastExchange, actual: describe(step.action), isCutOff: true)
        self.departure = departure
        return Reply(outcome: .failed(LinkError(.readerUnavailable, departure.reason)))
    }

    /// Returns a description of a call, based on the exchanges before it.
    private func describe(_ action: Recording.Action) -> String {
        guard case .exchange(let medium, let tag, let sent, _) = action else { return action.words }
        var lines = lines
        let entry = Trace.Entry(.exchange(Trace.Exchange(medium, request: sent, answer: nil)))
        guard let line = lines.lines(of: entry).first, let request = line.frame else { return action.words }
        let hex = request.bytes.prefix(32).hexText() + (request.bytes.count > 32 ? "…" : "")
        let bits = request.validBitsInLastByte == 8 ? "" : "/\(request.validBitsInLastByte)"
        return "\(line.meaning) [\(hex)\(bits)]" + (tag.map { " to tag \($0)" } ?? "")
    }

    /// Returns whether a call is the recorded one. Timeouts and passwords may differ; passwords are never recorded.
    private func matches(_ recorded: Recording.Action, _ other: Recording.Action) -> Bool {
        guard case .exchange(let medium, let tag, let frame, _) = recorded,
            case .exchange(let otherMedium, let otherTag, let otherFrame, _) = other
        else { return recorded == other }
        var finder = lines.finder
        let secrets = finder.secrets(in: frame.bytes, over: medium)
        return medium == otherMedium && tag == otherTag
            && frame.concealing(secrets) == otherFrame.concealing(secrets)
    }
}
