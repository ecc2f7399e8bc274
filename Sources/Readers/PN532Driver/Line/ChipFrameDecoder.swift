// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Finds the chip's frames in the bytes of a line (PN532 user manual, 6.2.1).
///
/// It skips everything between frames: preambles, noise, and frames with wrong lengths or checksums. It never keeps
/// more than one frame.
struct ChipFrameDecoder: Sendable {
    /// The longest payload of a frame: TFI, code and 263 bytes of data.
    static let maximumPayload = 265

    private var buffer: [UInt8] = []

    /// Adds received bytes.
    mutating func append(_ bytes: [UInt8]) {
        buffer += bytes
    }

    /// Whether a frame may have started and is incomplete.
    var isInFrame: Bool { buffer.count > 1 }

    /// The number of kept bytes.
    var keptCount: Int { buffer.count }

    /// Discards all bytes.
    mutating func reset() {
        buffer = []
    }

    /// The next frame; nil when more bytes are needed.
    mutating func next() -> ChipFrame? {
        var position = 0
        defer { buffer.removeFirst(position) }
        while true {
            // The start code is 00 FF. Its first byte may be the last received byte.
            while position < buffer.count, !isStartCode(position) { position += 1 }
            switch candidate(at: position) {
            case .incomplete: return nil
            case .invalid: position += 1
            case .damaged(let code):
                // The following bytes may be a whole frame, so only the start is skipped.
                position += 1
                return .damaged(code: code)
            case .whole(let frame, let length):
                position += length
                return frame
            }
        }
    }

    /// Gives up a frame whose rest does not arrive.
    ///
    /// - Returns: the damaged frame if its code is known, or a whole frame within its bytes.
    mutating func abandonPartial() -> ChipFrame? {
        guard !buffer.isEmpty else { return nil }
        let header = extendedLength(at: 0) == nil ? 4 : 7
        let code = buffer.count > header + 1 && buffer[header] == 0xD5 ? buffer[header + 1] : nil
        while !buffer.isEmpty {
            buffer.removeFirst()
            if let frame = next() { return frame }
        }
        return code.map { .damaged(code: $0) }
    }

    private func isStartCode(_ position: Int) -> Bool {
        buffer[position] == 0x00 && (position + 1 == buffer.count || buffer[position + 1] == 0xFF)
    }

    private enum Candidate {
        case incomplete
        /// No frame begins here.
        case invalid
        case damaged(UInt8)
        case whole(ChipFrame, length: Int)
    }

    private func candidate(at start: Int) -> Candidate {
        guard buffer.count >= start + 4 else { return .incomplete }
        let length = buffer[start + 2]
        let lengthChecksum = buffer[start + 3]
        switch (length, lengthChecksum) {
        case (0x00, 0xFF): return .whole(.acknowledge, length: 4)
        // Only a host sends NACK, never the chip.
        case (0xFF, 0x00): return .invalid
        case (0xFF, 0xFF):
            guard buffer.count >= start + 7 else { return .incomplete }
            guard let count = extendedLength(at: start) else { return .invalid }
            return payload(at: start + 7, count: count, from: start)
        default:
            guard length &+ lengthChecksum == 0 else { return .invalid }
            return payload(at: start + 4, count: Int(length), from: start)
        }
    }

    private func extendedLength(at start: Int) -> Int? {
        guard buffer.count >= start + 7, buffer[start + 2] == 0xFF, buffer[start + 3] == 0xFF else { return nil }
        let high = buffer[start + 4]
        let low = buffer[start + 5]
        return high &+ low &+ buffer[start + 6] == 0 ? Int(high: high, low: low) : nil
    }

    private func payload(at first: Int, count: Int, from start: Int) -> Candidate {
        guard (1...Self.maximumPayload).contains(count) else { return .invalid }
        let end = first + count
        guard buffer.count > end else { return .incomplete }
        let length = end + 1 - start
        let payload = buffer[first..<end]
        let isGood = payload.reduce(0, &+) &+ buffer[end] == 0
        if isGood, count == 1, buffer[first] == 0x7F { return .whole(.syntaxError, length: length) }
        guard count >= 2, buffer[first] == 0xD5 else { return .invalid }
        let code = buffer[first + 1]
        guard isGood else { return .damaged(code) }
        return .whole(.answer(code: code, data: Array(payload.dropFirst(2))), length: length)
    }
}
