// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
public import TagTrace
public import VirtualTags

/// One run of a flow, which an ``Invariant`` checks.
public struct FlowRun: Sendable {
    /// A tag of the run.
    public struct Tag: Sendable {
        /// The product's name and the UID.
        public let name: String
        /// The contents before the run; nil if this kind of tag can't be copied.
        public let before: TagContents?
        /// The contents after the run; nil if this kind of tag can't be copied.
        public let after: TagContents?
        /// The tag's index among the tags of the flow; nil for the second tag of an exploration.
        let number: Int?
        /// The memory before and after the run; empty if unknown.
        let areasBefore: [MemoryArea]
        let areasAfter: [MemoryArea]
    }

    /// The faults of the run; nil in the first run, which is made without faults.
    public let replay: FaultScript?
    /// The faults that happened. The flow may have ended before the other faults.
    let happened: [FaultScript.Step]
    /// The flow's result; nil when the flow returns nothing, or threw an error.
    let result: FlowResult?
    /// The error that the flow threw; nil when the flow returned.
    public let error: (any Error)?
    /// The history of the sheet.
    public let sheet: [TestField.SheetMoment]
    /// Errors that the app showed outside the sheet, see ``TestField/showedError(_:)``.
    public let shownErrors: [String]
    /// Those of ``shownErrors`` that came after the sheet's check mark.
    let errorsAfterSuccess: [String]
    /// How many times each completion handler was called, by its name in the trace, see
    /// ``TestField/completion(_:of:)``.
    public let completions: [String: Int]
    /// Whether a session was still open after the flow had ended.
    public let leavesSessionOpen: Bool
    /// The tags, in the order in which they were created.
    public let tags: [Tag]
    /// The events of the run.
    public let trace: Trace
    /// The same tags after the first run, which has no faults; nil in the first run.
    public internal(set) var goal: [Tag]?
    var goalResult: FlowResult?
    /// The text beside the check mark with which the first run ended; nil in the first run.
    var goalText: String?
    var courses: [MemoryCourse] = []
    private let isCancelledByTest: Bool
    /// Whether the app has connected again to a tag that slipped away and came back as it was before the run.
    let triesAgain: Bool
    /// The run without faults with the second tag alone; nil unless that tag takes the place of the first.
    var replacement: Replacement?
    /// A sentence about a field that never had a tag; nil if it had one.
    let missingTag: String?
    /// Descriptions of the objects that were not freed after the run.
    var leaks: [String] = []
    /// Sentences about what the code does that a field can't follow.
    let advice: [String]
    /// The end of the app's next delay after the run; nil when all its delays have passed.
    var nextDelay: Duration?
    /// A cache of the NDEF contents of tags, shared by all runs of the exploration.
    let readings: TagReadings

    /// Whether the flow ended because the user or the test cancelled it.
    public var isCancelled: Bool {
        isCancelledByTest || error is CancellationError || happened.contains { $0.kind == .cancel || $0.kind == .stop }
    }

    /// Whether the system refused or ended a session because it was busy or the app went to the background.
    public var isEndedBySystem: Bool { happened.contains { $0.kind == .busy || $0.kind == .background } }

    init(
        _ field: TestField,
        replay: FaultScript?,
        result: Result<FlowResult?, any Error>,
        leavesSessionOpen: Bool,
        readings: TagReadings
    ) {
        self.readings = readings
        self.replay = replay
        switch result {
        case .success(let value): (self.result, error) = (value, nil)
        case .failure(let thrown): (self.result, error) = (nil, thrown)
        }
        happened = replay.map { field.happened(of: $0) } ?? []
        missingTag = field.missingTag
        let state = field.state.withLock { $0 }
        sheet = state.sheet
        shownErrors = state.shownErrors
        errorsAfterSuccess = state.errorsAfterSuccess
        triesAgain = state.triesAgain
        isCancelledByTest = state.isCancelledByTest
        completions = state.completions
        self.leavesSessionOpen = leavesSessionOpen
        var count = 0
        tags = state.tags.map { tag in
            defer { if !tag.isCompanion { count += 1 } }
            // On a real reader, the contents of the virtual tag are meaningless.
            return Tag(
                name: tag.description,
                before: field.virtual == nil ? nil : tag.before,
                after: field.virtual == nil ? nil : TagContents(of: tag.virtual),
                number: tag.isCompanion ? nil : count,
                areasBefore: field.virtual == nil ? [] : tag.areasBefore,
                areasAfter: field.virtual == nil ? [] : MemoryArea.all(of: tag.virtual)
            )
        }
        trace = Trace(state.log)
        advice = error is FieldError ? [] : field.tracker.advice
    }

    /// What the flow does without faults with the second tag of an exploration alone.
    struct Replacement: Sendable {
        var after: TagContents?
        var result: FlowResult?
        var course: MemoryCourse
    }

    /// Whether another tag has taken the place of the first.
    var isReplaced: Bool { replacement != nil && happened.contains { $0.kind == .swap } }

    /// The text beside the check mark with which the run ended; nil if it ended without a check mark.
    var successText: String? {
        let last = sheet.last { $0.content.state != .dismissed }?.content
        return last?.state == .success ? last?.message : nil
    }

    func lastSheetShows(_ text: String) -> Bool {
        let moments = sheet.reversed().drop { $0.content.state == .dismissed }.prefix { $0.content.state != .dismissed }
        return moments.contains { $0.content.message == text }
    }

    /// Whether a session reached its time limit while it still worked with a tag, and not just after it found one, as in
    /// an app that restarts polling until the right tag comes.
    var reachesLimit: Bool { statesAtLimit.contains { $0.state == .scanning && $0.duration >= .seconds(5) } }

    /// Whether a session's sheet disappeared because the session reached its time limit.
    var endsByLimit: Bool { !statesAtLimit.isEmpty }

    /// How many exchanges a flow has to make until its session's time limit to be considered endless.
    private static let endlessCount = 200

    /// Describes that the flow exchanged frames with a tag until its session reached the time limit; nil when it did not.
    var endlessPolling: String? {
        guard endsByLimit, let end = sheet.last(where: { $0.content.state == .dismissed })?.time else { return nil }
        let times = trace.entries.filter { if case .exchange = $0.event { true } else { false } }.compactMap(\.time)
        guard times.count >= Self.endlessCount, let last = times.last, end - last < .seconds(2) else { return nil }
        return """
            it polls without end: it made \(times.count) exchanges until the time limit ended its session, and an \
            exploration would try faults at each of them. Invalidate the session when the tag was read, and limit \
            how often a command or the polling is repeated
            """
    }

    /// For each session that reached its time limit, the last state of its sheet and how long it lasted.
    private var statesAtLimit: [(state: SheetState, duration: Duration)] {
        var states: [(state: SheetState, duration: Duration)] = []
        var session: (begin: Duration, state: SheetState, since: Duration)?
        for moment in sheet {
            let state = moment.content.state
            guard state == .dismissed else {
                let since = session.flatMap { $0.state == state ? $0.since : nil } ?? moment.time
                session = (session?.begin ?? moment.time, state, since)
                continue
            }
            // A session that shows a result has already ended; only its sheet disappears now.
            if let session, [.ready, .scanning].contains(session.state),
                moment.time - session.begin >= SessionLimits().session
            {
                states.append((session.state, moment.time - session.since))
            }
            session = nil
        }
        return states
    }
}

struct FlowResult: Sendable, CustomStringConvertible {
    private let value: any Sendable
    private let equals: @Sendable (any Sendable) -> Bool

    init<Value: Equatable & Sendable>(_ value: Value) {
        self.value = value
        equals = { ($0 as? Value) == value }
    }

    func isEqual(to other: FlowResult) -> Bool { equals(other.value) }

    var description: String { Self.words(for: value) }

    /// Describes a value. Bytes are printed in hexadecimal, because their default description shows only the count.
    private static func words(for value: Any) -> String {
        if let bytes = value as? any Collection<UInt8> {
            let bytes = bytes.map(\.self)
            return "<\(bytes.prefix(32).hexText(separator: " "))\(bytes.count > 32 ? " …, \(bytes.count) bytes" : "")>"
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { words(for: $0.value) } ?? "nil"
        case .collection: return "[\(mirror.children.map { words(for: $0.value) }.joined(separator: ", "))]"
        default: return String(describing: value)
        }
    }
}

/// The objects that have to be freed when their run has ended: sessions, delegates and tags.
struct LivingObjects: Sendable {
    private final class Reference: @unchecked Sendable {
        weak let object: AnyObject?
        let name: String

        init(_ object: AnyObject, _ name: String) {
            self.object = object
            self.name = name
        }
    }

    private var references: [Reference] = []

    mutating func add(_ object: AnyObject, as kind: MadeObject) {
        let name =
            switch kind {
            case .session: "a session"
            case .delegate: "the delegate \(type(of: object))"
            case .tag: "a tag"
            }
        references.append(Reference(object, name))
    }

    var isEmpty: Bool { references.isEmpty }

    var alive: LivingObjects {
        var alive = self
        alive.references.removeAll { $0.object == nil }
        return alive
    }

    func without(_ others: LivingObjects) -> LivingObjects {
        let otherIDs = Set(others.references.compactMap { $0.object.map { ObjectIdentifier($0) } })
        var rest = self
        rest.references.removeAll { reference in
            guard let object = reference.object else { return true }
            return otherIDs.contains(ObjectIdentifier(object))
        }
        return rest
    }

    var names: [String] {
        references.map(\.name).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }
}

extension TestTracker {
    func made(_ object: AnyObject, as kind: MadeObject) {
        field?.state.withLock { state in
            state.createdObjects?.add(object, as: kind)
            if kind == .session { state.sessionsMade += 1 }
        }
    }
}
