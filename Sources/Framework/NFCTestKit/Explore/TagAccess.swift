// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import TagTrace
import VirtualTags

extension Invariant {
    /// The one who wrote a tag can still open it and finish the work. If pages are protected, the password or key is
    /// the old one, or one that the app has written. If the tag is locked for good, its message is complete.
    ///
    /// Passwords and keys are checked on Type 2 tags, locks on all tags with NDEF.
    public static let staysUsable = Invariant("the tag stays usable") { run in
        for tag in run.tags {
            guard let before = tag.before, let after = tag.after, after != before else { continue }
            if let finding = after.type2?.lockout(since: before.type2, run.trace) { return "\(tag.name): \(finding)" }
            guard let old = try? await run.readings.read(before), let now = try? await run.readings.read(after),
                let goal = try? await run.reached(tag)?.message, !goal.isEmpty, now.message != goal,
                after.hasLocks || now.access == .readOnly, !before.hasLocks, old.access != .readOnly,
                await !after.canHold(goal)
            else { continue }
            return """
                \(tag.name) is locked for good, and holds \(TagMessage(bytes: now.message)) instead of \
                \(TagMessage(bytes: goal)): lock a tag last, when its message is complete
                """
        }
        return nil
    }
}

extension TagContents {
    /// Whether some pages or blocks are locked.
    fileprivate var hasLocks: Bool {
        switch self {
        case .type2(let contents): !contents.lockedPages.isEmpty
        case .type5(let contents): !contents.lockedBlocks.isEmpty
        default: false
        }
    }

    /// Whether a message can still be written by someone who knows the password of a Type 2 tag.
    fileprivate func canHold(_ message: [UInt8]) async -> Bool {
        var contents = self
        if case .type2(var unprotected) = self {
            unprotected.removeProtection()
            contents = .type2(unprotected)
        }
        let tag = contents.makeTag()
        do {
            try await withActivatedTag(in: tag) { tag throws(TagError) in try await tag.writeNDEF(message) }
            return true
        } catch {
            return false
        }
    }
}

extension Type2Contents {
    /// The pages of the password, or of the key; empty for a product without them.
    private var passwordPages: [Int] {
        // After a password comes its acknowledgement, which opens nothing.
        secretPages.count == 2 ? [secretPages[0]] : secretPages
    }

    private func bytes(of page: Int) -> [UInt8] { Array(memory.dropFirst(4 * page).prefix(4)) }

    /// Makes all pages writable without the password.
    fileprivate mutating func removeProtection() {
        // AUTH0 is the last byte of the first configuration page, or the first byte of page 42 of Ultralight C.
        guard let page = product.firstConfigurationPage else { return }
        let index = 4 * page + (passwordPages.count == 1 ? 3 : 0)
        if memory.indices.contains(index) { memory[index] = 0xFF }
    }

    /// Describes why nobody can open the protected pages; nil when somebody can.
    ///
    /// - Parameters:
    ///   - before: the contents before the run.
    ///   - trace: the exchanges of the run.
    fileprivate func lockout(since before: Type2Contents?, _ trace: Trace) -> String? {
        guard let start = firstProtectedPage, !passwordPages.isEmpty else { return nil }
        if let before, passwordPages.allSatisfy({ bytes(of: $0) == before.bytes(of: $0) }) { return nil }
        // WRITE, with the page's number.
        let wrong = passwordPages.first { page in
            let write = [0xA2, UInt8(truncatingIfNeeded: page)] + bytes(of: page)
            return !trace.exchanges.contains { $0.request.bytes == write }
        }
        return wrong.map { page in
            """
            the pages from \(start) on are protected, but page \(page) of the \
            \(passwordPages.count == 1 ? "password" : "key") holds \(bytes(of: page).hexText(separator: " ")), which the \
            app has never written, so nobody can open them: write the password first, and switch the protection on last
            """
        }
    }
}
