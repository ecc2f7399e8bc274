// SPDX-License-Identifier: Apache-2.0
import SimulatorModel

/// Follows the frames of a WebSocket (RFC 6455, 5.2), so that the bytes of a message are bounded however it is divided: the web
/// server puts all of its frames together first.
struct MessageMeter {
    /// The beginning of a frame that has come so far: two bytes, the length, and the mask.
    private var head: [UInt8] = []
    /// The bytes of the frame that are still to come.
    private var left = 0
    /// The bytes of the message so far, with the beginnings of its frames.
    private var message = 0

    /// Takes what has come.
    ///
    /// - Returns: false when a message is too long.
    mutating func takes(_ bytes: [UInt8]) -> Bool {
        var index = 0
        while index < bytes.count {
            if left > 0 {
                let count = min(left, bytes.count - index)
                left -= count
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
            // A frame of another kind than the continuation begins a message. Pings may come within one, and are short.
            if kind == 1 || kind == 2 { message = 0 }
            message += head.count + size
            guard message <= Limits.pageMessage, kind < 8 || size <= 125 else { return false }
            left = size
            head = []
        }
        return true
    }
}
