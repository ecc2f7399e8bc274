// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import SystemLibrary
public import TagLink
import TagProtocols

/// A reader session: it waits for its turn, shows the sheet, finds tags, and ends once.
///
/// All methods may be called from any thread. What happens is told to the observer, one event at a time and in order.
public final class ReaderSession: Sendable {
    /// What a session tells its observer.
    public enum Event: Sendable {
        /// The sheet is up and the reader looks for tags.
        case becameActive
        /// Tags were found; the reader stops looking until ``ReaderSession/restartPolling()``.
        case detected([DetectedTag])
        /// The session is over. The last event.
        case ended(SessionEnd)
    }

    struct State {
        var machine = SessionStateMachine()
        var sheet = SheetStateMachine()
        var alertMessage = ""
        var drawsErrorSymbol = true
        var observer: (@Sendable (Event) -> Void)?
        var actions: [SessionAction] = []
        var isActing = false

        var found: [DetectedTag] = []
        var connected: DetectedTag?
        /// When the connected tag had its last command, and whether it is being asked whether it is near.
        var lastContact: Duration = .zero
        var isAsking = false
        /// Stays of tags that were reported and have not left since.
        var reported: Set<TagStay> = []
        var poll = PollState.idle
        /// Why the tag that is there can't be used for now; nil when the last look met no such thing.
        var obstacle: String?
        /// What polling was restarted with; nil for the session's own plan.
        var plan: PollingPlan?
        var presence: PresenceObservation?
        /// Keeps the reader from the service that reads in the background.
        var claim: (any ReaderClaim)?
        var hasClaimed = false

        var sessionTimer: ScheduledEvent?
        var tagTimer: ScheduledEvent?
        var pollTimer: ScheduledEvent?
        var sheetTimer: ScheduledEvent?
    }

    /// Where polling stands.
    enum PollState: Sendable {
        /// Nobody looks for tags.
        case idle
        /// An attempt is on its way.
        case looking
        /// The field changed while an attempt was on its way: look again.
        case lookingAndChanged
        /// The last attempt found nothing new; a change of the field, or the timer, begins the next.
        case waiting
    }

    /// The surroundings that the session was made in.
    public let environment: NFCEnvironment
    /// What the session looks for, unless polling was restarted with another plan.
    public let plan: PollingPlan
    /// The spans of time that rule the session.
    public let limits: SessionLimits

    let driver: any ReaderDriver
    let channel: TagChannel
    let state = Locked(State())
    /// Where mistakes are reported that show nowhere else.
    package let mistakes: MistakeReport

    /// Why the tag that is on the reader could not be used when it was looked for last, as a sentence; nil when nothing was
    /// in the way.
    package var obstacle: String? { state.withLock { $0.obstacle } }

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - environment: reader, clock, sheet and the rest.
    ///   - plan: what to look for.
    ///   - queue: the queue on whose threads the reader is worked with, unless its driver has a thread of its own; nil for
    ///     any.
    ///   - limits: the spans of time that rule the session; nil for the environment's.
    /// - Returns: nil when the environment has no reader.
    public init?(
        environment: NFCEnvironment,
        plan: PollingPlan = .ndef,
        queue: DispatchQueue? = nil,
        limits: SessionLimits? = nil
    ) {
        let source: any TagSource
        switch environment.reader {
        case .field(let driver):
            self.driver = driver
            source = FieldTagSource(driver: driver)
        case .discovering(let driver):
            self.driver = driver
            source = DiscoveringTagSource(driver: driver)
        case .none:
            return nil
        }
        self.plan = plan
        self.limits = limits ?? environment.limits
        self.environment = environment
        mistakes = MistakeReport(environment: environment)
        // A driver that waits is not let wait on the app's queue.
        channel = TagChannel(
            source: source,
            executor: driver.executor ?? QueueExecutor(target: queue),
            environment: environment
        )
    }

    /// Sets who is told what happens. Set it before ``begin()``.
    ///
    /// - Parameter observer: called one event at a time, in order, on any thread and under no lock. Released when the
    ///   session has ended.
    public func observe(_ observer: @escaping @Sendable (Event) -> Void) {
        state.withLock { $0.observer = observer }
    }

    // MARK: What an app does

    /// Begins the session, or queues it behind the active one. Does nothing the second time.
    public func begin() {
        handle(.begin)
    }

    /// Ends the session. Does nothing when it has ended.
    ///
    /// - Parameter errorMessage: what the sheet shows as the failure; nil for the check mark.
    public func invalidate(errorMessage: String? = nil) {
        handle(.invalidate(errorMessage: errorMessage))
    }

    /// Ends a session that was to read one message.
    public func endAfterFirstMessage() {
        handle(.firstMessageRead)
    }

    /// Ends the session because the reader can't go on.
    ///
    /// - Parameter end: the reason to give.
    public func fail(_ end: SessionEnd) {
        handle(.readerFailed(end))
    }

    /// Looks for tags again, by the session's own plan; the ones found before become unavailable. Does nothing while the
    /// session looks by that plan already.
    ///
    /// - Parameter skipsReported: goes on with the plan of the last restart, and leaves out tags that were reported before
    ///   and have not left the field since.
    public func restartPolling(skippingReported skipsReported: Bool = false) {
        restart(skipsReported ? currentPlan : plan, skippingReported: skipsReported)
    }

    /// Looks for tags again, by another plan, until the next restart; the ones found before become unavailable. Does nothing
    /// while the session looks by that plan already, or is not active.
    ///
    /// - Parameter plan: what to look for.
    public func restartPolling(with plan: PollingPlan) {
        restart(plan, skippingReported: false)
    }

    private func restart(_ plan: PollingPlan, skippingReported skipsReported: Bool) {
        let isNews = state.withLock { state in
            let isNews = state.machine.phase == .polling && plan != state.plan ?? self.plan
            guard isNews || state.machine.phase == .paused else { return false }
            state.plan = plan
            state.reported = skipsReported ? state.reported.union(state.found.map(\.stay)) : []
            return isNews
        }
        handle(.restartPolling)
        if isNews { fieldChanged() }
    }

    /// What the session looks for now.
    var currentPlan: PollingPlan { state.withLock { $0.plan } ?? plan }

    /// The text on the sheet.
    public var alertMessage: String {
        get { state.withLock { $0.alertMessage } }
        set {
            state.withLock { $0.alertMessage = newValue }
            handle(.alertMessageChanged)
        }
    }

    /// Whether the sheet draws the error symbol when the app ends the session with an error message. A session that
    /// reads messages by itself does not.
    public var drawsErrorSymbol: Bool {
        get { state.withLock { $0.drawsErrorSymbol } }
        set { state.withLock { $0.drawsErrorSymbol = newValue } }
    }

    /// Whether the session looks for tags or works with one.
    public var isActive: Bool {
        state.withLock { $0.machine.isActive }
    }

    /// Whether the session is over.
    public var hasEnded: Bool {
        state.withLock { $0.machine.isEnded }
    }

    /// The tag that was connected last, while it is available and has not left as far as is known.
    public var connectedTag: DetectedTag? {
        state.withLock { $0.connected }.flatMap { $0.isAvailable && !$0.hasLeft ? $0 : nil }
    }

    /// What the reader's links have counted since they were made.
    public var statistics: LinkStatistics {
        driver.statistics
    }
}
