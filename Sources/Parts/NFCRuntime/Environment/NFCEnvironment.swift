// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import SystemLibrary
public import TagLink
import VisibleText

/// Everything around a session: the reader, the time, the sheet, and whose turn it is.
///
/// A session takes the environment that is current when it is made: a task-local one where a test has set it, and
/// the process's own otherwise.
public final class NFCEnvironment: Sendable {
    /// The reader, or why there is none.
    public typealias Reader = AttachedReader

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

    /// What a test kit knows the environment by; nil outside of its tests.
    package let place: (any TestPlace)?

    /// Lets one thread act for the sessions of a test at a time; nil outside of tests.
    let turn: ActingTurn?
    /// What asks the service that reads in the background for the reader; nil where nothing asks it.
    public let gate: (any ReaderSharing)?
    /// What belongs to the reader and is told when a session has ended; nil where nothing is.
    package let companion: (any EnvironmentCompanion)?

    private let onNotice: (@Sendable (String) -> Void)?
    /// The sentences that were said once for all.
    private let noticed = Locked<Set<String>>([])

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
    ///   - gate: what asks the service that reads in the background for the reader; nil where nothing asks it.
    ///   - onNotice: called with each line about the app that goes to standard error; on any thread.
    public convenience init(
        reader: Reader,
        clock: any RuntimeClock = SystemClock.shared,
        sheet: any ScanSheet = HiddenSheet(),
        arbiter: SessionArbiter = SessionArbiter(),
        limits: SessionLimits = SessionLimits(),
        cardPort: (any CardReaderPort)? = nil,
        app: AppProperties? = nil,
        isOfTest: Bool = false,
        gate: (any ReaderSharing)? = nil,
        onNotice: (@Sendable (String) -> Void)? = nil
    ) {
        self.init(
            reader: reader,
            clock: clock,
            sheet: sheet,
            arbiter: arbiter,
            limits: limits,
            cardPort: cardPort,
            app: app,
            isOfTest: isOfTest,
            gate: gate,
            onNotice: onNotice,
            place: nil
        )
    }

    /// Creates an environment, also one with a companion or of a test kit.
    ///
    /// - Parameters:
    ///   - companion: what belongs to the reader and is told when a session has ended.
    ///   - place: what the test kit knows the environment by.
    package init(
        reader: Reader,
        clock: any RuntimeClock,
        sheet: any ScanSheet = HiddenSheet(),
        arbiter: SessionArbiter = SessionArbiter(),
        limits: SessionLimits = SessionLimits(),
        cardPort: (any CardReaderPort)? = nil,
        app: AppProperties? = nil,
        isOfTest: Bool = true,
        gate: (any ReaderSharing)? = nil,
        companion: (any EnvironmentCompanion)? = nil,
        onNotice: (@Sendable (String) -> Void)? = nil,
        place: (any TestPlace)?
    ) {
        self.place = place
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
        self.companion = companion
        self.onNotice = onNotice
    }

    /// The environment of a test, for the task that set it and its children.
    @TaskLocal public static var scoped: NFCEnvironment?

    /// The environment of the test to which the caller belongs: the task's, else what a test kit knows; nil outside of tests.
    package static var ofTest: NFCEnvironment? {
        scoped ?? searchOfTestKit.withLock { $0 }?.find()
    }

    /// Finds the test to which a caller belongs whose task does not say so. A test kit sets it, once.
    package static let searchOfTestKit = Locked<TestSearch?>(nil)

    /// The reader's driver; nil when there is no reader.
    public var driver: (any ReaderDriver)? { reader.driver }

    /// Calls an app on its queue, within the environment where that is one of a test: a block on a queue is not of the
    /// task that gave it, and would lose the environment.
    package func call(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        within {
            queue.async { self.within(work) }
        }
    }

    /// Does something as the test does it whose environment this is; as it is outside of tests.
    func within<Value>(_ work: () throws -> Value) rethrows -> Value {
        guard isOfTest else { return try work() }
        return try NFCEnvironment.$scoped.withValue(self, operation: work)
    }

    /// Says something to the app's author: one line on standard error, and in the trace of a test.
    ///
    /// - Parameters:
    ///   - text: what is said.
    ///   - source: what the line begins with.
    package func notice(_ text: String, from source: String = "CoreNFC") {
        let text = VisibleText.escaped(text)
        if place?.prints(text) != false { OutputDescriptor.standardError.write("\(source): \(text)\n") }
        onNotice?(text)
    }

    /// Says something to the app's author that holds for the whole process, such as why there is no reader: each sentence
    /// once, however many sessions it ends.
    ///
    /// - Parameters:
    ///   - text: the sentence.
    ///   - source: what the line begins with.
    package func noticeOnce(_ text: String, from source: String = "CoreNFC") {
        if noticed.withLock({ $0.insert(text).inserted }) { notice(text, from: source) }
    }

    func didEndSession() {
        companion?.sessionEnded()
    }
}
