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
    enum Step: Sendable {
        case begin(Int), invalidate(Int), fail(Int), restart(Int), connect(Int), read(Int)
        case message(Int, String)
        case bring(Int), takeAway(Int), cancel
        /// So many milliseconds pass.
        case wait(Int)

        init(_ draws: inout Draws) {
            let kind = draws.int(in: 0...16)
            let number = draws.int(in: 0...2)
            switch kind {
            case 0...3: self = .begin(number)
            case 4...5: self = .bring(number % 2)
            case 6: self = .takeAway(number % 2)
            case 7: self = .invalidate(number)
            case 8: self = .fail(number)
            case 9: self = .restart(number)
            case 10...11: self = .connect(number)
            case 12: self = .read(number)
            case 13: self = .message(number, "Message \(draws.int(in: 0...9))")
            case 14: self = .cancel
            default: self = .wait(draws.element(of: [10, 600, 3_000, 21_000, 59_000, 61_000]))
            }
        }

        /// The session that the app does it with.
        var session: Int? {
            switch self {
            case .begin(let number), .invalidate(let number), .fail(let number), .restart(let number),
                .connect(let number), .read(let number), .message(let number, _):
                number
            case .bring, .takeAway, .cancel, .wait: nil
            }
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
private final class SessionRecord: Sendable {
    struct Entries: Sendable {
        var isActive = false
        var ends = 0
        var code: Int?
        /// How many commands were begun, and how many completion handlers were called.
        var commands = 0
        var completions = 0
        var problems: [String] = []
    }

    private let stored = Locked(Entries())
    private let found = Locked(Shared<DelegateEvent?>(nil))
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    var entries: Entries { stored.withLock { $0 } }
    /// The last tags.
    var tags: DelegateEvent? { found.withLock { $0.value } }

    /// Watches a session's queue.
    func watch(_ queue: DispatchQueue) { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }

    private func change(_ what: String, _ change: (inout Entries) -> Void) {
        let isOnQueue = DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
        stored.withLock { entries in
            if !isOnQueue { entries.problems.append("\(what) is reported on another queue") }
            change(&entries)
        }
    }

    func note(_ event: DelegateEvent) {
        change(event.text) { entries in
            if entries.ends > 0 { entries.problems.append("\(event.text) after the end") }
            switch event {
            case .active:
                if entries.isActive { entries.problems.append("active twice") }
                entries.isActive = true
            case .ended(let error):
                entries.ends += 1
                entries.code = error.errorCode
            case .messages, .ndefTags, .tags:
                if !entries.isActive { entries.problems.append("\(event.text) before it is active") }
            }
        }
        switch event {
        case .ndefTags, .tags: found.withLock { $0 = Shared(event) }
        default: break
        }
    }

    /// Begins a command.
    ///
    /// - Returns: what to call with its error.
    func command() -> @Sendable ((any Error)?) -> Void {
        stored.withLock { $0.commands += 1 }
        let calls = Locked(0)
        return { [self] error in
            let isSecond = calls.withLock { calls in
                calls += 1
                return calls > 1
            }
            change("a command's result") { entries in
                entries.completions += 1
                if isSecond { entries.problems.append("a completion handler is called twice") }
                if code(of: error) == -1 { entries.problems.append("a command fails with \(error as Any)") }
                // Commands that the end cuts off are answered before it, and later ones after it.
                if entries.ends > 0, error == nil { entries.problems.append("a command succeeds after the end") }
            }
        }
    }
}

/// A session of a story, with its delegate and the app's actions on it.
private struct SessionActor {
    let kind: SessionStory.Kind
    let session: NFCReaderSession
    let record = SessionRecord()
    /// Kept, for a session holds its delegate weakly.
    private let delegate: Recorder
    private(set) var hasBegun = false
    private(set) var alertMessage = ""
    /// The field's time at which the session was seen to be active.
    var activeSince: Duration?

    init(_ kind: SessionStory.Kind) {
        self.kind = kind
        let record = record
        let hook: Recorder.Hook = { _, event in record.note(event) }
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
        record.watch(session.sessionQueue)
    }

    /// Whether it waits for its turn or is active.
    var isUnderWay: Bool { hasBegun && record.entries.ends == 0 }

    mutating func perform(_ step: SessionStory.Step) {
        switch step {
        case .begin:
            if record.entries.ends == 0 { hasBegun = true }
            session.begin()
        case .invalidate: session.invalidate()
        case .fail: session.invalidate(errorMessage: "It failed.")
        case .restart:
            (session as? NFCNDEFReaderSession)?.restartPolling()
            (session as? NFCTagReaderSession)?.restartPolling()
        case .message(_, let text):
            session.alertMessage = text
            alertMessage = text
        case .connect:
            switch record.tags {
            case .tags(let tags):
                (session as? NFCTagReaderSession)?.connect(to: tags[0], completionHandler: record.command())
            case .ndefTags(let tags):
                (session as? NFCNDEFReaderSession)?.connect(to: tags[0], completionHandler: record.command())
            default: break
            }
        case .read:
            switch record.tags {
            case .tags(let tags):
                guard case .miFare(let tag) = tags[0] else { return }
                let done = record.command()
                tag.sendMiFareCommand(commandPacket: Data([0x30, 0])) { _, error in done(error) }
            case .ndefTags(let tags):
                let done = record.command()
                tags[0].readNDEF { _, error in done(error) }
            default: break
            }
        case .bring, .takeAway, .cancel, .wait: break
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
        if actor.kind == .firstMessage, code == 204 { return true }
        switch step {
        case .invalidate(number), .fail(number): return code == 200
        case .cancel: return number == active && code == 200
        case .wait:
            let lasted = actor.activeSince.map { field.now - $0 } ?? .zero
            return lasted >= .seconds(59) && code == 201
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
        expect(actor.record.entries.isActive, "after \(step), session \(only) is ready and was not told")
        guard let content = field.sheetHistory.last?.content else {
            return expect(false, "after \(step), session \(only) has no sheet")
        }
        expect(content.canCancel, "after \(step), session \(only) shows \(content)")
        expect(content.message == actor.alertMessage, "after \(step), session \(only) shows \"\(content.message)\"")
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
        default:
            if let number = step.session, actors.indices.contains(number) { actors[number].perform(step) }
        }
    }
}
