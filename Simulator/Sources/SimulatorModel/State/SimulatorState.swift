// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import TagLink

/// The simulator's whole state: a state machine that handles events and collects their effects.
struct SimulatorState: Sendable {
    /// An action to perform outside the state.
    enum Effect: Sendable {
        /// Send an event to a program.
        case send(Int, JSON)
        /// Wake a program that blocks in a call, because it is its turn or the turn will never come.
        case wake(Int)
        case startWatching
        case stopWatching
        case schedule(Duration, Timer)
        case startApp(String, command: String)
        case stopApp(String)
        case quit
    }

    /// The purpose of a timer.
    enum Timer: Sendable, Hashable {
        /// A tap ends. The number distinguishes the visit from later ones.
        case tapEnds(tag: String, visit: Int)
        case bannerEnds(id: String, number: Int)
        case personCancels(client: Int)
        case promptEnds(number: Int)
    }

    /// A session of an app.
    struct Session: Sendable {
        var id: Int
        var app: String
        var client: Int
        /// The app's number for the session.
        var number: Int
        var kind: String
        var started: Int
        var ended: Int?
        var end: String?

        var json: JSON {
            [
                "id": .int(id), "app": .string(app), "kind": .string(kind), "started_us": .int(started),
                "ended_us": JSON(ended), "end": JSON(end),
            ]
        }
    }

    var drawer = Drawer()
    var field: Field
    var phone = Phone()
    var switches = Switches()
    var turns = Turns()
    var apps = AppList()
    var background = BackgroundService()
    var trace = TraceStore()
    var sessions: [Session] = []
    var journal = Journal()

    /// The visit number of each tag near the phone.
    var visits: [String: Int] = [:]
    /// The tags that answered the program whose turn it is.
    var answeredTags: Set<String> = []
    /// The number of the current banner.
    var bannerNumber = 0
    /// Whether background reading may still use tags that an opened file has replaced.
    var watchesReplacedTags = false
    /// Links for apps that are not connected yet, by app.
    var waitingLinks: [String: JSON] = [:]
    private var lastVisit = 0
    private var lastBanner = 0
    private var lastSession = 0
    private(set) var lastClient = 0

    /// The parts of the state that changed since the pages were updated.
    var dirty: Set<Part> = []
    var effects: [Effect] = []
    /// Whether a thread is performing the effects. Effects are performed one at a time, in order.
    var isDraining = false
    /// Whether phone, switches or notifications have unsaved changes.
    var isUnsaved = false

    /// A new tag at the end of the list, since the pages were updated.
    var appendedTag: String?

    /// Why the drawer's folder can't be written; nil if everything is saved.
    var storageProblem: String?

    /// How far the trace's clock is ahead of ``now``, in microseconds: the trace of an opened file continues.
    var traceOffset = 0

    /// The number of rows in the trace when the pages were last updated.
    var traceMark = 0

    /// The time of the current event. Everything that an event causes happens at the same time.
    var now = Duration.zero
    /// The milliseconds since 1970.
    var wallTime: UInt64 = 0

    /// A part of the state that is sent to the pages separately.
    enum Part: String, Sendable, CaseIterable {
        case phone, tags, apps, switches, sessions, notifications, summary, storage
    }

    init(seed: UInt64) { field = Field(seed: seed) }

    /// Whether a tag was brought near or an app began a session since the simulator started.
    var wasUsed: Bool { lastVisit > 0 || lastSession > 0 }

    /// The time of the current event in the trace.
    var microseconds: Int {
        let (seconds, attoseconds) = now.components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000) + traceOffset
    }

    mutating func touch(_ part: Part) {
        dirty.insert(part)
        if part == .phone || part == .switches || part == .notifications { isUnsaved = true }
    }

    mutating func note(
        _ kind: TraceRow.Kind,
        _ words: String,
        source: String? = nil,
        tag: String? = nil,
        detail: String? = nil
    ) {
        trace.add(TraceRow(time: microseconds, kind: kind, source: source, detail: detail, tag: tag, words: words))
        dirty.insert(.summary)
    }

    mutating func nextVisit() -> Int {
        lastVisit += 1
        return lastVisit
    }

    mutating func nextBanner() -> Int {
        lastBanner += 1
        return lastBanner
    }

    mutating func nextSession() -> Int {
        lastSession += 1
        return lastSession
    }

    mutating func nextClient() -> Int {
        lastClient += 1
        return lastClient
    }

    /// Whether a program has its turn, even if background reading has not stopped yet.
    var isSessionActive: Bool { turns.holder != nil }

    /// Whether an app reads tags: from its sheet on, although it takes its turn a moment later, until the sheet is gone.
    var isAppReading: Bool { isSessionActive || phone.sheet != nil }

    /// Informs background reading of changed conditions.
    mutating func conditionsChanged() {
        let conditions = phone.conditions(isSessionActive: isAppReading, isRadioOn: switches.radio)
        guard conditions != background.machine.conditions else { return }
        apply(background.handle(.conditions(conditions), now: now))
    }
}
