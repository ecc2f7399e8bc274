// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import NFCTestKit
import PropertyTesting
import Testing

/// Any order of what apps and people do with several sessions, against what must always be so.
@Suite(.timeLimit(.minutes(5))) struct `Any order of calls on sessions` {
    @Test func `A session reports its events in order, and its end once and last`() async throws {
        try await checkRule(cases: 300, of: { SessionStory(&$0) }) { story in
            try await withField { field in
                var stage = try SessionStage(story, field)
                return try await stage.play(story.steps)
            }
        }
    }
}

/// Plays a story in a field, and looks at what app and person see after each step.
private struct SessionStage {
    private let field: TestField
    private var actors: [SessionActor]
    private var tags: [Int: NearbyTag] = [:]
    private var near: Set<Int> = []
    private var problems: [String] = []

    init(_ story: SessionStory, _ field: TestField) throws {
        self.field = field
        actors = try story.kinds.map(SessionActor.init)
    }

    /// - Returns: what is wrong; nil when nothing is.
    mutating func play(_ steps: [SessionStory.Step]) async throws -> String? {
        for step in steps {
            try await take(step)
            if !problems.isEmpty { return problems.joined(separator: "\n") }
        }
        for actor in actors where actor.isUnderWay { actor.session.invalidate() }
        // By then every sheet has closed, and all calls were made.
        await field.wait(for: .seconds(10))
        for (number, actor) in actors.enumerated() {
            let entries = actor.record.entries
            expect(entries.ends == 1 || !actor.hasBegun && entries.ends == 0, "session \(number): \(entries.ends) ends")
            expect(entries.commands == entries.completions, "session \(number): a command is not answered once")
            expect(!actor.session.isReady, "session \(number) is ready after its end")
            problems += entries.problems.map { "session \(number): \($0)" }
        }
        if let last = field.sheetHistory.last {
            expect(last.content.state == .dismissed, "the sheet stays: \(last.content)")
        }
        return problems.isEmpty ? nil : problems.joined(separator: "\n")
    }

    private mutating func expect(_ holds: Bool, _ problem: String) {
        if !holds { problems.append(problem) }
    }

    private mutating func take(_ step: SessionStory.Step) async throws {
        let before = actors.map { $0.record.entries.ends }
        let active = actors.firstIndex { $0.session.isReady }
        try await perform(step)
        await field.settle()
        for (number, actor) in actors.enumerated() where actor.record.entries.ends > before[number] {
            expect(isCause(step, of: actor, number, active), "\(step) ended session \(number): \(actor.record.entries)")
        }
        if case .cancel = step, let active {
            expect(actors[active].record.entries.ends == 1, "Cancel did not end session \(active)")
        }
        switch step {
        case .invalidate(let number) where actors.indices.contains(number),
            .fail(let number) where actors.indices.contains(number):
            expect(actors[number].record.entries.ends == 1, "\(step) did not end the session")
        default: break
        }
        look(after: step)
    }

    /// Whether a step may end a session in the way in which it has ended.
    private func isCause(_ step: SessionStory.Step, of actor: SessionActor, _ number: Int, _ active: Int?) -> Bool {
        let code = actor.record.entries.code
        if actor.kind == .firstMessage, code == .readerSessionInvalidationErrorFirstNDEFTagRead { return true }
        switch step {
        case .invalidate(number), .fail(number):
            return code == .readerSessionInvalidationErrorUserCanceled
        case .cancel:
            return number == active && code == .readerSessionInvalidationErrorUserCanceled
        case .wait:
            let lasted = actor.activeSince.map { field.now - $0 } ?? .zero
            return lasted >= .seconds(59) && code == .readerSessionInvalidationErrorSessionTimeout
        default: return false
        }
    }

    /// Checks which session is ready, and the content of the sheet.
    private mutating func look(after step: SessionStory.Step) {
        let ready = actors.indices.filter { actors[$0].session.isReady }
        let underWay = actors.indices.filter { actors[$0].isUnderWay }
        expect(ready.count == min(1, underWay.count), "after \(step), \(ready) are ready of \(underWay)")
        guard let only = ready.first else { return }
        actors[only].activeSince = actors[only].activeSince ?? field.now
        let actor = actors[only]
        expect(actor.record.entries.hasBecomeActive, "after \(step), session \(only) is ready and was not told")
        guard let content = field.sheetHistory.last?.content else {
            return expect(false, "after \(step), session \(only) has no sheet")
        }
        expect(content.canCancel, "after \(step), session \(only) shows \(content)")
        expect(
            content.message == actor.alertMessage,
            "after \(step), session \(only) shows \"\(content.message)\", not \"\(actor.alertMessage)\""
        )
    }

    private mutating func perform(_ step: SessionStory.Step) async throws {
        switch step {
        case .bring(let number):
            guard near.insert(number).inserted else { return }
            if let tag = tags[number] { return try await field.bring(tag) }
            tags[number] = try await field.bring(.product("NTAG213", holding: .uri("https://example.com/\(number)")))
        case .takeAway(let number):
            if near.remove(number) != nil { try await field.takeAway(tags[number]) }
        case .wait(let milliseconds): await field.wait(for: .milliseconds(milliseconds))
        case .cancel:
            // Nobody presses a button that is not there.
            if actors.contains(where: \.session.isReady) { try await field.cancelSheet() }
        case .begin(let number), .invalidate(let number), .fail(let number), .restart(let number), .connect(let number),
            .read(let number), .message(let number, _):
            if actors.indices.contains(number) { actors[number].perform(step) }
        }
    }
}
