// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A command of class FF, which the reader answers itself (PC/SC 2.01 part 3, 3.2.2).
struct ReaderCommand: Sendable {
    let instruction: UInt8
    let p1: UInt8
    let p2: UInt8
    let data: [UInt8]
    /// Le; 0 means all available data. Nil when there is none.
    let expectedLength: Int?

    /// Parses a short command APDU of class FF, or one with an extended length field.
    ///
    /// - Returns: nil when the class is another one, or the lengths are inconsistent.
    init?(_ apdu: [UInt8]) {
        guard apdu.count >= 4, apdu[0] == 0xFF else { return nil }
        instruction = apdu[1]
        p1 = apdu[2]
        p2 = apdu[3]
        let body = Array(apdu.dropFirst(4))
        guard let first = body.first else {
            data = []
            expectedLength = nil
            return
        }
        if body.count == 1 {
            data = []
            expectedLength = Int(first)
        } else if first == 0, body.count >= 3 {
            let length = Int(high: body[1], low: body[2])
            guard body.count == 3 || body.count == 3 + length || body.count == 5 + length else { return nil }
            data = body.count == 3 ? [] : Array(body[3..<3 + length])
            expectedLength = body.count == 3 ? length : body.count == 5 + length ? 0 : nil
        } else {
            let length = Int(first)
            guard body.count == 1 + length || body.count == 2 + length else { return nil }
            data = Array(body[1..<1 + length])
            expectedLength = body.count == 2 + length ? Int(body[1 + length]) : nil
        }
    }
}
