// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
public import TagLink
public import VirtualTags

/// One run of a flow, for an ``Invariant`` to look at.
public struct FlowRun: Sendable {
    /// A tag of the run.
    public struct Tag: Sendable {
        /// The product's name and the UID.
        public let name: String
        /// What it held before; nil where that can't be copied.
        public let before: TagContents?
        /// What it held after.
        public let after: TagContents?
    }

    /// What went wrong in the run; nil in the first run, in which nothing does.
    public let replay: FaultScript?
    /// What of it has happened: the flow may have ended before.
    let happened: [FaultScript.Step]
    /// What the flow returned; nil when it returns nothing, or threw.
    let result: FlowResult?
    /// What the flow threw; nil when it ended well.
    public let error: (any Error)?
    /// What the sheet showed, and when.
    public let sheet: [TestField.SheetMoment]
    /// Errors that the app showed otherwise, see ``TestField/showedError(_:)``.
    public let shownErrors: [String]
    /// How often each completion handler was called, see ``TestField/completion(_:of:)``.
    public let completions: [String: Int]
    /// Whether a session was still open when the flow had ended.
    public let leavesSessionOpen: Bool
    /// The tags, in the order in which they were made.
    public let tags: [Tag]
    /// All that happened.
    public let trace: Trace
    /// The same tags after the first run, in which nothing went wrong; nil in the first run.
    public internal(set) var goal: [Tag]?
    /// Whether the first run, too, stood until the limit of a session.
    var goalReachesLimit = false
    /// What the first run returned; nil in the first run.
    var goalResult: FlowResult?
    /// What the first run wrote to each of its tags.
    var courses: [MemoryCourse] = []
    /// What was not freed after the run, in words.
    var leaks: [String] = []
    /// What tags of the exploration were found to hold.
    let readings: TagReadings

    /// Whether the flow ended because its person or its test wanted it so.
    public var isCancelled: Bool { error is CancellationError || happened.contains { $0.kind == .cancel } }

    /// Whether the system refused a session or took it away: it was busy, or the app went to the background.
    public var isEndedBySystem: Bool { happened.contains { $0.kind == .busy || $0.kind == .background } }

    init(
        _ field: TestField,
        replay: FaultScript?,
        result: FlowResult?,
        error: (any Error)?,
        leavesSessionOpen: Bool,
        readings: TagReadings
    ) {
        self.readings = readings
        self.replay = replay
        self.result = result
        self.error = error
        happened = replay.map { field.happened(of: $0) } ?? []
        let state = field.state.withLock { $0 }
        sheet = state.sheet
        shownErrors = state.shownErrors
        completions = state.completions
        self.leavesSessionOpen = leavesSessionOpen
        tags = state.tags.map { tag in
            // What lies on a reader is not the tag that stands for it here.
            Tag(
                name: tag.description,
                before: field.virtual == nil ? nil : tag.before,
                after: field.virtual == nil ? nil : TagContents(of: tag.virtual)
            )
        }
        trace = Trace(state.log)
    }

    /// Whether the sheet worked with a tag when the limit of a session took it away.
    var reachesLimit: Bool {
        let limit = SessionLimits().session
        guard let start = sheet.first?.time else { return false }
        return zip(sheet, sheet.dropFirst()).contains { before, after in
            before.content.state == .scanning && after.content.state == .dismissed && after.time - start >= limit
        }
    }
}
