// SPDX-License-Identifier: Apache-2.0
public import NFCRuntime
public import TagLink
public import VirtualTags

/// What stands in front of the code under test: a reader, the tags near it, the person, the scanning sheet, and time.
///
/// Get one from ``withField(_:app:seed:limit:grace:busyPolicy:reader:_:)`` or from the trait
/// `.field(_:app:seed:limit:grace:busyPolicy:)`. What a person does happens when the code has nothing left to do but to wait, so
/// that a test never races with what it tests.
///
/// Time is the field's own: it moves by what frames take on the air, and to the next event when nothing else is left to
/// do. `Task.sleep` and `DispatchQueue.asyncAfter` in the code under test wait by it too. See <doc:Reference> for when it moves.
public final class TestField: Sendable {
    /// The field to which the caller belongs: that of its task, of the block or delegate's method that it runs in, else the only
    /// one that is open. Nil outside of all, and where several are open and the caller's is not known.
    public static var current: TestField? { (NFCEnvironment.ofTest?.place as? FieldPlace)?.field }

    struct State {
        var log: [Trace.Entry] = []
        var sheet: [SheetMoment] = []
        var tags: [NearbyTag] = []
        var completions: [String: Int] = [:]
        var pending: [(name: String, fail: @Sendable (any Error) -> Void)] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var stop: (@Sendable (FieldError) -> Void)?
        var hasStarted = false
        var isOpen = true
        var hasFailed = false
        /// The time to which the test lets time pass.
        var target: Duration = .zero
        var shownErrors: [String] = []
        var tagsMade: UInt64 = 0
        var sessionsMade = 0
        /// What a script has made happen.
        var happened: [FaultScript.Step] = []
        /// How often code of the test has connected to a tag, and before which times the tag leaves.
        var connections = 0
        var departures: [FaultScript.Step] = []
        /// What code under test has made, and has to free; nil where nobody asks.
        var made: LivingObjects?
        /// What was written to each tag; nil where nobody asks.
        var courses: [MemoryCourse]?
        /// What the process writes when it ends in the run.
        var runNote: RunNote?
        /// How many writes are in them.
        var writesNoted = 0
    }

    /// The sheet at a moment.
    public struct SheetMoment: Sendable, Hashable {
        /// The field's time.
        public var time: Duration
        /// What the sheet showed from then on.
        public var content: SheetContent
    }

    /// The virtual field itself; nil when the test runs on a reader.
    public let virtual: VirtualField?
    /// The reader in front of which the code under test may be a card, with `CardSession`.
    public let cardReader = VirtualCardReader()
    /// Where all that is random comes from.
    public let seed: UInt64
    /// The surroundings that sessions take.
    public let environment: NFCEnvironment

    let drivenClock: ManualClock?
    let replay: RecordingReplay?
    let sheet: RecordingSheet
    let limit: Duration
    let grace: Grace
    let place: FieldPlace
    let state = Locked(State())

    /// - Parameter grace: how long nothing happens before a limit of a session passes.
    init(
        reader: TestReader,
        app: AppProperties?,
        seed: UInt64,
        limit: Duration,
        grace: Grace,
        busyPolicy: SessionArbiter.BusyPolicy
    ) {
        self.seed = seed
        self.limit = limit
        self.grace = grace
        let isReal = if case .reader = reader.kind { true } else { false }
        let owner = FieldPlace(isDriven: !isReal)
        place = owner
        let limits = SessionLimits()
        let arbiter = SessionArbiter(policy: busyPolicy)
        let sheet = RecordingSheet { owner.field?.showed($0) }
        self.sheet = sheet
        switch reader.kind {
        case .virtual:
            let clock = ManualClock()
            let field = VirtualField(
                onElapsed: { time in
                    clock.advance(by: time)
                    owner.field?.timeHasPassed()
                },
                onExchange: { owner.field?.exchanged($0) }
            )
            virtual = field
            replay = nil
            drivenClock = clock
            environment = NFCEnvironment(
                reader: .field(field),
                clock: clock,
                sheet: sheet,
                arbiter: arbiter,
                limits: limits,
                cardPort: cardReader,
                app: app,
                onNotice: { owner.field?.note($0) },
                place: owner
            )
        case .recording(let recording):
            let clock = ManualClock()
            let replay = RecordingReplay(
                recording,
                onElapsed: { time in
                    clock.advance(by: time)
                    owner.field?.timeHasPassed()
                }
            )
            virtual = nil
            drivenClock = clock
            self.replay = replay
            environment = NFCEnvironment(
                reader: replay.reader,
                clock: clock,
                sheet: sheet,
                arbiter: arbiter,
                limits: limits,
                app: app,
                onNotice: { owner.field?.note($0) },
                place: owner
            )
        case .reader(let reader):
            virtual = nil
            replay = nil
            drivenClock = nil
            environment = NFCEnvironment(
                reader: reader,
                clock: SystemClock.shared,
                sheet: sheet,
                arbiter: arbiter,
                limits: limits,
                app: app,
                onNotice: { owner.field?.note($0) },
                place: owner
            )
        }
        owner.field = self
    }

    // MARK: What happened

    /// The field's time, from 0. On a reader, real time.
    public var now: Duration { environment.clock.now }

    /// What happened so far: exchanges, the sheet, and what the person did.
    public var trace: Trace {
        let log = state.withLock { $0.log }
        guard let replay else { return Trace(log) }
        // What was recorded, as far as it was asked for, with what happened now at its time.
        var left = replay.recording.exchangeCount - replay.remainingExchangeCount
        var entries = replay.recording.trace.entries.prefix { entry in
            if case .exchange = entry.event { left -= 1 }
            return left >= 0
        }[...]
        var merged: [Trace.Entry] = []
        for note in log {
            let before = entries.prefix { ($0.time ?? .zero) < (note.time ?? .zero) }
            merged += before
            entries = entries.dropFirst(before.count)
            merged.append(note)
        }
        return Trace(merged + entries)
    }

    /// The exchanges so far.
    public var exchanges: [Trace.Exchange] { trace.exchanges }

    /// How long the exchanges took on the air so far, and the tags' work in between: what a phone needs at the least.
    public var airtime: Duration { exchanges.reduce(.zero) { $0 + ($1.duration ?? .zero) } }

    /// Everything that the sheet showed so far, and when.
    public var sheetHistory: [SheetMoment] { state.withLock { $0.sheet } }

    /// The texts that the sheet showed so far, each once where it stayed.
    public var sheetTexts: [String] {
        sheetHistory.map(\.content.message).reduce(into: []) { texts, text in
            if texts.last != text { texts.append(text) }
        }
    }

    /// The tags that the test has made so far.
    public var tags: [NearbyTag] { state.withLock { $0.tags } }

    /// Writes a line into the trace.
    public func note(_ text: String) { log(.note(text)) }

    /// Says that the app has shown an error to the person otherwise than on the sheet, see ``Invariant/errorShown``.
    public func showedError(_ text: String) {
        note("shown: \(text)")
        state.withLock { $0.shownErrors.append(text) }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    // MARK: What the field hears

    private func log(_ event: Trace.Event) {
        let now = now
        state.withLock { state in
            state.log.append(Trace.Entry(at: now, event))
            state.runNote?.add(event)
        }
    }

    private func exchanged(_ record: ExchangeRecord) {
        let exchange = Trace.Exchange(
            .frames(record.technology),
            request: record.request,
            answer: record.result,
            duration: record.elapsed.duration
        )
        log(.exchange(exchange))
        noteMemory()
    }

    private func showed(_ content: SheetContent) {
        let text = content.message.isEmpty ? "" : " \"\(content.message)\""
        log(.note("sheet: \(content.state.rawValue)\(text)"))
        let now = now
        state.withLock { $0.sheet.append(SheetMoment(time: now, content: content)) }
    }

    /// A flow that never waits is stopped by the time that its exchanges take.
    private func timeHasPassed() {
        if now > limit { stop() }
    }
}
