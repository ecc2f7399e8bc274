// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import TagProtocols
import TagTrace
import VirtualTags

/// A condition that has to hold after each run of a flow.
///
/// ```swift
/// Invariant("the counter is never lost") { run in
///     run.tags.first?.after == nil ? "the tag is gone" : nil
/// }
/// ```
public struct Invariant: Sendable {
    /// The result of checking one run.
    public enum Verdict: Sendable, Hashable {
        /// The invariant holds.
        case holds
        /// The invariant does not hold. The text describes the problem.
        case broken(String)
        /// The run has nothing to check, for the given reason. A report lists the invariants that no run could check.
        case nothingToCheck(String)
    }

    /// A few words that state the condition.
    public let name: String
    let check: @Sendable (FlowRun) async -> Verdict

    /// Creates an invariant. `check` returns the problem of a run; nil when the invariant holds.
    public init(_ name: String, _ check: @escaping @Sendable (FlowRun) async -> String?) {
        self.init(name, judging: { run in await check(run).map { .broken($0) } ?? .holds })
    }

    /// Creates an invariant that some runs can't check.
    public init(_ name: String, judging check: @escaping @Sendable (FlowRun) async -> Verdict) {
        self.name = name
        self.check = check
    }
}

extension [Invariant] {
    /// All invariants except the given ones: `Invariant.all.except(.nothingLeaks)`.
    public func except(_ left: Invariant...) -> [Invariant] {
        filter { invariant in !left.contains { $0.name == invariant.name } }
    }
}

extension Invariant {
    static func rule(_ name: String, _ check: @escaping @Sendable (FlowRun) async -> Verdict) -> Invariant {
        Invariant(name, judging: check)
    }

    /// All predefined invariants.
    public static let all: [Invariant] = [
        .neverBricked, .noMessageLost, .retrySucceeds, .sessionEnds, .completesOnce, .errorShown, .memoryIntact,
        .sameResult, .userSeesError, .staysUsable, .noErrorAfterSuccess, .noEarlySuccess, .noMisuse, .nothingLeaks,
    ]

    /// A tag that contained NDEF can still be read, or repaired by the next write. It is also still writable, unless
    /// the flow locked it on purpose.
    public static let neverBricked = rule("the tag is never bricked") { run in
        var verdict = Verdict.nothingToCheck("no tag held NDEF")
        for tag in run.tags {
            guard let before = tag.before, let after = tag.after else { continue }
            guard let old = try? await run.readings.read(before) else { continue }
            verdict = .holds
            do throws(TagError) {
                let new = try await run.readings.read(after)
                let isLockedOnPurpose = try await run.reached(tag)?.access == .readOnly
                if old.access == .readWrite, new.access == .readOnly, !isLockedOnPurpose {
                    // The lock bits and the capability container of a Type 2 tag can't be cleared.
                    let lock = after.tagType == 2 ? "is locked for good: it" : "is locked: it can be read, but"
                    return .broken("\(tag.name) \(lock) can no longer be written")
                }
            } catch {
                if await after.holding(TagMessage.uri("a").bytes) == nil {
                    return .broken("\(tag.name) can no longer be read or written: \(error.reason)")
                }
            }
        }
        return verdict
    }

    /// The tag contains its old message, or the message of a run without faults. It may be empty if the tag was lost
    /// during a write and the user was informed. If the flow succeeded, the new message is complete.
    public static let noMessageLost = rule("no message is lost") { run in
        var verdict = Verdict.nothingToCheck("no tag held NDEF")
        for tag in run.tags {
            guard let before = tag.before, let after = tag.after,
                let old = try? await run.readings.read(before).message,
                let goal = try? await run.reached(tag)?.message
            else { continue }
            if goal != old || after != before {
                verdict = .holds
            } else if verdict != .holds {
                verdict = .nothingToCheck("no NDEF was written")
                continue
            }
            let now = try? await run.readings.read(after).message
            let holds =
                "\(tag.name) holds \(now.map { TagMessage(bytes: $0).description } ?? "nothing that can be read")"
            if now == goal || run.isReplaced && now == old { continue }
            if tag.number == nil {
                // This tag may have been lost too. A failed write then leaves an empty message.
                if now?.isEmpty == true, run.reportsFailure { continue }
                return .broken(
                    """
                    \(holds). It came in place of the first tag; alone, it would hold \(TagMessage(bytes: goal)): compare \
                    the tags' identifiers before you write what another tag held
                    """
                )
            }
            if !run.reportsFailure, !run.isReplaced { return .broken("\(holds), and the flow reported success") }
            // An app can't prevent a page that mixes old and new bits.
            if now != old, now?.isEmpty != true, !run.hasMixedTear {
                return .broken("\(holds), which is neither the old message nor the new one")
            }
        }
        return verdict
    }

    /// All sessions have ended when the flow ends. No session works with a tag until the time limit of 60 seconds.
    public static let sessionEnds = Invariant("the session always ends") { run in
        if run.leavesSessionOpen {
            let cancelled =
                run.happened.contains { $0.kind == .stop }
                ? """
                . Its task was cancelled: invalidate the session in the onCancel of withTaskCancellationHandler, and call \
                try Task.checkCancellation() before begin()
                """ : ""
            return "the flow has ended, but the sheet is still visible: the session was never invalidated\(cancelled)"
        }
        if run.reachesLimit {
            return "the sheet showed a tag until the session's time limit: the session was never invalidated"
        }
        return nil
    }

    /// Each handler that the test passes to ``TestField/completion(_:of:)`` is called exactly once.
    public static let completesOnce = rule("the completion is called exactly once") { run in
        guard !run.completions.isEmpty else { return .nothingToCheck("no handler was given to completion(_:of:)") }
        let wrong = run.completions.filter { $0.value != 1 }.min { $0.key < $1.key }
        return wrong.map { .broken("\($0.key) was called \($0.value) times") } ?? .holds
    }

    /// A flow that failed has shown an error on the sheet, or reported one with ``TestField/showedError(_:)``. No error
    /// is required if the session reached its time limit, because the user sees that the sheet disappears.
    public static let errorShown = rule("an error is always shown") { run in
        guard run.error != nil, !run.isCancelled, !run.isEndedBySystem else {
            return .nothingToCheck("the flow never failed on its own")
        }
        return run.showsError || run.endsByLimit
            ? .holds : .broken("\(run.howItFailed), and the sheet never showed an error")
    }

    /// A flow that failed does not end with a check mark or an empty error message on the sheet, unless it reported an
    /// error with ``TestField/showedError(_:)``. If the user cancelled, no error is shown.
    public static let userSeesError = rule("the user sees an error") { run in
        // After a cancelled scan, the user may scan again, and that scan may fail on its own.
        if run.happened.contains(where: { $0.kind == .cancel }), run.happened.count == 1, !run.scansAgain {
            if let error = run.shownErrors.first {
                return .broken("the user cancelled, but the app showed the error \"\(error)\"")
            }
            if let failure = run.sheet.first(where: { $0.content.state == .failure }) {
                return .broken("the user cancelled, but the sheet showed the error \"\(failure.content.message)\"")
            }
            return .holds
        }
        guard run.error != nil, !run.isCancelled, !run.isEndedBySystem else {
            return .nothingToCheck("the flow never failed on its own, and was never cancelled")
        }
        guard run.shownErrors.isEmpty, let last = run.sheet.last(where: { $0.content.state != .dismissed }) else {
            return .holds
        }
        if last.content.state == .success {
            return .broken("\(run.howItFailed), and the sheet ended with a check mark")
        }
        if last.content.state == .failure, last.content.message.isEmpty {
            return .broken("\(run.howItFailed), and the error message on the sheet is empty")
        }
        return .holds
    }

    /// A flow that returns a value and does not throw returns the same value as without faults.
    public static let sameResult = rule("the result is the same") { run in
        guard let result = run.result, let goal = run.goalResult, !run.isCancelled else {
            return .nothingToCheck("the flow returned no value in a run with faults")
        }
        if result.isEqual(to: goal) { return .holds }
        if run.isReplaced, let other = run.replacement?.result {
            // If the user scans twice, the scans may have found different tags.
            if run.scansAgain || result.isEqual(to: other) { return .holds }
        }
        if "\(result)" == "\(goal)" {
            return .broken("the flow returned a different value than without faults, but both print as \(result)")
        }
        return .broken("the flow returned \(result), and without faults \(goal)")
    }

    /// After a scan that succeeded, the app shows no error, see ``TestField/showedError(_:)``. A common mistake is an
    /// alert for the codes 200 and 204, with which sessions end as intended.
    public static let noErrorAfterSuccess = Invariant("no error is shown after success") { run in
        guard run.error == nil, !run.isCancelled, !run.isEndedBySystem else { return nil }
        return run.errorsAfterSuccess.first.map { error in
            """
            the scan succeeded, and then the app showed the error "\(error)". A delegate also gets an error when all \
            went well: 200 after the app's own invalidate(), and 204 after the first message. Show neither
            """
        }
    }

    /// The sheet does not say that the tag was written before it was: the text with which the run without faults ends
    /// does not appear in a session that leaves the tag unfinished.
    ///
    /// Many apps end with a text that promises nothing, such as "Hold still." So only a text with an English word of
    /// success is checked, such as "written", "saved" or "done", and only in a flow with one tag.
    public static let noEarlySuccess = Invariant("no success is shown before the write") { run in
        guard let text = run.goalText, claimsSuccess(text), run.lastSheetShows(text), run.tags.count == 1,
            let unit = run.courses.first?.unfinishedUnit(of: run.tags[0].areasAfter)
        else { return nil }
        return """
            the sheet said "\(text)", but the write was not finished: \(unit). Set this text when the write has \
            succeeded, in its completion handler or after its await
            """
    }

    /// Whether a text says in English that work has succeeded, and not that it will.
    private static func claimsSuccess(_ text: String) -> Bool {
        let text = text.lowercased()
        let words = ["written", "saved", "stored", "updated", "done", "success", "complete", "finished", "✓", "✅"]
        return words.contains { text.contains($0) } && !["until", "…", "..."].contains { text.contains($0) }
    }

    /// If the tag slips away and comes back as it was, and the app connects to it again, then the flow succeeds. An app
    /// may also give up at once. Connecting to the lost tag never succeeds: the app has to find the tag again.
    public static let retrySucceeds = Invariant("a retry succeeds") { run in
        guard run.error != nil, run.happened.count == 1, !run.isCancelled else { return nil }
        if run.connectsToLostTag {
            return """
                the tag slipped away and came back, the app connected again to the NFCTag or NFCNDEFTag that it had lost, \
                and \(run.howItFailed): call restartPolling(), and connect to the tag that is found then
                """
        }
        guard run.triesAgain else { return nil }
        return """
            the tag slipped away and came back unchanged, the app connected to it again, and \(run.howItFailed): look \
            for something that the app does only once, such as sending a password or selecting an application. The tag \
            forgets it when it leaves
            """
    }

    /// The code makes no mistake that Core NFC ignores silently: it sets no `alertMessage` after it has invalidated the
    /// session, it begins each session once, and a delegate of the main actor has the main queue (iOS 26 ends the app
    /// otherwise).
    public static let noMisuse = Invariant("the API is used correctly") { run in
        [APIMisuse.messageAfterEnd, .beginsTwice, .beginsAgain, .delegateOfMainActor].lazy.map(\.explanation)
            .first { run.hasNote($0) }
    }

    /// Sessions, their delegates and the tags that they found are freed after the flow has ended.
    ///
    /// First, the delays pass that the flow has left behind. Objects may stay alive until the next run replaces them,
    /// because a client may keep its last session, and a delegate may live as long as the app.
    public static let nothingLeaks = Invariant("nothing leaks") { run in
        guard !run.leaks.isEmpty else { return nil }
        let what = "\(run.leaks.joined(separator: ", ")) \(run.leaks.count == 1 ? "was" : "were") not freed: "
        guard let delay = run.nextDelay else {
            return """
                \(what)look for a reference cycle, such as a closure that holds its owner, or for a Timer that is never \
                invalidated
                """
        }
        return """
            \(what)the app repeats a delay without end, with Task.sleep, asyncAfter or a timer, and its work may hold \
            them. The next delay ends at \(delay.components.seconds) s. End that work when the session has ended
            """
    }
}

extension FlowRun {
    /// Whether the sheet, or the app, showed an error text.
    var showsError: Bool {
        !shownErrors.isEmpty || sheet.contains { $0.content.state == .failure && !$0.content.message.isEmpty }
    }

    fileprivate var howItFailed: String {
        guard let error else { return "the flow failed" }
        let words = "\(error)"
        return "the flow failed with \(words.count > 200 ? words.prefix(200) + "…" : words)"
    }

    /// Whether the user has scanned again, see ``TestField/twice(_:)``.
    fileprivate var scansAgain: Bool { hasNote("the user scans again") }

    func hasNote(_ text: String) -> Bool { trace.entries.contains { $0.event == .note(text) } }

    /// Whether the app connected to a tag after it had slipped away and come back, without searching for it again.
    fileprivate var connectsToLostTag: Bool {
        let notes = trace.entries.compactMap { entry in if case .note(let text) = entry.event { text } else { nil } }
        let rest = notes.drop { !$0.hasPrefix(Trace.faultMark + "the tag slips away") }
        let search = rest.firstIndex { $0.hasPrefix("app: restartPolling(") || $0.hasPrefix("app: begin()") }
        return rest[..<(search ?? rest.endIndex)].drop { $0 != Trace.faultMark + "the tag is back" }
            .contains("app: connect(to:)")
    }

    /// Whether the tag lost power in a write, which left a mixture of old and new bits.
    ///
    /// No order of writes protects the torn page, see `Documentation/Explanation/TestKitBehaviour.md`. If your own
    /// invariant compares memory, skip such a run.
    public var hasMixedTear: Bool { happened.contains { $0.kind == .mixed } }

    /// Whether the caller or the user can see that the flow failed.
    var reportsFailure: Bool { error != nil || isCancelled || showsError || endsByLimit }

    /// The NDEF contents that the run without faults left on the same tag; nil if unknown.
    func reached(_ tag: Tag) async throws(TagError) -> TagReadings.Reading? {
        guard let number = tag.number else {
            guard isReplaced, let contents = replacement?.after else { return nil }
            return try await readings.read(contents)
        }
        guard let tags = goal ?? (replay == nil ? self.tags : nil), number < tags.count,
            let contents = tags[number].after
        else { return nil }
        return try await readings.read(contents)
    }
}

/// A cache of the NDEF contents of tags. Most runs leave the same few contents, so each of them is read only once.
final class TagReadings: Sendable {
    typealias Reading = (access: NDEFDetection.Access, capacity: Int, message: [UInt8])

    // A list is faster than a dictionary here: comparisons stop at the first difference, but hashing reads all bytes.
    private let cache = Locked<[(contents: TagContents, result: Result<Reading, TagError>)]>([])
    private static let limit = 64

    func read(_ contents: TagContents) async throws(TagError) -> Reading {
        let before = cache.withLock { cache in cache.first { $0.contents == contents }?.result }
        if let before { return try before.get() }
        let result = await Result { () async throws(TagError) in try await contents.readNDEF() }
        cache.withLock { cache in
            if cache.count < Self.limit { cache.append((contents, result)) }
        }
        return try result.get()
    }
}
