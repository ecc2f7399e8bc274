// SPDX-License-Identifier: Apache-2.0

package struct SessionStateMachine: Sendable {
    package enum Phase: Sendable, Equatable {
        /// Created, but not begun.
        case created
        /// Begun; waiting for earlier sessions.
        case queued
        /// The sheet appears. The app learns nothing yet.
        case appearing
        case polling
        /// Tags were passed to the app. The reader does not poll until the app restarts polling.
        case paused
        /// Ended. This state is final.
        case ended(SessionEnd)
    }

    package enum Event: Sendable {
        case begin
        case turnGranted
        case turnRefused
        case sheetAppeared
        case tagsFound
        case restartPolling
        case tagConnected
        case tagTimerFired
        case sessionTimerFired
        /// The app ends the session, with or without an error message for the sheet.
        case invalidate(errorMessage: String?)
        case userCanceled
        case firstMessageRead
        case readerFailed(SessionEnd)
        /// The app set another alert message.
        case alertMessageChanged
    }

    package enum Action: Sendable, Equatable {
        case requestTurn
        case withdrawRequest
        case presentSheet
        /// Report `sheetAppeared` when the sheet is up.
        case awaitSheet
        case startSessionTimer
        case startTagTimer
        case cancelTagTimer
        case notifyActive
        case startPolling
        /// Look for tags again, after the reader's pause.
        case resumePolling
        case dropTags
        /// The app's tags become unavailable, because one was connected for too long.
        case expireTags
        case notifyTags
        case updateSheetMessage
        case showScanning
        case showReady
        case showSuccess
        case showFailure(String)
        case dismissSheet
        /// Stop timers and polling. After the running commands, perform `notifyEnded`.
        case shutDown(SessionEnd)
        /// Report the end, outside of the call that caused it, and then pass the reader on.
        case notifyEnded(SessionEnd)
    }

    package private(set) var phase: Phase = .created

    package init() {}

    package var isEnded: Bool {
        if case .ended = phase { return true }
        return false
    }

    package var isActive: Bool { phase == .polling || phase == .paused }

    /// Handles an event. Returns the actions to perform, in order; empty when the event has no meaning in this phase.
    package mutating func handle(_ event: Event) -> [Action] {
        switch (phase, event) {
        case (.created, .begin):
            phase = .queued
            return [.requestTurn]
        case (.queued, .turnGranted):
            phase = .appearing
            return [.presentSheet, .awaitSheet]
        case (.appearing, .sheetAppeared):
            phase = .polling
            return [.startSessionTimer, .notifyActive, .startPolling]
        case (.queued, .turnRefused):
            phase = .ended(.systemBusy)
            return [.notifyEnded(.systemBusy)]
        case (.polling, .tagsFound):
            phase = .paused
            return [.showScanning, .notifyTags]
        case (.paused, .restartPolling):
            phase = .polling
            return [.cancelTagTimer, .dropTags, .showReady, .resumePolling]
        case (.paused, .tagConnected):
            return [.startTagTimer]
        case (.paused, .tagTimerFired):
            return [.expireTags]
        case (.appearing, .alertMessageChanged), (.polling, .alertMessageChanged), (.paused, .alertMessageChanged):
            return [.updateSheetMessage]
        default:
            return end(on: event)
        }
    }

    private mutating func end(on event: Event) -> [Action] {
        switch (phase, event) {
        case (.ended, _):
            return []
        case (_, .invalidate(let message)):
            return finish(.userCanceled, sheet: message.map { .showFailure($0) } ?? .showSuccess)
        case (_, .userCanceled):
            return finish(.userCanceled, sheet: .dismissSheet)
        case (_, .sessionTimerFired):
            return finish(.timeout, sheet: .dismissSheet)
        case (_, .firstMessageRead):
            return finish(.firstMessageRead, sheet: .showSuccess)
        case (_, .readerFailed(let end)):
            return finish(end, sheet: .dismissSheet)
        default:
            return []
        }
    }

    private mutating func finish(_ end: SessionEnd, sheet: Action) -> [Action] {
        let before = phase
        phase = .ended(end)
        switch before {
        case .created: return [.notifyEnded(end)]
        case .queued: return [.withdrawRequest, .notifyEnded(end)]
        default: return [.dropTags, sheet, .shutDown(end)]
        }
    }
}

/// Why a session ended.
public enum SessionEnd: Sendable, Hashable {
    /// The user cancelled the sheet, or the app invalidated the session.
    case userCanceled
    /// The session reached its limit of 60 seconds.
    case timeout
    /// The reader failed. The reason is a sentence for people.
    case terminatedUnexpectedly(reason: String)
    /// The app went to the background.
    case appInBackground
    /// Another session's sheet was still visible, and the policy is
    /// ``SessionArbiter/BusyPolicy/refuseWhileSheetLeaves``.
    case systemBusy
    /// The phone's NFC radio is switched off.
    case radioDisabled
    /// The session was for a single message, which has been read.
    case firstMessageRead
    /// The reader can't do what the session needs. The reason is a sentence for people.
    case unsupported(reason: String)
}

/// The time limits of a session. An app can't extend them.
public struct SessionLimits: Sendable, Hashable {
    /// The maximum duration of a session.
    public var session: Duration = .seconds(60)
    /// How long a tag can stay connected. After that, polling has to find it again.
    public var connectedTag: Duration = .seconds(20)
    /// How long the sheet shows the result.
    public var sheetDismissal: Duration = .milliseconds(2500)
    /// The polling interval for a reader that can't report arrivals.
    public var pollingInterval: Duration = .milliseconds(100)
    /// How long the sheet takes to appear; then the session becomes active. With zero, that happens within `begin()`.
    public var sheetAppearance: Duration = .zero
    /// How long the reader pauses when polling is restarted, before it looks for tags.
    public var pollingPause: Duration = .zero
    /// How long after the last command the end of a session is reported. With zero, the call that ended the session
    /// may still be running.
    public var endReport: Duration = .zero

    /// Creates the limits of a phone, without its pauses.
    public init() {}

    /// The limits and the pauses of a phone. No source gives the pauses exactly.
    public static var phone: SessionLimits {
        var limits = SessionLimits()
        limits.sheetAppearance = .milliseconds(300)
        limits.pollingPause = .milliseconds(250)
        limits.endReport = .milliseconds(50)
        return limits
    }

    /// Creates the limits of a phone, without its pauses, but with this duration for the session and the connected tag.
    /// For tests that don't test limits and may be slow on a busy machine.
    package init(lasting duration: Duration) { (session, connectedTag) = (duration, duration) }
}
