// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import TagLink

/// Everything that the simulator knows: a machine that takes events, and collects what has to happen outside of it.
struct SimulatorState: Sendable {
    /// What has to happen outside of the state.
    enum Effect: Sendable {
        /// Send an event to a program.
        case send(Int, JSON)
        /// A program that waits in a call has its turn, or will not get it.
        case wake(Int)
        case startWatching
        case stopWatching
        case schedule(Duration, Timer)
        case startApp(String, command: String)
        case stopApp(String)
        case quit
    }

    /// What a timer is for.
    enum Timer: Sendable, Hashable {
        /// A tap ends. The number tells its visit from a later one.
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
        /// The number that the app gave it.
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

    /// When each tag near the phone came.
    var visits: [String: Int] = [:]
    /// The tags that answered the program that has its turn.
    var metTags: Set<String> = []
    /// The number of the banner that is shown.
    var bannerNumber = 0
    /// Whether background reading may still be reading tags of before everything was replaced by a file.
    var watchesReplacedTags = false
    /// Links for apps that are not connected yet.
    var waitingLinks: [String: JSON] = [:]
    private var lastVisit = 0
    private var lastBanner = 0
    private var lastSession = 0
    private(set) var lastClient = 0

    /// What the pages don't know yet: names of the state's parts.
    var dirty: Set<Part> = []
    var effects: [Effect] = []
    /// Whether a thread performs the effects. They are performed one after the other, in their order.
    var isDraining = false
    /// Whether phone, switches or notifications differ from what was saved.
    var isUnsaved = false

    /// Why the drawer's folder can't be written; nil when everything is saved.
    var storageProblem: String?

    /// How far the pages have the trace.
    var traceMark = 0

    /// Where the time comes from. Passed in with each event, so that all of an event happens at one time.
    var now = Duration.zero
    /// The milliseconds since 1970.
    var wallTime: UInt64 = 0

    /// A part of the state, as the pages get it.
    enum Part: String, Sendable, CaseIterable {
        case phone, tags, apps, switches, sessions, notifications, summary, storage
    }

    init(seed: UInt64) { field = Field(seed: seed) }

    /// Whether a tag came near or an app began a session since the start.
    var wasUsed: Bool { lastVisit > 0 || lastSession > 0 }

    var microseconds: Int {
        let (seconds, attoseconds) = now.components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
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

    /// Whether a program has the reader, or is about to have it.
    var isSessionActive: Bool { turns.holder != nil }

    /// Tells background reading about the phone.
    mutating func conditionsChanged() {
        let conditions = phone.conditions(isSessionActive: isSessionActive, isRadioOn: switches.radio)
        guard conditions != background.machine.conditions else { return }
        apply(background.handle(.conditions(conditions), now: now))
    }
}
