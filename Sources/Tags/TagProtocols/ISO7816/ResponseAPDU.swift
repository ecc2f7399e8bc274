// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A response APDU (ISO/IEC 7816-4, 5.1).
public struct ResponseAPDU: Sendable, Hashable {
    /// The data field.
    public var data: [UInt8]
    /// The status word.
    public var status: StatusWord

    /// Creates a response.
    public init(data: [UInt8] = [], status: StatusWord) {
        self.data = data
        self.status = status
    }

    /// Reads a response APDU.
    ///
    /// - Parameter bytes: the whole response.
    /// - Returns: nil when there are fewer than two bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return nil }
        self.data = Array(bytes.dropLast(2))
        self.status = StatusWord(rawValue: UInt16(high: bytes[bytes.count - 2], low: bytes[bytes.count - 1]))
    }
}
