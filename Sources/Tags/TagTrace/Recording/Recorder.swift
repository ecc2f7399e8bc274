// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
public import TagLink

/// Records everything that happens at a reader in a file. The file is written line by line, so its lines survive
/// however the process ends.
///
/// A call is written before it runs, and its outcome afterwards. Consecutive polls that find nothing are
/// written only once.
public final class Recorder: Sendable {
    private struct State {
        var lines = RecordingLines()
        var tags = 0
        var failure: RecordingError?
        var clock: @Sendable () -> Duration
    }

    private let log: PrivateLog
    private let state: Locked<State>

    /// The path of the file.
    public var path: String { log.path }

    /// Creates the file, which only its owner can read. An existing recording is replaced, and other users lose access
    /// to it. Any other existing file is kept.
    ///
    /// - Throws: ``RecordingError`` when the file can't be created, or another file exists.
    public init(path: String) throws(RecordingError) {
        do throws(StorageError) {
            log = try PrivateLog(path, replacing: Array("{\"opencorenfc_recording\"".utf8))
        } catch  where error.code == .occupied {
            throw RecordingError(.notARecording, "\(path) already exists and is not a recording. Name another file.")
        } catch {
            throw RecordingError(.unwritable, error.reason)
        }
        let origin = ContinuousClock.now
        state = Locked(State(clock: { origin.duration(to: .now) }))
    }

    /// The error that ended the recording early; nil if no error occurred.
    public var failure: RecordingError? { state.withLock { $0.failure } }

    /// Wraps a reader to record everything that happens at it. Use a recorder for one reader only.
    ///
    /// - Returns: the reader to use instead; the same value when there is no reader.
    public func recording(_ reader: AttachedReader) -> AttachedReader {
        switch reader {
        case .none: reader
        case .field(let driver): .field(RecordingField(driver, recorder: self))
        case .discovering(let driver): .discovering(RecordingReader(driver, recorder: self))
        }
    }

    // MARK: Writing

    private var time: Duration { state.withLock { $0.clock }() }

    fileprivate func begin(_ header: Recording.Header, clock: (@Sendable () -> Duration)? = nil) {
        state.withLock { state in
            state.clock = clock ?? state.clock
            write(header.line, &state)
        }
    }

    fileprivate func record<Value, Failure: Error>(
        _ action: Recording.Action,
        outcome: (Value) -> Recording.Outcome,
        _ call: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let start = time
        let step = state.withLock { state in
            let (step, text) = state.lines.start(action, at: start)
            write(text, &state)
            return step
        }
        do throws(Failure) {
            let value = try await call()
            finish(step, outcome(value))
            return value
        } catch {
            if let error = error as? LinkError { finish(step, .failed(error)) }
            throw error
        }
    }

    private func finish(_ step: Recording.Step, _ outcome: Recording.Outcome) {
        let end = time
        state.withLock { write($0.lines.finish(step, outcome, at: end), &$0) }
    }

    fileprivate func presenceChanged() {
        let time = time
        state.withLock { write(Recording.Step(time: time, action: .presence).line, &$0) }
    }

    fileprivate func arrived(_ identifier: [UInt8], number: UInt64?) {
        let time = time
        state.withLock { write($0.lines.arrival(of: identifier, number: number, at: time), &$0) }
    }

    /// Returns a copy of a tag whose links record their exchanges, and the tag's entry in the recording.
    fileprivate func record(_ tag: DiscoveredTag) -> (tag: DiscoveredTag, entry: Recording.Tag) {
        let number = state.withLock { state in
            state.tags += 1
            return state.tags
        }
        var recorded = tag
        let port: Recording.Tag.Port
        switch tag.port {
        case .frames(let link):
            recorded.port = .frames(RecordingTagLink(link, tag, number: number, self))
            port = .frames(maximumLength: link.maximumFrameLength, countsAir: link.countsAir)
        case .commands(let card, let answerToSelect):
            recorded.port = .commands(RecordingCard(card, tag, number: number, self), answerToSelect: answerToSelect)
            let limits = Recording.Tag.Limits(
                command: card.maximumCommandLength,
                response: card.maximumResponseLength,
                blockCommand: card.singleBlockCommandLength,
                blockResponse: card.singleBlockResponseLength
            )
            port = .commands(limits: limits, answerToSelect: answerToSelect)
        }
        return (recorded, Recording.Tag(number: number, identity: tag.identity, port: port))
    }

    /// Writes all of `text`, or stores the error. After an error, nothing more is written.
    private func write(_ text: String, _ state: inout State) {
        guard state.failure == nil else { return }
        do throws(StorageError) {
            try log.append(Array(text.utf8))
        } catch {
            let step = log.isStarted ? " The recording ends here." : ""
            state.failure = RecordingError(.unwritable, error.reason + step)
        }
    }
}

// MARK: Readers whose host sends every frame

/// For a reader with simulated time, the recording uses that time, so a flow gives the same file in every run.
private final class RecordingField: ForwardingField {
    let field: any FieldDriver
    private let recorder: Recorder
    private let links: [Technology: RecordingLink]

    init(_ base: any FieldDriver, recorder: Recorder) {
        field = base
        self.recorder = recorder
        var links: [Technology: RecordingLink] = [:]
        for technology in Technology.allCases {
            links[technology] = base.link(for: technology).map { RecordingLink($0, recorder) }
        }
        self.links = links
        let header = Recording.Header(
            reader: base.name,
            isField: true,
            technologies: Technology.allCases.filter(base.technologies.contains),
            maximumFrameLength: links.values.map(\.maximumFrameLength).max() ?? 256,
            reportsPresence: true
        )
        let origin = base.statistics
        recorder.begin(header) { [weak base] in
            let statistics = base.map { $0.statistics - origin } ?? .zero
            return (statistics.airtime + statistics.tagWorkTime).duration
        }
    }

    var unrecorded: any ReaderDriver { field }

    func link(for technology: Technology) -> (any FrameLink)? { links[technology] }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        try await recorder.record(.field(isOn: isOn), outcome: { _ in .done }) { () throws(LinkError) in
            try await field.setCarrier(isOn)
        }
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        field.observePresence { [recorder] in
            recorder.presenceChanged()
            handler()
        }
    }

    func arrival(of identifier: [UInt8]) -> UInt64? {
        let number = field.arrival(of: identifier)
        recorder.arrived(identifier, number: number)
        return number
    }

    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        await recorder.record(.isStillNear(identifier), outcome: { .isPresent($0) }) {
            await field.isStillNear(identifier, since: arrival)
        }
    }
}

private final class RecordingLink: ForwardingLink {
    let target: any FrameLink
    private let recorder: Recorder

    init(_ base: any FrameLink, _ recorder: Recorder) {
        target = base
        self.recorder = recorder
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let action = Recording.Action.exchange(.frames(technology), tag: nil, frame, timeout: timeout)
        return try await recorder.record(action, outcome: { .frame($0) }) { () throws(LinkError) in
            try await target.transceive(frame, timeout: timeout)
        }
    }

    func resetField() async throws(LinkError) {
        try await recorder.record(.field(isOn: false), outcome: { _ in .done }) { () throws(LinkError) in
            try await target.resetField()
        }
        await recorder.record(.field(isOn: true), outcome: { _ in .done }) {}
    }
}

// MARK: Readers that find tags themselves

private final class RecordingReader: ForwardingDriver, DiscoveringDriver {
    private let base: any DiscoveringDriver
    private let recorder: Recorder
    /// Whether the header was written. The first call writes it, because a reader may have no name before it is open.
    private let hasBegun = Locked(false)
    private let reportsPresence = Locked(false)

    init(_ base: any DiscoveringDriver, recorder: Recorder) {
        self.base = base
        self.recorder = recorder
    }

    var target: any ReaderDriver { base }
    var unrecorded: any ReaderDriver { base }
    var reportsActivationData: Bool { base.reportsActivationData }
    func interrupt() { base.interrupt() }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        let observation = base.observePresence { [weak self] in
            guard let self else { return }
            // The reader may report a tag before this method returns.
            reportsPresence.withLock { $0 = true }
            begin()
            recorder.presenceChanged()
            handler()
        }
        if observation != nil { reportsPresence.withLock { $0 = true } }
        return observation
    }

    func arrival(of identifier: [UInt8]) -> UInt64? {
        let number = base.arrival(of: identifier)
        recorder.arrived(identifier, number: number)
        return number
    }

    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        await recorder.record(.isStillNear(identifier), outcome: { .isPresent($0) }) {
            await base.isStillNear(identifier, since: arrival)
        }
    }

    func discover(_ technologies: Set<Technology>, systemCodes: [UInt16]) async throws(LinkError) -> [DiscoveredTag] {
        begin()
        let polled = Technology.allCases.filter(technologies.contains)
        let action = Recording.Action.discover(polled, systemCodes: systemCodes)
        let found = try await recorder.record(action, outcome: { .tags($0.map(\.entry)) }) { () throws(LinkError) in
            try await base.discover(technologies, systemCodes: systemCodes).map { recorder.record($0) }
        }
        return found.map(\.tag)
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {
        let recorded: (any RecordedLink)? =
            switch tag.port {
            case .frames(let link): link as? RecordingTagLink
            case .commands(let card, _): card as? RecordingCard
            }
        guard let recorded else { throw LinkError(.tagRemoved, "The tag belongs to another reader.") }
        try await recorder.record(.select(tag: recorded.number), outcome: { _ in .done }) { () throws(LinkError) in
            try await base.select(recorded.tag)
        }
    }

    func release() async {
        begin()
        await recorder.record(.release, outcome: { _ in .done }) { await base.release() }
    }

    private func begin() {
        // The header is written while the lock is held, so that no other thread writes anything before it.
        hasBegun.withLock { [base, recorder, reportsPresence] hasBegun in
            guard !hasBegun else { return }
            hasBegun = true
            recorder.begin(
                Recording.Header(
                    reader: base.name,
                    isField: false,
                    technologies: Technology.allCases.filter(base.technologies.contains),
                    maximumFrameLength: 256,
                    reportsPresence: reportsPresence.withLock { $0 }
                )
            )
        }
    }
}

/// A link to a tag that the reader found.
private protocol RecordedLink {
    var tag: DiscoveredTag { get }
    var number: Int { get }
}

private final class RecordingTagLink: ForwardingLink, SelfActivatingLink, RecordedLink {
    private let link: any SelfActivatingLink
    let tag: DiscoveredTag
    let number: Int
    private let recorder: Recorder

    init(_ link: any SelfActivatingLink, _ tag: DiscoveredTag, number: Int, _ recorder: Recorder) {
        self.link = link
        self.tag = tag
        self.number = number
        self.recorder = recorder
    }

    var target: any FrameLink { link }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let action = Recording.Action.exchange(.frames(technology), tag: number, frame, timeout: timeout)
        return try await recorder.record(action, outcome: { .frame($0) }) { () throws(LinkError) in
            try await link.transceive(frame, timeout: timeout)
        }
    }

    func reactivate() async throws(LinkError) {
        try await recorder.record(.reactivate(tag: number), outcome: { _ in .done }) { () throws(LinkError) in
            try await link.reactivate()
        }
    }

    /// Recorded like a selection, since that is what a program sees of it.
    func resetField() async throws(LinkError) {
        try await recorder.record(.reactivate(tag: number), outcome: { _ in .done }) { () throws(LinkError) in
            try await link.resetField()
        }
    }
}

private final class RecordingCard: APDULink, RecordedLink {
    private let card: any APDULink
    let tag: DiscoveredTag
    let number: Int
    private let recorder: Recorder

    init(_ card: any APDULink, _ tag: DiscoveredTag, number: Int, _ recorder: Recorder) {
        self.card = card
        self.tag = tag
        self.number = number
        self.recorder = recorder
    }

    var maximumCommandLength: Int { card.maximumCommandLength }
    var maximumResponseLength: Int { card.maximumResponseLength }
    var singleBlockCommandLength: Int { card.singleBlockCommandLength }
    var singleBlockResponseLength: Int { card.singleBlockResponseLength }
    var statistics: LinkStatistics { card.statistics }
    var countsAir: Bool { card.countsAir }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        let action = Recording.Action.exchange(.commands, tag: number, Frame(apdu), timeout: .zero)
        return try await recorder.record(action, outcome: { .frame(Frame($0)) }) { () throws(LinkError) in
            try await card.transmit(apdu)
        }
    }

    func isPresent() async -> Bool {
        await recorder.record(.isPresent(tag: number), outcome: { .isPresent($0) }) { await card.isPresent() }
    }

    func wasActivated() { card.wasActivated() }
}

/// Writes a recording of a reader that another program used.
///
/// A ``Recorder`` records a reader of its own process. This type is for a program that serves a reader to others and
/// sees their frames. Add all events in order, each with its time since the start of the recording.
/// Passwords, PINs and keys are replaced by zeros.
public struct RecordingWriter: Sendable {
    private var text: String
    private var lines = RecordingLines()

    /// Begins a recording of a reader whose host sends every frame.
    public init(reader: String, technologies: [Technology] = Technology.allCases, maximumFrameLength: Int = 256) {
        let header = Recording.Header(
            reader: reader,
            isField: true,
            technologies: technologies,
            maximumFrameLength: maximumFrameLength,
            reportsPresence: true
        )
        text = header.line
    }

    /// Records that the program turned the field on or off.
    public mutating func addField(isOn: Bool, at time: Duration) {
        add(.field(isOn: isOn), .done, at: time, until: time)
    }

    /// Records an exchange of frames.
    public mutating func addExchange(
        _ technology: Technology,
        request: Frame,
        result: Result<Frame, LinkError>,
        timeout: Airtime,
        at time: Duration,
        duration: Duration
    ) {
        let outcome: Recording.Outcome =
            switch result {
            case .success(let frame): .frame(frame)
            case .failure(let error): .failed(error)
            }
        let action = Recording.Action.exchange(.frames(technology), tag: nil, request, timeout: timeout)
        add(action, outcome, at: time, until: time + duration)
    }

    /// Records that the reader reported a tag's arrival or departure.
    public mutating func addPresence(at time: Duration) { text += Recording.Step(time: time, action: .presence).line }

    /// Records the arrival number that the program requested for a tag. It is written once per arrival.
    package mutating func addArrival(of identifier: [UInt8], number: UInt64, at time: Duration) {
        text += lines.arrival(of: identifier, number: number, at: time)
    }

    /// The content of the file.
    public var bytes: [UInt8] { Array(text.utf8) }

    private mutating func add(
        _ action: Recording.Action,
        _ outcome: Recording.Outcome,
        at time: Duration,
        until end: Duration
    ) {
        let (step, call) = lines.start(action, at: time)
        text += call + lines.finish(step, outcome, at: end)
    }
}

/// Builds the lines of a recording, call by call. Passwords, PINs and keys are replaced by zeros.
struct RecordingLines: Sendable {
    private var exchanges = 0
    private var finder = SecretFinder()
    private var arrivals: [[UInt8]: UInt64] = [:]
    /// The last call, if it was a poll that found nothing.
    private var emptyPoll: Recording.Action?

    /// Returns a call and its line. The line is empty for a repeated poll that found nothing before: only its outcome
    /// will show whether to write it.
    mutating func start(_ action: Recording.Action, at time: Duration) -> (step: Recording.Step, text: String) {
        var step = Recording.Step(time: time, action: action.concealed(by: &finder))
        if case .exchange = action {
            exchanges += 1
            step.number = exchanges
        }
        return (step, action == emptyPoll ? "" : step.line)
    }

    mutating func finish(_ step: Recording.Step, _ outcome: Recording.Outcome, at time: Duration) -> String {
        var step = step
        step.endTime = time
        step.outcome = outcome
        if case .frame(let answer) = outcome { _ = finder.secrets(inAnswer: answer.bytes) }
        let (isEmptyPoll, isRepeated) = (outcome == .tags([]), step.action == emptyPoll)
        emptyPoll = isEmptyPoll ? step.action : nil
        if isRepeated && isEmptyPoll { return "" }
        return (isRepeated ? step.line : "") + step.outcomeLines
    }

    /// Returns the line of a tag's arrival, or of its departure if `number` is nil; empty if already written.
    mutating func arrival(of identifier: [UInt8], number: UInt64?, at time: Duration) -> String {
        guard arrivals[identifier] != number else { return "" }
        arrivals[identifier] = number
        return Recording.Step(time: time, action: .arrival(identifier, number: number)).line
    }
}

extension Recording.Action {
    /// Returns the call with its passwords, PINs and keys replaced by zeros.
    fileprivate func concealed(by finder: inout SecretFinder) -> Recording.Action {
        switch self {
        case .exchange(let medium, let tag, let frame, let timeout):
            let secrets = finder.secrets(in: frame.bytes, over: medium)
            return .exchange(medium, tag: tag, frame.concealing(secrets), timeout: timeout)
        case .field, .discover, .select: finder.fieldChanged()
        default: break
        }
        return self
    }
}
