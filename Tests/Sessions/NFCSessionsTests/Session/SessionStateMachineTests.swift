// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import PropertyTesting
import TagLink
import Testing
import VirtualTags

/// The life of a session: each event in each phase, and any events of three sessions in any order.
@Suite(.timeLimit(.minutes(1))) struct SessionStateMachineTests {
    typealias Machine = SessionStateMachine

    /// The phases, and the events that lead to each.
    private static let phases: [(phase: Machine.Phase, events: [Machine.Event])] = [
        (.created, []), (.queued, [.begin]), (.appearing, [.begin, .turnGranted]),
        (.polling, [.begin, .turnGranted, .sheetAppeared]),
        (.paused, [.begin, .turnGranted, .sheetAppeared, .tagsFound]),
        (.polling, [.begin, .turnGranted, .sheetAppeared, .tagsFound, .tagConnected, .restartPolling]),
        (.ended(.timeout), [.begin, .turnGranted, .sheetAppeared, .sessionTimerFired]),
    ]

    private static let gone = SessionEnd.terminatedUnexpectedly(reason: "Gone.")

    /// Every event, and how it ends an active session: with which sheet and which reason.
    private static let events: [(name: String, event: Machine.Event, end: (sheet: Machine.Action, end: SessionEnd)?)] =
        [
            ("begin", .begin, nil), ("granted", .turnGranted, nil), ("refused", .turnRefused, nil),
            ("appeared", .sheetAppeared, nil), ("found", .tagsFound, nil), ("restart", .restartPolling, nil),
            ("connected", .tagConnected, nil),
            ("tag timer", .tagTimerFired, nil), ("message", .alertMessageChanged, nil),
            ("timer", .sessionTimerFired, (.dismissSheet, .timeout)),
            ("invalidate", .invalidate(errorMessage: nil), (.showSuccess, .userCanceled)),
            ("error", .invalidate(errorMessage: "No."), (.showFailure("No."), .userCanceled)),
            ("cancel", .userCanceled, (.dismissSheet, .userCanceled)),
            ("read", .firstMessageRead, (.showSuccess, .firstMessageRead)),
            ("failed", .readerFailed(gone), (.dismissSheet, gone)),
        ]

    /// What the events that end no session do. What is not here does nothing.
    private static let steps: [(from: Machine.Phase, event: String, actions: [Machine.Action], to: Machine.Phase)] = [
        (.created, "begin", [.requestTurn], .queued),
        (.queued, "granted", [.presentSheet, .awaitSheet], .appearing),
        (.appearing, "message", [.updateSheetMessage], .appearing),
        (.appearing, "appeared", [.startSessionTimer, .notifyActive, .startPolling], .polling),
        (.queued, "refused", [.notifyEnded(.systemBusy)], .ended(.systemBusy)),
        (.polling, "found", [.showScanning, .notifyTags], .paused),
        (.polling, "message", [.updateSheetMessage], .polling),
        (.paused, "restart", [.cancelTagTimer, .dropTags, .showReady, .resumePolling], .polling),
        (.paused, "connected", [.startTagTimer], .paused),
        (.paused, "tag timer", [.expireTags], .paused),
        (.paused, "message", [.updateSheetMessage], .paused),
    ]

    @Test func `session state machine: every event in every phase has the actions and next phase of the table`() {
        for (phase, before) in Self.phases {
            for (name, event, end) in Self.events {
                var machine = Machine()
                for event in before { _ = machine.handle(event) }
                #expect(machine.phase == phase)
                let actions = machine.handle(event)
                let step = Self.steps.first { $0.from == phase && $0.event == name }
                var (expected, next) = (step?.actions ?? [], step?.to ?? phase)
                if let (sheet, end) = end, !phase.isEnded {
                    next = .ended(end)
                    switch phase {
                    case .created: expected = [.notifyEnded(end)]
                    case .queued: expected = [.withdrawRequest, .notifyEnded(end)]
                    default: expected = [.dropTags, sheet, .shutDown(end)]
                    }
                }
                #expect(actions == expected, "\(phase) \(name)")
                #expect(machine.phase == next, "\(phase) \(name)")
                #expect(machine.isEnded == next.isEnded && machine.isActive == (next == .polling || next == .paused))
            }
        }
    }

    // MARK: Three sessions in any order

    /// Something that an app, a person or the time does.
    private enum Step: Sendable {
        case begin(Int), invalidate(Int, String?), fail(Int), endAfterFirst(Int), restart(Int, Bool), message(Int)
        case bring, takeAway
        case wait(Int)

        init(_ draws: inout Draws) {
            let (kind, number) = (draws.int(in: 0...11), draws.int(in: 0...2))
            switch kind {
            case 0...3: self = .begin(number)
            case 4: self = .invalidate(number, nil)
            case 5: self = .invalidate(number, "No.")
            case 6: self = .fail(number)
            case 7: self = .endAfterFirst(number)
            case 8: self = .restart(number, draws.int(in: 0...1) == 1)
            case 9: self = .message(number)
            case 10: self = draws.int(in: 0...1) == 0 ? .bring : .takeAway
            default: self = .wait(draws.element(of: [1, 3, 20, 60]))
            }
        }
    }

    @Test func `three sessions, any events: each ends once, one at a time, and nothing follows an end`() async throws {
        try await checkRule(cases: 80) { draws in
            draws.array(count: 1...14) { Step(&$0) }
        } problem: { steps in
            let (field, tag) = (VirtualField(), ntag())
            let scene = Scene(.field(field))
            let sessions = try ["a", "b", "c"].map { try scene.session($0) }
            for step in steps {
                switch step {
                case .begin(let number): sessions[number].begin()
                case .invalidate(let number, let message): sessions[number].invalidate(errorMessage: message)
                case .fail(let number): sessions[number].fail(.timeout)
                case .endAfterFirst(let number): sessions[number].endAfterFirstMessage()
                case .restart(let number, let skips): sessions[number].restartPolling(skippingReported: skips)
                case .message(let number): sessions[number].alertMessage += "!"
                case .bring: field.bring(tag)
                case .takeAway: field.removeAll()
                case .wait(let seconds): scene.clock.advance(by: .seconds(seconds))
                }
            }
            for session in sessions { session.invalidate() }
            await scene.untilIdle()
            return await Self.eventProblem(scene) ?? Self.sheetProblem(scene.sheet.history)
        }
    }

    /// What is wrong with the events, up to the last end.
    private static func eventProblem(_ scene: Scene) async -> String? {
        var ended: Set<String> = []
        var active: String?
        while ended.count < 3, let event = await scene.event() {
            let name = String(event.prefix(1))
            if ended.contains(name) { return "\(event) after the end." }
            if event.hasSuffix("active") {
                if let active { return "\(event) while \(active) is." }
                active = name
            } else if event.contains("found") {
                if active != name { return "\(event), and it is not active." }
            } else {
                ended.insert(name)
                if active == name { active = nil }
            }
        }
        return nil
    }

    /// What is wrong with the sheets: each begins ready, shows one result at most, and leaves before the next one.
    private static func sheetProblem(_ history: [String]) -> String? {
        let states = history.compactMap { $0.split(separator: ":").first.map(String.init) }
        if let first = states.first, first != "ready" { return "The first sheet is \(first)." }
        for (state, next) in zip(states, states.dropFirst()) {
            let allowed: Set<String> =
                switch state {
                case "ready", "scanning": ["ready", "scanning", "success", "failure", "dismissed"]
                case "dismissed": ["ready"]
                default: ["dismissed"]
                }
            if !allowed.contains(next) { return "\(next) is drawn after \(state)." }
        }
        return nil
    }
}

extension SessionStateMachine.Phase {
    fileprivate var isEnded: Bool { if case .ended = self { true } else { false } }
}
