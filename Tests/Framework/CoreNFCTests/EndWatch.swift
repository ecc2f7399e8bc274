// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

/// Records an issue for each call that a session's delegate gets after the session's end.
final class EndWatch: Sendable {
    /// Sendable because a weak reference to an object may be read on any thread.
    private struct Ended: @unchecked Sendable {
        weak var session: AnyObject?
    }

    private let ended = Locked<[Ended]>([])

    /// Notes a call. Call this first in each method of a delegate.
    ///
    /// - Parameters:
    ///   - session: the session that calls.
    ///   - isEnd: whether the call reports the end.
    func call(_ session: AnyObject, isEnd: Bool = false, _ name: String = #function) {
        let call = Ended(session: session)
        let isLate = ended.withLock { ended in
            ended.removeAll { $0.session == nil }
            if ended.contains(where: { $0.session === call.session }) { return true }
            if isEnd { ended.append(call) }
            return false
        }
        if isLate { Issue.record("\(name) is called after the end of the session.") }
    }
}
