// SPDX-License-Identifier: Apache-2.0

/// The queue for the phone's reader: one program at a time, in the order of claims. Background reading must stop first.
struct Turns: Sendable {
    /// A program that waits for its turn. `request` is answered then; nil if the program waits in a call.
    struct Claim: Sendable, Hashable {
        var client: Int
        var request: JSON?
    }

    /// An effect of a change of turns.
    enum Action: Sendable, Hashable {
        /// Inform background reading that a session begins or ends.
        case sessionActive(Bool)
        /// Answer the claim.
        case grant(Claim)
    }

    /// The claim whose turn it is, and whether it was granted.
    private(set) var current: (claim: Claim, isGranted: Bool)?
    private(set) var waiting: [Claim] = []
    /// Whether background reading uses the reader.
    private(set) var isWatched = false

    var holder: Int? { current?.claim.client }

    /// Whether a program's turn was granted.
    func isGranted(_ client: Int) -> Bool { current.map { $0.claim.client == client && $0.isGranted } == true }

    func isWaiting(_ client: Int) -> Bool {
        holder == client && !isGranted(client) || waiting.contains { $0.client == client }
    }

    mutating func claim(_ claim: Claim) -> [Action] {
        waiting.append(claim)
        return advance()
    }

    /// Removes a program from the queue, or ends its turn.
    mutating func release(_ client: Int) -> [Action] {
        waiting.removeAll { $0.client == client }
        guard holder == client else { return [] }
        current = nil
        let next = advance()
        return next.isEmpty && current == nil ? [.sessionActive(false)] : next
    }

    /// Records that background reading has begun to use the reader.
    mutating func watchingStarted() { isWatched = true }

    /// Records that background reading has released the reader.
    mutating func watchingStopped() -> [Action] {
        isWatched = false
        return grant()
    }

    private mutating func advance() -> [Action] {
        guard current == nil, !waiting.isEmpty else { return [] }
        current = (waiting.removeFirst(), false)
        return [.sessionActive(true)]
    }

    /// Grants the current claim once background reading has released the reader.
    mutating func grant() -> [Action] {
        guard let turn = current, !turn.isGranted, !isWatched else { return [] }
        current = (turn.claim, true)
        return [.grant(turn.claim)]
    }
}
