// SPDX-License-Identifier: Apache-2.0

/// Whose turn it is at the phone's reader: one program at a time, first come, first served. Background reading has to stop first.
struct Turns: Sendable {
    /// A program that wants its turn. The request is answered when it comes; nil for a program that waits in a call.
    struct Claim: Sendable, Hashable {
        var client: Int
        var request: JSON?
    }

    /// What has to happen.
    enum Action: Sendable, Hashable {
        /// Tell background reading that a session begins or ends.
        case sessionActive(Bool)
        /// Answer the claim.
        case grant(Claim)
    }

    /// The turn, and whether its claim was granted.
    private(set) var current: (claim: Claim, isGranted: Bool)?
    private(set) var waiting: [Claim] = []
    /// Whether background reading uses the reader.
    private(set) var isWatched = false

    var holder: Int? { current?.claim.client }

    /// Whether a program has the reader now.
    func isGranted(_ client: Int) -> Bool { current.map { $0.claim.client == client && $0.isGranted } == true }

    func isWaiting(_ client: Int) -> Bool {
        holder == client && !isGranted(client) || waiting.contains { $0.client == client }
    }

    mutating func claim(_ claim: Claim) -> [Action] {
        waiting.append(claim)
        return advance()
    }

    /// A program gives up its turn, or its place in the queue.
    mutating func release(_ client: Int) -> [Action] {
        waiting.removeAll { $0.client == client }
        guard holder == client else { return [] }
        current = nil
        let next = advance()
        return next.isEmpty && current == nil ? [.sessionActive(false)] : next
    }

    /// Background reading has begun to use the reader.
    mutating func watchingStarted() { isWatched = true }

    /// Background reading has left the reader.
    mutating func watchingStopped() -> [Action] {
        isWatched = false
        return grant()
    }

    private mutating func advance() -> [Action] {
        guard current == nil, !waiting.isEmpty else { return [] }
        current = (waiting.removeFirst(), false)
        return [.sessionActive(true)]
    }

    /// Grants the current claim if nothing uses the reader any more.
    mutating func grant() -> [Action] {
        guard let now = current, !now.isGranted, !isWatched else { return [] }
        current = (now.claim, true)
        return [.grant(now.claim)]
    }
}
