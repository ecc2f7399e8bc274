// SPDX-License-Identifier: Apache-2.0
import NFCRuntime

/// Takes apart what an app sends through the gate, however it arrives.
struct GateMessages: Sendable {
    /// What an app says.
    enum Message: Sendable, Hashable {
        /// What it wants the reader for: the first thing it says.
        case purpose(ReaderGate.Purpose)
        /// The identifier of a tag that its session has found.
        case tag([UInt8])
        /// Something that no app says. Nothing follows it.
        case nonsense
    }

    private var pending: [UInt8] = []
    private var hasPurpose = false
    private var isOver = false

    /// Takes bytes.
    ///
    /// - Returns: what they complete, in order.
    mutating func take(_ bytes: some Collection<UInt8>) -> [Message] {
        guard !isOver else { return [] }
        pending += bytes
        var messages: [Message] = []
        while !isOver, let message = next() {
            messages.append(message)
            isOver = message == .nonsense
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
