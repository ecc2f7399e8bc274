// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagProtocols

extension Invariant {
    /// All ready invariants.
    public static let all: [Invariant] = [
        .neverBricked, .noMessageLost, .sessionEnds, .completesOnce, .errorShown,
    ]

    /// A tag that held NDEF still does: it can be read, or mended by the next message, and written where nothing locked it
    /// on purpose.
    public static let neverBricked = Invariant("the tag is never bricked") { run in
        for (index, tag) in run.tags.enumerated() {
            guard let before = tag.before, let after = tag.after else { continue }
            guard let old = try? await TagDesk.read(before) else { continue }
            do throws(TagError) {
                let new = try await TagDesk.read(after)
                let isMeant = try await run.reached(index)?.access == .readOnly
                if old.access == .readWrite, new.access == .readOnly, !isMeant {
                    return "\(tag.name) can't be written any more"
                }
            } catch {
                let copy = after.makeTag()
                let isMended: Void? = try? await TagDesk.with(copy) { tag throws(TagError) in
                    try await tag.writeNDEF(TagMessage.uri("a").octets)
                }
                if isMended == nil { return "\(tag.name) can't be read any more, nor written: \(error.reason)" }
            }
        }
        return nil
    }

    /// The tag holds what it held before, or what a run without faults leaves on it. It may be empty where the tag was
    /// lost in mid-write and the person was told; a flow that ended well has written all of it.
    public static let noMessageLost = Invariant("no message is lost") { run in
        for (index, tag) in run.tags.enumerated() {
            guard let before = tag.before, let after = tag.after,
                let old = try? await TagDesk.read(before).message, let goal = try? await run.reached(index)?.message
            else { continue }
            let now = try? await TagDesk.read(after).message
            let holds =
                "\(tag.name) holds \(now.map { TagMessage(octets: $0).description } ?? "nothing that can be read")"
            if now == goal { continue }
            if !run.tellsFailure { return "\(holds), and the flow ended as if all were well" }
            // A page in which bits of both are left is nothing that an app could have prevented.
            if now != old, now?.isEmpty != true, !run.hasMixedTear {
                return "\(holds), which is neither the old message nor the new one"
            }
        }
        return nil
    }

    /// When the flow has ended, so has every session, and none stood with a tag in hand until the limit of 60 seconds.
    public static let sessionEnds = Invariant("the session always ends") { run in
        if run.leavesSessionOpen {
            return "the flow has ended, and the sheet still stands: nobody invalidates the session"
        }
        if run.reachesLimit, !run.goalReachesLimit {
            return "the sheet stood with a tag until the limit of the session: nobody invalidates it"
        }
        return nil
    }

    /// Every handler given to ``TestField/completion(_:of:)`` is called exactly once.
    public static let completesOnce = Invariant("the completion is called exactly once") { run in
        let wrong = run.completions.filter { $0.value != 1 }.min { $0.key < $1.key }
        return wrong.map { "\($0.key) was called \($0.value) times" }
    }

    /// A flow that did not reach its goal has shown an error on the sheet, or said so with
    /// ``TestField/showedError(_:)``; unless the sheet left by itself or never came, which the person sees too.
    public static let errorShown = Invariant("an error is always shown") { run in
        guard !run.isCancelled, !run.isEndedBySystem, run.error != nil else { return nil }
        return run.showsError || run.endsByLimit ? nil : "the flow failed, and the sheet never showed an error"
    }
}

extension FlowRun {
    /// The sheet, or the app, showed an error in words.
    fileprivate var showsError: Bool {
        !shownErrors.isEmpty || sheet.contains { $0.content.state == .failure && !$0.content.message.isEmpty }
    }

    fileprivate var hasMixedTear: Bool { replay?.steps.contains { $0.kind == .mixed } ?? false }

    /// The caller or the person was told that it did not work.
    fileprivate var tellsFailure: Bool { error != nil || isCancelled || showsError || endsByLimit }

    fileprivate var endsByLimit: Bool {
        guard let last = sheet.last, let first = sheet.first else { return false }
        return last.content.state == .dismissed && last.time - first.time >= SessionLimits().session
    }

    /// What a run without faults left on the tag of this number.
    fileprivate func reached(_ index: Int) async throws(TagError) -> (
        access: NDEFDetection.Access, capacity: Int, message: [UInt8]
    )? {
        guard let tags = goal ?? (replay == nil ? self.tags : nil), index < tags.count, let contents = tags[index].after
        else { return nil }
        return try await TagDesk.read(contents)
    }
}
