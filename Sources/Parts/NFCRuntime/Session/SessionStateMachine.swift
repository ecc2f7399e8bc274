// SPDX-License-Identifier: Apache-2.0
/// The life of a reader session as a pure value: an event in, actions out.
package struct SessionStateMachine: Sendable {
    package enum Phase: Sendable, Equatable {
        /// Made, not begun.
        case created
        /// Begun, and waiting for the sessions before it.
        case queued
        /// Looking for tags.
        case polling
        /// Tags were given to the app; polling waits until the app restarts it.
        case paused
        /// Over. A dead session stays dead.
        case ended(SessionEnd)
    }

    package enum Event: Sendable {
        case begin
        case turnGranted
        case turnRefused
        case tagsFound
        case restartPolling
        case tagConnected
        case tagTimerFired
        case sessionTimerFired
        /// The app ends the session, with an error message for the sheet or without.
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
        case startSessionTimer
        case startTagTimer
        case cancelTagTimer
        case notifyActive
        case startPolling
        /// The tags that the app has are no longer available.
        case dropTags
        case notifyTags
        case updateSheetMessage
        case showScanning
        case showReady
        case showSuccess
        case showFailure(String)
        case dismissSheet
        /// Stop timers and polling; when the commands under way are through, tell of the end and hand on the reader.
        case shutDown(SessionEnd)
        case notifyEnded(SessionEnd)
    }

    package private(set) var phase: Phase = .created

    package init() {}

    package var isEnded: Bool {
        if case .ended = phase { return true }
        return false
    }

    package var isActive: Bool { phase == .polling || phase == .paused }

    /// Takes an event.
    ///
    /// - Returns: what to do, in this order. Empty when the event means nothing in this phase.
    package mutating func handle(_ event: Event) -> [Action] {
        switch (phase, event) {
        case (.created, .begin):
            phase = .queued
            return [.requestTurn]
        case (.queued, .turnGranted):
            phase = .polling
            return [.presentSheet, .startSessionTimer, .notifyActive, .startPolling]
        case (.queued, .turnRefused):
            phase = .ended(.systemBusy)
            return [.notifyEnded(.systemBusy)]
        case (.polling, .tagsFound):
            phase = .paused
            return [.showScanning, .notifyTags]
        case (.paused, .restartPolling):
            phase = .polling
            return [.cancelTagTimer, .dropTags, .showReady, .startPolling]
        case (.paused, .tagConnected):
            return [.startTagTimer]
        case (.paused, .tagTimerFired):
            return [.dropTags]
        case (.polling, .alertMessageChanged), (.paused, .alertMessageChanged):
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

/// The spans of time that rule a session. They can't be extended by an app.
public struct SessionLimits: Sendable, Hashable {
    /// How long a session lasts at most.
    public var session: Duration = .seconds(60)
    /// How long a tag stays connected at most, after which it has to be found again.
    public var connectedTag: Duration = .seconds(20)
    /// How long the sheet shows the result before it is gone.
    public var sheetDismissal: Duration = .milliseconds(2500)
    /// How often a reader that can't tell when a tag comes is polled.
    public var pollingInterval: Duration = .milliseconds(100)

    /// Creates the limits of a phone.
    public init() {}

    /// Creates the limits of a phone, but for the session and the connected tag: for what is not about limits and may take
    /// long on a machine that is busy.
    package init(lasting duration: Duration) {
        (session, connectedTag) = (duration, duration)
    }
}
