// SPDX-License-Identifier: Apache-2.0

/// The mailbox of ST25DV: one message of up to 256 octets, from the reader to the host or the other way (DS10925, fast
/// transfer mode). Its watchdog, which forgets messages that nobody reads, needs a clock and is not modelled.
struct ST25Mailbox: Sendable {
    /// Who put the message that is there.
    enum Sender: Sendable {
        case host
        case reader
    }

    private(set) var isEnabled = false
    private(set) var message: [UInt8] = []
    /// Who put the present message.
    private var sender: Sender?
    /// Whether it waits to be read.
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

    /// Switches the mailbox on or off. Either way it is empty afterwards.
    mutating func enable(_ isEnabled: Bool) {
        guard isEnabled != self.isEnabled else { return }
        self = ST25Mailbox()
        self.isEnabled = isEnabled
    }

    /// Puts a message. It is not taken while another one waits to be read.
    ///
    /// - Returns: whether it was taken.
    mutating func put(_ message: [UInt8], from sender: Sender) -> Bool {
        guard isEnabled, !isWaiting, (1...256).contains(message.count) else { return false }
        self.message = message
        self.sender = sender
        isWaiting = true
        return true
    }

    /// Reads a part of the message, whoever put it. When its last octet is read by the one whom it is for, it no longer
    /// waits.
    ///
    /// - Returns: the octets, or nil when there is no such part.
    mutating func read(_ range: Range<Int>, by reader: Sender) -> [UInt8]? {
        guard isEnabled, sender != nil, !range.isEmpty, range.upperBound <= message.count else { return nil }
        if range.upperBound == message.count, sender != reader { isWaiting = false }
        return Array(message[range])
    }

    /// Whether a message waits for the host.
    var holdsMessageForHost: Bool { isWaiting && sender == .reader }
}
