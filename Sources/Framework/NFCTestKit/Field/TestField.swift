// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
import TagLink
public import TagTrace
public import VirtualTags

/// The environment of the code under test: a reader, its tags, the user, the scanning sheet, and a clock.
///
/// Get a field from ``withField(_:app:seed:limit:grace:busyPolicy:reader:_:)`` or from the trait
/// `.field(_:app:seed:limit:grace:busyPolicy:)`. The user's actions happen when the code under test can do nothing but
/// wait, so the test never races with that code.
///
/// The field has its own time, which advances by the airtime of frames, and to the next event when nothing else can
/// happen. `Task.sleep` and `DispatchQueue.asyncAfter` in the code under test also use this time; see
/// `Documentation/Explanation/TestKitBehaviour.md`.
public final class TestField: Sendable {
    /// The field of the caller's task, block or delegate method; if unknown, the only open field. Nil outside of any
    /// field, or if the caller's field is unknown and several fields are open.
    public static var current: TestField? { (NFCEnvironment.ofTest?.testContext as? TestTracker)?.field }

    struct State {
        var log: [Trace.Entry] = []
        var sheet: [SheetMoment] = []
        var tags: [NearbyTag] = []
        var completions: [String: Int] = [:]
        var pending: [(name: String, fail: @Sendable (any Error) -> Void)] = []
        var settleCalls: [SettleCall] = []
        var stop: (@Sendable (FieldError) -> Void)?
        /// The task of the flow, until the field closes.
        var task: Task<Void, Never>?
        var hasStarted = false
        var isOpen = true
        var hasFailed = false
        /// The latest end of the test's own waits.
        var target: Duration = .zero
        var shownErrors: [String] = []
        /// The errors that the app has shown after the sheet's check mark.
        var errorsAfterSuccess: [String] = []
        var isCancelledByTest = false
        var tagsMade: UInt64 = 0
        var sessionsMade = 0
        var happened: [FaultScript.Step] = []
        /// How many times the test's code has connected to a tag.
        var connections = 0
        /// The steps of the script, without those that ended with an exchange.
        var steps: [FaultScript.Step] = []
        /// The number of connections when a slipped tag came back as it was before the run, and whether the app has
        /// sent something over a later connection.
        var connectionsAtReturn: Int?
        var triesAgain = false
        var companionIsGone = false
        /// The objects that the code under test created and has to free; nil when leaks aren't checked.
        var createdObjects: LivingObjects?
        /// The values written to each tag; nil when the memory isn't checked.
        var courses: [MemoryCourse]?
        /// The text that the process writes if it ends during the run.
        var runNote: RunNote?
        var writesNoted = 0

        /// Adds a handler that was not called yet.
        ///
        /// - Returns: the handler's key in ``completions``: its name, with a number if the name is already used.
        mutating func newCompletion(_ name: String) -> String {
            var (key, number) = (name, 1)
            while completions[key] != nil {
                number += 1
                key = "\(name) \(number)"
            }
            completions[key] = 0
            return key
        }
    }

    /// The sheet at one moment.
    public struct SheetMoment: Sendable, Hashable {
        /// The field's time.
        public var time: Duration
        /// The content of the sheet from this time on.
        public var content: SheetContent
    }

    /// The virtual field; nil when the test runs on a real reader.
    public let virtual: VirtualField?
    /// The reader that uses the card if the code under test emulates one with `CardSession`.
    public let cardReader = VirtualCardReader()
    /// The seed of all random values.
    public let seed: UInt64
    /// The environment that sessions use.
    public let environment: NFCEnvironment

    /// The field's own clock. Nil for real time: on a real reader, or when system functions can't be replaced.
    let drivenClock: ManualClock?
    let replay: RecordingReplay?
    let sheet: RecordingSheet
    let limit: Duration
    let grace: IdleTimeout
    let tracker: TestTracker
    let start: Duration
    let state = Locked(State())

    init(_ settings: FieldSettings, _ grace: IdleTimeout) {
        seed = settings.seed
        limit = settings.limit
        self.grace = grace
        let reader = (settings.reader ?? .ofProcess).kind
        let isReal = if case .reader = reader { true } else { false }
        let clock = !isReal && ReplacedFunctions.areInEffect ? ManualClock() : nil
        drivenClock = clock
        let owner = TestTracker(isDriven: clock != nil)
        tracker = owner
        let sheet = RecordingSheet { owner.field?.showed($0) }
        self.sheet = sheet
        let onElapsed: @Sendable (Duration) -> Void = { time in
            clock?.advance(by: time)
            owner.field?.timeHasPassed()
        }
        let attached: AttachedReader
        switch reader {
        case .virtual:
            let field = VirtualField(onElapsed: { onElapsed($0.duration) }, onExchange: { owner.field?.exchanged($0) })
            attached = .field(field)
            virtual = field
            replay = nil
        case .recording(let recording):
            let replay = RecordingReplay(recording, onElapsed: onElapsed)
            attached = replay.reader
            virtual = nil
            self.replay = replay
        case .reader(let reader):
            attached = reader
            virtual = nil
            replay = nil
        }
        environment = NFCEnvironment(
            reader: attached,
            clock: clock ?? SystemClock.shared,
            sheet: sheet,
            arbiter: SessionArbiter(policy: settings.busyPolicy),
            limits: .phone,
            cardPort: virtual == nil ? nil : cardReader,
            app: settings.app,
            belongsToTest: true,
            onNotice: { owner.field?.note($0) },
            testContext: owner
        )
        start = environment.clock.now
        owner.field = self
    }

    // MARK: History

    /// The field's time, starting at 0. On a real reader, real time.
    public var now: Duration { environment.clock.now }

    /// The events so far: exchanges, changes of the sheet, and the user's actions.
    public var trace: Trace {
        let log = state.withLock { $0.log }
        guard let replay else { return Trace(log) }
        // Merges the recorded entries, up to the last replayed exchange, with the new entries by time.
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

    /// The airtime of the exchanges so far, including the tags' processing time. A phone needs at least as long.
    public var airtime: Duration { exchanges.reduce(.zero) { $0 + ($1.duration ?? .zero) } }

    /// The contents of the sheet so far, each with its time.
    public var sheetHistory: [SheetMoment] { state.withLock { $0.sheet } }

    /// The texts that the sheet has shown so far, without consecutive duplicates.
    public var sheetTexts: [String] {
        sheetHistory.map(\.content.message).reduce(into: []) { texts, text in
            if texts.last != text { texts.append(text) }
        }
    }

    /// The tags that the test has created so far.
    public var tags: [NearbyTag] { state.withLock { $0.tags } }

    /// Writes a line into the trace.
    public func note(_ text: String) { log(.note(text)) }

    /// Records that the app has shown an error to the user outside the sheet, see ``Invariant/errorShown``.
    public func showedError(_ text: String) {
        note("shown: \(text)")
        state.withLock { state in
            state.shownErrors.append(text)
            let last = state.sheet.last { $0.content.state != .dismissed }
            if last?.content.state == .success { state.errorsAfterSuccess.append(text) }
        }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    // MARK: Events

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
        state.withLock { state in
            if let count = state.connectionsAtReturn, state.connections > count { state.triesAgain = true }
        }
        endFaults()
    }

    private func showed(_ content: SheetContent) {
        let text = content.message.isEmpty ? "" : " \"\(content.message)\""
        log(.note("sheet: \(content.state.rawValue)\(text)"))
        let now = now
        state.withLock { $0.sheet.append(SheetMoment(time: now, content: content)) }
    }

    /// Ends a flow whose exchanges alone have used up the field's time limit, because it never waits.
    private func timeHasPassed() {
        if now - start > limit { stop() }
    }
}
