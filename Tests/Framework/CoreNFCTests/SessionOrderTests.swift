// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCTestKit
import PropertyTesting
import TagLink
import Testing

/// Random orders of what apps and people do with several sessions, against what must always be so.
@Suite(.timeLimit(.minutes(5))) struct SessionOrderTests {
    @Test func `Any order of calls: a session reports its events in order, and its end once and last`() async throws {
        try await checkRule(cases: 300, of: { SessionStory(&$0) }) { story in
            try await withField { field in
                var stage = SessionStage(story, field)
                return try await stage.play(story.steps)
            }
        }
    }
}

/// Sessions, and what happens to them.
private struct SessionStory: Sendable {
    enum Kind: CaseIterable { case tags, messages, firstMessage, cards }

    /// What an app does with the session of a number, or a person with the tag of a number.
    enum Act { case begin, invalidate, fail, restart, connect, read, message, bring, takeAway, cancel, wait }

    struct Step: Sendable {
        var act: Act
        var number: Int
        /// How much time passes.
        var milliseconds: Int

        private static let acts: [Act] = [
            .begin, .begin, .begin, .begin, .bring, .bring, .takeAway, .invalidate, .fail, .restart, .connect, .connect,
            .read, .message, .cancel, .wait, .wait,
        ]

        init(_ draws: inout Draws) {
            act = draws.element(of: Self.acts)
            number = draws.int(in: 0...2)
            milliseconds = draws.element(of: [10, 600, 3_000, 21_000, 59_000, 61_000])
            // There are two tags.
            if act == .bring || act == .takeAway { number %= 2 }
        }
    }

    var kinds: [Kind]
    var steps: [Step]

    init(_ draws: inout Draws) {
        kinds = draws.array(count: 1...3) { $0.element(of: Kind.allCases) }
        steps = draws.array(count: 1...14) { Step(&$0) }
    }
}

/// The calls of a session's delegate and completion handlers, and what is wrong with their order.
private struct SessionRecord: Sendable {
    var isActive = false
    var ends: [Int] = []
    /// The last tags.
    var tags = Shared<DelegateEvent?>(nil)
    /// How many commands were begun, and how many completion handlers were called.
    var commands = 0
    var completions = 0
    var problems: [String] = []

    mutating func note(_ event: DelegateEvent) {
        if !ends.isEmpty { problems.append("\(event.text) after the end") }
        switch event {
        case .active:
            if isActive { problems.append("active twice") }
            isActive = true
        case .ended(let error): ends.append(error.errorCode)
        case .messages, .ndefTags, .tags:
            if !isActive { problems.append("\(event.text) before it is active") }
            tags = Shared(event)
        }
    }

    mutating func complete(_ error: (any Error)?) {
        completions += 1
        if code(of: error) == -1 { problems.append("a command fails with \(error as Any)") }
        // Commands that the end cuts off are answered before it, and later ones after it.
        if !ends.isEmpty, error == nil { problems.append("a command succeeds after the end") }
    }
}

/// A session of a story, with its delegate and the app's actions on it.
private struct SessionActor {
    let kind: SessionStory.Kind
    let session: NFCReaderSession
    /// Kept, for a session holds its delegate weakly.
    private let delegate: Recorder
    private let stored = Locked(SessionRecord())
    private(set) var hasBegun = false
    private(set) var alertMessage = ""

    init(_ kind: SessionStory.Kind) {
        self.kind = kind
        let stored = stored
        let hook: Recorder.Hook = { _, event in stored.withLock { $0.note(event) } }
        switch kind {
        case .tags:
            let delegate = TagDelegate(hook)
            (self.delegate, session) = (delegate, ndefSession(delegate))
        case .messages, .firstMessage:
            let delegate = MessageDelegate(hook)
            (self.delegate, session) = (delegate, ndefSession(delegate, once: kind == .firstMessage))
        case .cards:
            let delegate = TagSessionDelegate(hook)
            (self.delegate, session) = (delegate, tagSession(delegate))
        }
    }

    var record: SessionRecord { stored.withLock { $0 } }
    /// Whether it waits for its turn or is active.
    var isUnderWay: Bool { hasBegun && record.ends.isEmpty }

    /// Begins a command, and returns what to call with its error.
    private func command() -> @Sendable ((any Error)?) -> Void {
        stored.withLock { $0.commands += 1 }
        return { [stored] error in stored.withLock { $0.complete(error) } }
    }

    mutating func perform(_ act: SessionStory.Act) {
        let (ndef, cards) = (session as? NFCNDEFReaderSession, session as? NFCTagReaderSession)
        switch (act, record.tags.value) {
        case (.begin, _):
            if record.ends.isEmpty { hasBegun = true }
            session.begin()
        case (.invalidate, _): session.invalidate()
        case (.fail, _): session.invalidate(errorMessage: "It failed.")
        case (.restart, _):
            ndef?.restartPolling()
            cards?.restartPolling()
        case (.message, _):
            alertMessage += "."
            session.alertMessage = alertMessage
        case (.connect, .tags(let tags)): cards?.connect(to: tags[0], completionHandler: command())
        case (.connect, .ndefTags(let tags)): ndef?.connect(to: tags[0], completionHandler: command())
        case (.read, .tags(let tags)):
            guard case .miFare(let tag) = tags[0] else { return }
            let done = command()
            tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) { done($1) }
        case (.read, .ndefTags(let tags)):
            let done = command()
            tags[0].readNDEF { done($1) }
        default: break
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

    init(_ story: SessionStory, _ field: TestField) {
        self.field = field
        actors = story.kinds.map(SessionActor.init)
    }

    /// - Returns: what is wrong; nil when nothing is.
    mutating func play(_ steps: [SessionStory.Step]) async throws -> String? {
        for step in steps {
            try await take(step)
            if !problems.isEmpty { return "after \(step): " + problems.joined(separator: "\n") }
        }
        for actor in actors where actor.isUnderWay { actor.session.invalidate() }
        // By then every sheet has closed, and all calls were made.
        await field.wait(for: .seconds(10))
        for (number, actor) in actors.enumerated() {
            let record = actor.record
            expect(record.ends.count == 1 || !actor.hasBegun, "session \(number) has the ends \(record.ends)")
            expect(record.commands == record.completions, "session \(number): a command is not answered once")
            expect(!actor.session.isReady, "session \(number) is ready after its end")
            problems += record.problems.map { "session \(number): \($0)" }
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
        let before = actors.map(\.isUnderWay)
        let active = actors.firstIndex { $0.session.isReady }
        try await perform(step)
        await field.settle()
        for (number, actor) in actors.enumerated() where before[number] && !actor.isUnderWay {
            // What an app, a person or the time may end, and with which code.
            let isOwn = [.invalidate, .fail].contains(step.act) && step.number == number
            let isCancelled = step.act == .cancel && number == active
            let code = isOwn || isCancelled ? 200 : step.act == .wait ? 201 : 0
            let isFirst = actor.kind == .firstMessage && actor.record.ends == [204]
            expect(actor.record.ends == [code] || isFirst, "session \(number) has the ends \(actor.record.ends)")
        }
        if step.act == .cancel, let active { expect(!actors[active].isUnderWay, "session \(active) is not cancelled") }
        let ready = actors.indices.filter { actors[$0].session.isReady }
        let underWay = actors.indices.filter { actors[$0].isUnderWay }
        expect(ready.count == min(1, underWay.count), "\(ready) are ready of \(underWay)")
        guard let only = ready.first else { return }
        let (actor, content) = (actors[only], field.sheetHistory.last?.content)
        expect(actor.record.isActive, "session \(only) is ready and was not told")
        let isItsSheet = content?.canCancel == true && content?.message == actor.alertMessage
        expect(isItsSheet, "the sheet of session \(only) is \(content as Any)")
    }

    private mutating func perform(_ step: SessionStory.Step) async throws {
        let number = step.number
        switch step.act {
        case .bring:
            guard near.insert(number).inserted else { return }
            if let tag = tags[number] { return try await field.bring(tag) }
            tags[number] = try await field.bring(.product("NTAG213", holding: .uri("https://example.com/\(number)")))
        case .takeAway:
            if near.remove(number) != nil { try await field.takeAway(tags[number]) }
        case .wait: await field.wait(for: .milliseconds(step.milliseconds))
        case .cancel:
            // Nobody presses a button that is not there.
            if actors.contains(where: \.session.isReady) { try await field.cancelSheet() }
        default:
            if actors.indices.contains(number) { actors[number].perform(step.act) }
        }
    }
}
