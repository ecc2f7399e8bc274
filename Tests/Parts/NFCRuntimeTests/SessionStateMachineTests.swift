// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import Testing

@Suite struct `The state machine of a session` {
    typealias Machine = SessionStateMachine

    /// A machine in a given phase, reached by events alone.
    static func machine(after events: [Machine.Event]) -> Machine {
        var machine = Machine()
        for event in events { _ = machine.handle(event) }
        return machine
    }

    static let polling: [Machine.Event] = [.begin, .turnGranted]
    static let paused: [Machine.Event] = polling + [.tagsFound]

    @Test func `A session asks for its turn, then shows the sheet before it says that it is active and looks for tags`()
    {
        var machine = Machine()
        #expect(machine.handle(.begin) == [.requestTurn])
        #expect(machine.phase == .queued)
        #expect(machine.handle(.turnGranted) == [.presentSheet, .startSessionTimer, .notifyActive, .startPolling])
        #expect(machine.phase == .polling)
    }

    @Test func `Begin does nothing the second time`() {
        for events in [[.begin], Self.polling, Self.paused] {
            var machine = Self.machine(after: events)
            #expect(machine.handle(.begin).isEmpty)
        }
    }

    @Test func `Tags pause polling until it is restarted`() {
        var machine = Self.machine(after: Self.polling)
        #expect(machine.handle(.tagsFound) == [.showScanning, .notifyTags])
        #expect(machine.handle(.tagsFound).isEmpty)
        #expect(machine.handle(.restartPolling) == [.cancelTagTimer, .dropTags, .showReady, .startPolling])
        #expect(machine.handle(.restartPolling).isEmpty)
    }

    @Test func `A connected tag is dropped when its time is up`() {
        var machine = Self.machine(after: Self.paused)
        #expect(machine.handle(.tagConnected) == [.startTagTimer])
        #expect(machine.handle(.tagTimerFired) == [.dropTags])
        #expect(machine.phase == .paused)
    }

    @Test(arguments: [
        (Machine.Event.invalidate(errorMessage: nil), Machine.Action.showSuccess, SessionEnd.userCanceled),
        (.invalidate(errorMessage: "No."), .showFailure("No."), .userCanceled),
        (.userCanceled, .dismissSheet, .userCanceled),
        (.sessionTimerFired, .dismissSheet, .timeout),
        (.firstMessageRead, .showSuccess, .firstMessageRead),
        (
            .readerFailed(.terminatedUnexpectedly(reason: "Gone.")), .dismissSheet,
            .terminatedUnexpectedly(reason: "Gone.")
        ),
    ]) func `An active session ends once, with its reason`(
        event: Machine.Event,
        sheet: Machine.Action,
        end: SessionEnd
    ) {
        for events in [Self.polling, Self.paused] {
            var machine = Self.machine(after: events)
            #expect(machine.handle(event) == [.dropTags, sheet, .shutDown(end)])
            #expect(machine.phase == .ended(end))
        }
    }

    @Test func `A queued session that is invalidated takes its request back`() {
        var machine = Self.machine(after: [.begin])
        #expect(machine.handle(.invalidate(errorMessage: nil)) == [.withdrawRequest, .notifyEnded(.userCanceled)])
    }

    @Test func `A session that was refused its turn ends as busy`() {
        var machine = Self.machine(after: [.begin])
        #expect(machine.handle(.turnRefused) == [.notifyEnded(.systemBusy)])
    }

    @Test func `An event that comes too early or too late changes nothing`() {
        let cases: [(before: [Machine.Event], events: [Machine.Event])] = [
            (
                [],
                [
                    .turnGranted, .turnRefused, .tagsFound, .restartPolling, .tagConnected, .tagTimerFired,
                    .alertMessageChanged,
                ]
            ),
            ([.begin], [.begin, .tagsFound, .restartPolling, .tagConnected, .tagTimerFired, .alertMessageChanged]),
            (Self.polling, [.begin, .turnGranted, .turnRefused, .restartPolling, .tagConnected, .tagTimerFired]),
            (Self.paused, [.begin, .turnGranted, .turnRefused, .tagsFound]),
            // After a restart the time of the last connection is no more.
            (Self.paused + [.tagConnected, .restartPolling], [.tagConnected, .tagTimerFired]),
        ]
        for (before, events) in cases {
            let phase = Self.machine(after: before).phase
            for event in events {
                var machine = Self.machine(after: before)
                #expect(machine.handle(event).isEmpty, "\(before) \(event)")
                #expect(machine.phase == phase, "\(before) \(event)")
            }
        }
    }

    @Test func `A session that fails before its turn ends without a sheet`() {
        var created = Self.machine(after: [])
        #expect(created.handle(.readerFailed(.timeout)) == [.notifyEnded(.timeout)])
        #expect(created.phase == .ended(.timeout))
        #expect(created.handle(.begin).isEmpty)
        var queued = Self.machine(after: [.begin])
        #expect(queued.handle(.readerFailed(.radioDisabled)) == [.withdrawRequest, .notifyEnded(.radioDisabled)])
        #expect(queued.phase == .ended(.radioDisabled))
        #expect(queued.handle(.turnGranted).isEmpty)
    }

    @Test func `A dead session stays dead`() {
        let every: [Machine.Event] = [
            .begin, .turnGranted, .turnRefused, .tagsFound, .restartPolling, .tagConnected, .tagTimerFired,
            .sessionTimerFired, .invalidate(errorMessage: nil), .userCanceled, .firstMessageRead,
            .readerFailed(.timeout), .alertMessageChanged,
        ]
        for event in every {
            var machine = Self.machine(after: Self.polling + [.userCanceled])
            #expect(machine.handle(event).isEmpty)
            #expect(machine.phase == .ended(.userCanceled))
        }
    }
}
