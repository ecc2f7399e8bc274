// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A reader's own answer to a pseudo-APDU: data, and the status word.
struct ReaderAnswer: Hashable {
    var data: [UInt8]
    var status: UInt16

    /// Splits an answer; nil when it has no status word.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return nil }
        data = Array(bytes.dropLast(2))
        status = UInt16(high: bytes[bytes.count - 2], low: bytes[bytes.count - 1])
    }

    /// Whether the command succeeded.
    var isDone: Bool { status == 0x9000 }

    /// The status word in hexadecimal, for sentences.
    var statusText: String { status.bigEndianBytes.hexText() }
}
