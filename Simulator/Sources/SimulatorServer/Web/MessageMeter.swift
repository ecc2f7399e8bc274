// SPDX-License-Identifier: Apache-2.0
import SimulatorModel

/// Limits the size of WebSocket messages by following their frames (RFC 6455, 5.2). Counts the whole message, because
/// the web server joins all frames of a message in memory.
struct MessageMeter {
    /// The received part of a frame's header: two bytes, the length, and the mask.
    private var head: [UInt8] = []
    /// The bytes of the frame's payload still to receive.
    private var remainingPayload = 0
    /// The bytes of the message so far, including frame headers.
    private var messageSize = 0

    /// Counts received bytes.
    ///
    /// - Returns: false if a message is too long.
    mutating func takes(_ bytes: [UInt8]) -> Bool {
        var index = 0
        while index < bytes.count {
            if remainingPayload > 0 {
                let count = min(remainingPayload, bytes.count - index)
                remainingPayload -= count
                index += count
                continue
            }
            head.append(bytes[index])
            index += 1
            guard head.count >= 2 else { continue }
            let short = head[1] & 0x7F
            let lengthBytes = short == 127 ? 8 : short == 126 ? 2 : 0
            guard head.count == 2 + lengthBytes + (head[1] & 0x80 == 0 ? 0 : 4) else { continue }
            let length = head[2..<2 + lengthBytes].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            guard let size = Int(exactly: lengthBytes == 0 ? UInt64(short) : length), size <= Limits.pageMessage else {
                return false
            }
            let kind = head[0] & 0x0F
            // Text and binary frames begin a message. Control frames, such as pings, may occur within it.
            if kind == 1 || kind == 2 { messageSize = 0 }
            messageSize += head.count + size
            guard messageSize <= Limits.pageMessage, kind < 8 || size <= 125 else { return false }
            remainingPayload = size
            head = []
        }
        return true
    }
}
