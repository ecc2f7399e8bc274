// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import TagTrace
import VirtualTags

extension Invariant {
    /// The one who wrote a tag can still open it and finish the work. If pages are protected, the password or key is
    /// the old one, or one that the app has written. If the tag is locked for good, its message is complete, and so is
    /// each page or block that was locked.
    ///
    /// Passwords and keys are checked on Type 2 tags, locked pages and blocks on tags of Types 2 and 5, and other locks
    /// on all tags with NDEF.
    public static let staysUsable = Invariant("the tag stays usable") { run in
        for tag in run.tags {
            guard let before = tag.before, let after = tag.after, after != before else { continue }
            if let finding = after.type2?.lockout(since: before.type2, run.trace) { return "\(tag.name): \(finding)" }
            if let number = tag.number, number < run.courses.count {
                let locked = after.lockedUnits.subtracting(before.lockedUnits)
                if let unit = run.courses[number].unfinishedUnit(of: tag.areasAfter, among: locked) {
                    return "\(tag.name): \(unit), and is locked for good: lock last, when each write has succeeded"
                }
            }
            guard let old = try? await run.readings.read(before), let now = try? await run.readings.read(after),
                let goal = try? await run.reached(tag)?.message, !goal.isEmpty, now.message != goal,
                !after.lockedUnits.isEmpty || now.access == .readOnly, before.lockedUnits.isEmpty,
                old.access != .readOnly, await !after.canHold(goal)
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
    /// The numbers of the locked pages or blocks.
    fileprivate var lockedUnits: Set<Int> {
        switch self {
        case .type2(let contents): Set(contents.lockedPages)
        case .type5(let contents): contents.lockedBlocks
        default: []
        }
    }

    /// Whether a message can still be written by someone who knows the password of a Type 2 tag.
    fileprivate func canHold(_ message: [UInt8]) async -> Bool {
        var contents = self
        if case .type2(var unprotected) = self {
            unprotected.removeProtection()
            contents = .type2(unprotected)
        }
        return await contents.holding(message) != nil
    }
}

extension Type2Contents {
    /// The pages of the password, or of the key; empty for a product without them.
    private var passwordPages: [Int] {
        // After a password comes its acknowledgement, which opens nothing.
        access == nil ? product.keyPages.map(Array.init) ?? [] : Array(secretPages.prefix(1))
    }

    private func bytes(of page: Int) -> [UInt8] { Array(memory.dropFirst(4 * page).prefix(4)) }

    fileprivate mutating func removeProtection() {
        // AUTH0 is the last byte of the first configuration page, or the first byte of page 42 of Ultralight C.
        guard let page = product.firstConfigurationPage else { return }
        let index = 4 * page + (product.configurationPage == nil ? 0 : 3)
        if memory.indices.contains(index) { memory[index] = 0xFF }
    }

    /// Describes why nobody can open the protected pages; nil when somebody can.
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
