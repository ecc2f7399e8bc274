// SPDX-License-Identifier: Apache-2.0

/// The mailbox of ST25DV: one message of up to 256 bytes, from the reader to the host or the other way (DS10925, fast
/// transfer mode). The watchdog, which deletes messages that nobody reads, needs a clock and is not modelled.
struct ST25Mailbox: Sendable {
    /// The writer of the message.
    enum Sender: Sendable {
        case host
        case reader
    }

    private(set) var isEnabled = false
    private(set) var message: [UInt8] = []
    /// The writer of the current message.
    private var sender: Sender?
    /// Whether the message was not read yet.
    private var isWaiting = false

    /// The control register MB_CTRL_Dyn.
    var register: UInt8 {
        var register: UInt8 = isEnabled ? 0x01 : 0x00
        switch sender {
        case .host: register |= (isWaiting ? 0x02 : 0x00) | 0x40
        case .reader: register |= (isWaiting ? 0x04 : 0x00) | 0x80
        case nil: break
        }
        return register
    }

    /// Switches the mailbox on or off, and empties it.
    mutating func enable(_ isEnabled: Bool) {
        guard isEnabled != self.isEnabled else { return }
        self = ST25Mailbox()
        self.isEnabled = isEnabled
    }

    /// Stores a message, unless another one was not read yet.
    ///
    /// - Returns: whether it was stored.
    mutating func put(_ message: [UInt8], from sender: Sender) -> Bool {
        guard isEnabled, !isWaiting, (1...256).contains(message.count) else { return false }
        self.message = message
        self.sender = sender
        isWaiting = true
        return true
    }

    /// Reads a part of the message, from either side. When the receiver has read the last byte, the message counts as
    /// read.
    ///
    /// - Returns: the bytes; nil when there is no such part.
    mutating func read(_ range: Range<Int>, by reader: Sender) -> [UInt8]? {
        guard isEnabled, sender != nil, !range.isEmpty, range.upperBound <= message.count else { return nil }
        if range.upperBound == message.count, sender != reader { isWaiting = false }
        return Array(message[range])
    }

    /// Whether a message waits for the host.
    var holdsMessageForHost: Bool { isWaiting && sender == .reader }
}
