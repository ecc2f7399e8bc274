// SPDX-License-Identifier: Apache-2.0
import NFCSessions

/// Parses the messages that an app sends through the gate. The bytes may arrive in any pieces.
struct GateMessages: Sendable {
    /// A message of an app.
    enum Message: Sendable, Hashable {
        /// What it needs the reader for. This is the first message.
        case purpose(ReaderGate.Purpose)
        /// The identifier of a tag that its session found.
        case tag([UInt8])
        /// Bytes that no app sends. No further messages are parsed.
        case nonsense
    }

    private var pending: [UInt8] = []
    private var hasPurpose = false
    private var isOver = false

    /// Parses bytes.
    ///
    /// - Returns: the messages that they complete, in order.
    mutating func take(_ bytes: some Collection<UInt8>) -> [Message] {
        guard !isOver else { return [] }
        pending += bytes
        var messages: [Message] = []
        while let message = next() {
            messages.append(message)
            if message == .nonsense {
                isOver = true
                break
            }
        }
        return messages
    }

    private mutating func next() -> Message? {
        guard let first = pending.first else { return nil }
        guard hasPurpose else {
            guard let purpose = ReaderPurpose(mark: first) else { return .nonsense }
            hasPurpose = true
            pending.removeFirst()
            return .purpose(purpose)
        }
        guard first == ReaderGate.tagMark else { return .nonsense }
        guard pending.count >= 2 else { return nil }
        let count = Int(pending[1])
        guard count <= ReaderGate.maximumIdentifier else { return .nonsense }
        guard pending.count >= 2 + count else { return nil }
        defer { pending.removeFirst(2 + count) }
        return .tag(Array(pending[2..<2 + count]))
    }
}
