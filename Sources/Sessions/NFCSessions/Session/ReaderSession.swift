// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import LinuxSupport
public import TagLink
import TagProtocols

/// A reader session: it waits for its turn, shows the sheet, finds tags, carries out commands, and ends once.
///
/// All methods may be called from any thread. The observer receives the events one at a time and in order.
///
/// The session's state is one value, `State`, behind one lock. It contains the queue of work for the reader: searches
/// for tags, and commands. This work runs on the actor, one item at a time and in order. The actor's executor is the
/// thread of the reader's driver. Only this work uses the tags.
public actor ReaderSession {
    /// An event for the session's observer.
    public enum Event: Sendable {
        /// The sheet is shown and the reader looks for tags.
        case becameActive
        /// Tags were found; the reader stops looking until ``ReaderSession/restartPolling(skippingReported:)``.
        case detected([ConnectableTag])
        /// The session is over. The last event.
        case ended(SessionEnd)
    }

    /// Work with the reader. The closure itself calls any completion handler.
    typealias Work = @Sendable (isolated ReaderSession) async -> Void

    struct State {
        var machine = SessionStateMachine()
        var sheet = SheetStateMachine()
        var alertMessage = ""
        var drawsErrorSymbol = true
        var observer: (@Sendable (Event) -> Void)?
        var actions: [SessionStateMachine.Action] = []
        var isActing = false

        /// The queued work for the reader, and the task that runs it; nil when no work is left.
        var work: [Work] = []
        var worker: Task<Void, Never>?

        var found: [ConnectableTag] = []
        var connected: ConnectableTag?
        /// The time of the connected tag's last command, and whether a presence check is under way.
        var lastContact: Duration = .zero
        var isAsking = false
        /// The visits of tags that were reported and have not left since.
        var reportedTags: Set<TagPresenceID> = []
        var poll = PollState.idle
        /// Why the tag on the reader can't be used at the moment; nil when the last search had no such problem.
        var obstacle: String?
        var plan: PollingPlan
        var presence: PresenceObservation?
        /// Reserves the reader against the background service.
        var claim: (any ReaderClaim)?
        var hasClaimed = false

        var sessionTimer: ScheduledEvent?
        var tagTimer: ScheduledEvent?
        var pollTimer: ScheduledEvent?
        var sheetTimer: ScheduledEvent?
    }

    enum PollState: Sendable {
        case idle
        case searching
        /// The field changed during an attempt, so another attempt follows.
        case searchingAndChanged
        /// The last attempt found nothing new. A change in the field, or the timer, starts the next attempt.
        case waiting
    }

    /// The beginning of the note in a test's trace about a session that can't begin.
    package static let refusalNote = "the session is refused: "

    /// The environment that the session was created in.
    public nonisolated let environment: NFCEnvironment
    /// The kinds of tags to look for, unless polling was restarted with another plan.
    public nonisolated let plan: PollingPlan
    /// The time limits of the session.
    public nonisolated let limits: SessionLimits
    /// Reports API misuse for which the app gets no error.
    package nonisolated let mistakes: MisuseReporter

    nonisolated let driver: any ReaderDriver
    nonisolated let source: TagSource
    nonisolated let executor: any SerialExecutor & TaskExecutor
    nonisolated let state: Locked<State>

    /// The tags of the last search, each with the handle that the session reported.
    var tags: [(handle: ConnectableTag, tag: ActivatedTag)] = []
    var selected: ConnectableTag?

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - environment: the reader, the clock, the sheet and the rest.
    ///   - plan: the kinds of tags to look for.
    ///   - queue: the queue for the work with the reader; nil for any queue. Ignored if the driver has its own thread.
    ///   - limits: the time limits of the session; nil for the environment's.
    /// - Returns: nil when the environment has no reader.
    public init?(
        environment: NFCEnvironment,
        plan: PollingPlan = .ndef,
        queue: DispatchQueue? = nil,
        limits: SessionLimits? = nil
    ) {
        guard let driver = environment.driver else { return nil }
        self.driver = driver
        source = TagSource(environment.reader)
        self.plan = plan
        self.limits = limits ?? environment.limits
        self.environment = environment
        mistakes = MisuseReporter(environment: environment)
        state = Locked(State(plan: plan))
        // A driver that blocks must not block the app's queue.
        executor = driver.executor ?? QueueExecutor(target: queue)
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Sets the observer. Call this before ``begin()``.
    ///
    /// - Parameter observer: called with one event at a time, in order, on any thread and never under a lock. The
    ///   session releases it after the last event.
    public nonisolated func observe(_ observer: @escaping @Sendable (Event) -> Void) {
        state.withLock { $0.observer = observer }
    }

    // MARK: Methods for the app

    /// Begins the session, or queues it behind the active session. A second call does nothing.
    public nonisolated func begin() { handle(.begin) }

    /// Ends the session. Does nothing if it has already ended.
    ///
    /// - Parameter errorMessage: the error message on the sheet; nil for the check mark.
    public nonisolated func invalidate(errorMessage: String? = nil) {
        handle(.invalidate(errorMessage: errorMessage))
    }

    package nonisolated func endAfterFirstMessage() { handle(.firstMessageRead) }

    /// Ends the session because the reader can't continue.
    public nonisolated func fail(_ end: SessionEnd) { handle(.readerFailed(end)) }

    /// Looks for tags again with the session's own plan. Tags that were found before become unavailable. Does nothing
    /// if the session is already looking with that plan.
    ///
    /// - Parameter skipsReported: whether to keep the plan of the last restart, and to skip tags that were reported
    ///   before and have not left the field since.
    public nonisolated func restartPolling(skippingReported skipsReported: Bool = false) {
        restart(skipsReported ? state.withLock { $0.plan } : plan, skippingReported: skipsReported)
    }

    /// Looks for tags again with another plan, until the next restart. Tags that were found before become unavailable.
    /// Does nothing if the session is already looking with that plan, or is not active.
    public nonisolated func restartPolling(with plan: PollingPlan) { restart(plan, skippingReported: false) }

    private nonisolated func restart(_ plan: PollingPlan, skippingReported skipsReported: Bool) {
        let isNewPlan = state.withLock { state in
            let isNewPlan = state.machine.phase == .polling && plan != state.plan
            guard isNewPlan || state.machine.phase == .paused else { return false }
            state.plan = plan
            state.reportedTags = skipsReported ? state.reportedTags.union(state.found.map(\.presence)) : []
            return isNewPlan
        }
        handle(.restartPolling)
        if isNewPlan { fieldChanged() }
    }

    /// The text on the sheet.
    public nonisolated var alertMessage: String {
        get { state.withLock { $0.alertMessage } }
        set {
            state.withLock { $0.alertMessage = newValue }
            handle(.alertMessageChanged)
        }
    }

    /// Whether the sheet draws the error symbol when the app ends the session with an error message. A session that
    /// reads messages by itself does not draw it.
    package nonisolated var drawsErrorSymbol: Bool {
        get { state.withLock { $0.drawsErrorSymbol } }
        set { state.withLock { $0.drawsErrorSymbol = newValue } }
    }

    /// Whether the session looks for tags or works with one.
    public nonisolated var isActive: Bool { state.withLock { $0.machine.isActive } }

    /// Whether the session is over.
    public nonisolated var hasEnded: Bool { state.withLock { $0.machine.isEnded } }

    /// A sentence that says why the last search could not use the tag on the reader; nil when there was no problem.
    package nonisolated var obstacle: String? { state.withLock { $0.obstacle } }

    /// The last connected tag, until polling is restarted or the session ends. It may have left.
    public nonisolated var connectedTag: ConnectableTag? { state.withLock { $0.connected } }

    /// The total counts of the reader's links.
    public nonisolated var statistics: LinkStatistics { driver.statistics }

    // MARK: The work with the reader

    nonisolated func enqueue(_ work: @escaping Work) {
        state.withLock { state in
            state.work.append(work)
            guard state.worker == nil else { return }
            state.worker = environment.within { Task(executorPreference: executor) { await self.carryOutWork() } }
        }
    }

    private func carryOutWork() async {
        while true {
            let batch = state.withLock { state in
                if state.work.isEmpty { state.worker = nil }
                defer { state.work = [] }
                return state.work
            }
            if batch.isEmpty { return }
            for work in batch { await work(self) }
        }
    }

    /// Cancels the current work and the queued work, because their results aren't needed any more.
    nonisolated func interrupt() {
        state.withLock { $0.worker }?.cancel()
        source.interrupt()
    }

    func forgetTags() {
        for (handle, _) in tags { handle.becomeUnavailable() }
        tags = []
        selected = nil
    }
}

/// A mistake in an app's code that causes no error, or an error that does not explain the mistake.
package enum APIMisuse: Sendable, Hashable {
    /// `begin()` was called on a session that has ended.
    case beginsAgain
    case beginsTwice
    /// `alertMessage` was set after the app had ended the session.
    case messageAfterEnd
    case waitsForTurn
    /// The delegate, an object of this class, was released before the session had reported anything useful to it.
    case delegateReleased(String)
    /// The delegate's methods are isolated to the main actor, but the session calls them on its own queue.
    case delegateOfMainActor
    /// The app lists none of the card's applications. The card is reported as a MIFARE card, or not at all.
    case noListedApplication(arrives: Bool)
    /// A tag of an ended session was used while another session has the reader.
    case tagOfOlderSession

    /// The beginning of the explanation of ``delegateReleased(_:)``.
    package static let releasedNote = "The delegate of a session was released"

    /// Sentences for the app's author: the mistake, and how to correct it.
    package var explanation: String {
        switch self {
        case .beginsAgain:
            "begin() was called on a session that has already ended. Create a new session."
        case .beginsTwice:
            "begin() was called twice on the same session. The second call does nothing: begin each session once."
        case .messageAfterEnd:
            """
            alertMessage was set on a session after invalidate(), so the sheet never shows the text. Set it before \
            invalidate(), or call invalidate(errorMessage:).
            """
        case .waitsForTurn:
            "A session waits for its turn, because another session is active. Invalidate the other session when it is done."
        case .delegateReleased(let name):
            """
            \(Self.releasedNote) (\(name)), so the session's results are lost. Keep a reference to the \
            delegate: the session holds it weakly.
            """
        case .delegateOfMainActor:
            """
            The delegate of a session belongs to the main actor, and the session calls it on another queue than the main \
            one. iOS 26 ends the app there. Give the session DispatchQueue.main as its queue.
            """
        case .noListedApplication(let arrives):
            """
            A card has none of the applications that the app lists, so it \
            \(arrives ? "is reported as .miFare and not as .iso7816" : "is not reported"). Add its application to \
            com.apple.developer.nfc.readersession.iso7816.select-identifiers in the app's Info.plist.
            """
        case .tagOfOlderSession:
            """
            A tag of a session that has ended was used while another session is active. Use the tags that the active \
            session has found.
            """
        }
    }
}

/// Reports the mistakes that an app makes with one session, each mistake only once.
package final class MisuseReporter: Sendable {
    private let environment: NFCEnvironment
    private let reportedMistakes = Locked<Set<APIMisuse>>([])

    package init(environment: NFCEnvironment) { self.environment = environment }

    /// Writes a line to standard error and to a test's trace, unless the mistake was already reported.
    package func add(_ mistake: APIMisuse) {
        if reportedMistakes.withLock({ $0.insert(mistake).inserted }) { environment.notice(mistake.explanation) }
    }
}
