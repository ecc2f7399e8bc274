// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import PropertyTesting
import TagLink
import Testing
import VirtualTags

/// Checks the invariants of three sessions, for any actions in any order.
@Suite(.timeLimit(.minutes(1))) struct `Anything that is done to sessions` {
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

    @Test func `ends each of them once, one after the other, and nothing comes after an end`() async throws {
        try await checkRule(cases: 80) { draws in
            draws.array(count: 1...14) { Step(&$0) }
        } problem: { steps in
            let field = VirtualField()
            let tag = VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
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
            if ended.contains(name) { return "\(event) comes after the end." }
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

    /// What is wrong with the sheets: each begins ready, shows one result at most, and goes before the next one.
    private static func sheetProblem(_ history: [String]) -> String? {
        let states = history.compactMap { $0.split(separator: ":").first.map(String.init) }
        if let first = states.first, first != "ready" { return "The first sheet is \(first)." }
        for (state, next) in zip(states, states.dropFirst()) {
            let may: Set<String> =
                switch state {
                case "ready", "scanning": ["ready", "scanning", "success", "failure", "dismissed"]
                case "dismissed": ["ready"]
                default: ["dismissed"]
                }
            if !may.contains(next) { return "\(next) is drawn after \(state)." }
        }
        return nil
    }
}
