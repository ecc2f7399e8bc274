// SPDX-License-Identifier: Apache-2.0
package import Dispatch
public import TagLink

/// Everything around a session: the reader, the time, the sheet, and whose turn it is.
///
/// A session takes the environment that is ``current`` when it is made: a task-local one where a test has set it, and
/// the process's own otherwise.
public final class NFCEnvironment: Sendable {
    /// The reader, or why there is none.
    public enum Reader: Sendable {
        /// A reader whose host sends every frame.
        case field(any FieldDriver)
        /// A reader that finds and activates tags by itself.
        case discovering(any DiscoveringDriver)
        /// There is no reader; the reason is a sentence for people that says what to do.
        case none(reason: String)
    }

    /// The reader, or why there is none.
    public let reader: Reader
    /// The time by which sessions live.
    public let clock: any RuntimeClock
    /// Where the scanning sheet is shown.
    public let sheet: any ScanSheet
    /// Whose turn it is.
    public let arbiter: SessionArbiter
    /// The spans of time that rule a session.
    public let limits: SessionLimits
    /// Where apps that are cards meet readers; nil where nothing can be a card.
    public let cardPort: (any CardReaderPort)?
    /// What the app declares of itself; nil for what the process has.
    public let app: AppProperties?
    /// Whether the environment is one of a test: delegates and completion handlers are called within it, so that the
    /// sessions and tasks that they make are the test's too.
    public let isOfTest: Bool

    /// Lets one thread act for the sessions of a test at a time; nil outside of tests.
    let turn: ActingTurn?
    /// Calls of an app that were put on its queue, and have not returned.
    private let callsUnderWay = Locked(0)
    /// Where the service that reads in the background is asked for the reader; nil where it is not.
    public let gate: ReaderGate?
    /// What keeps all that goes on at the reader; nil where nothing is kept.
    public let recorder: Recorder?
    /// Why a recording that was asked for can't be made or replayed; there is no reader then.
    public let recordingError: RecordingError?

    private let onSessionEnd: (@Sendable () -> Void)?

    /// Creates an environment.
    ///
    /// - Parameters:
    ///   - reader: the reader, or why there is none.
    ///   - clock: the time by which sessions live.
    ///   - sheet: where the scanning sheet is shown.
    ///   - arbiter: whose turn it is.
    ///   - limits: the spans of time that rule a session.
    ///   - cardPort: where apps that are cards meet readers; nil where nothing can be a card.
    ///   - app: what the app declares of itself; nil for what the process has.
    ///   - isOfTest: whether delegates and completion handlers are called within the environment.
    ///   - gate: where the service that reads in the background is asked for the reader; nil where it is not.
    ///   - recorder: what keeps all that goes on; the reader is one that it has wrapped.
    ///   - recordingError: why a recording that was asked for can't be made or replayed.
    ///   - onSessionEnd: called after each session, when its reader is free again; on any thread.
    public init(
        reader: Reader,
        clock: any RuntimeClock = SystemClock.shared,
        sheet: any ScanSheet = HiddenSheet(),
        arbiter: SessionArbiter = SessionArbiter(),
        limits: SessionLimits = SessionLimits(),
        cardPort: (any CardReaderPort)? = nil,
        app: AppProperties? = nil,
        isOfTest: Bool = false,
        gate: ReaderGate? = nil,
        recorder: Recorder? = nil,
        recordingError: RecordingError? = nil,
        onSessionEnd: (@Sendable () -> Void)? = nil
    ) {
        self.reader = reader
        self.clock = clock
        self.sheet = sheet
        self.arbiter = arbiter
        self.limits = limits
        self.cardPort = cardPort
        self.app = app
        self.isOfTest = isOfTest
        turn = isOfTest ? ActingTurn() : nil
        self.gate = gate
        self.recorder = recorder
        self.recordingError = recordingError
        self.onSessionEnd = onSessionEnd
    }

    /// The environment of a test, for the task that set it and its children.
    @TaskLocal public static var scoped: NFCEnvironment?

    /// The environment that a session made now takes.
    public static var current: NFCEnvironment {
        scoped ?? .process
    }

    /// The reader's driver; nil when there is no reader.
    public var driver: (any ReaderDriver)? {
        switch reader {
        case .field(let driver): driver
        case .discovering(let driver): driver
        case .none: nil
        }
    }

    /// Calls an app on its queue, within the environment where that is one of a test: a block on a queue is not of the
    /// task that gave it, and would lose the environment.
    package func call(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        guard isOfTest else { return queue.async(execute: work) }
        callsUnderWay.withLock { $0 += 1 }
        queue.async { [self] in
            NFCEnvironment.$scoped.withValue(self, operation: work)
            callsUnderWay.withLock { $0 -= 1 }
        }
    }

    /// Whether every session of a test has ended, and every delegate and completion handler has been called.
    package var hasNothingUnderWay: Bool { arbiter.isIdle && callsUnderWay.withLock { $0 == 0 } }

    func didEndSession() {
        onSessionEnd?()
    }
}

/// What an app declares of itself, in its property list and in its entitlements, as data.
///
/// ```swift
/// AppProperties(
///     infoPlist: ["NFCReaderUsageDescription": "To read your ticket."],
///     entitlements: ["com.apple.developer.nfc.readersession.formats": ["TAG"]]
/// )
/// ```
public struct AppProperties: Sendable, Hashable {
    /// The value of a key: a text, a list of texts, or a flag.
    public struct Value: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
        ExpressibleByBooleanLiteral
    {
        /// The texts; none for a flag that is not set.
        public var texts: [String]

        /// Creates a value.
        public init(_ texts: [String]) { self.texts = texts }
        public init(stringLiteral text: String) { texts = [text] }
        public init(arrayLiteral texts: String...) { self.texts = texts }
        public init(booleanLiteral isSet: Bool) { texts = isSet ? ["true"] : [] }
    }

    /// The property list; nil when the app has none, and nothing is asked of it.
    public var infoPlist: [String: Value]?
    /// The entitlements; nil when the app has none, and nothing is asked of them.
    public var entitlements: [String: Value]?
    /// Whether what is missing ends the process, and a list that is not there counts as an empty one.
    public var isStrict: Bool

    /// Creates what an app declares.
    ///
    /// - Parameters:
    ///   - infoPlist: the property list.
    ///   - entitlements: the entitlements.
    ///   - isStrict: whether what is missing ends the process.
    public init(infoPlist: [String: Value]? = nil, entitlements: [String: Value]? = nil, isStrict: Bool = false) {
        self.infoPlist = infoPlist
        self.entitlements = entitlements
        self.isStrict = isStrict
    }
}
