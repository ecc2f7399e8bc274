// SPDX-License-Identifier: Apache-2.0

/// The part of a command APDU after the header (ISO/IEC 7816-4, 5.2): Lc, data and Le.
package struct APDUBody {
    /// The range of the data in the command.
    package private(set) var data = 4..<4
    /// Le; -1 if absent.
    package private(set) var expectedLength = -1
    /// Whether Lc and Le have two bytes each, after a byte of 0.
    package let isExtended: Bool

    /// Parses the lengths of a command.
    ///
    /// - Parameter bytes: one whole command.
    /// - Returns: nil when the command is shorter than its header, or when its length does not match Lc and Le.
    package init?(parsing bytes: [UInt8]) {
        guard bytes.count >= 4 else { return nil }
        isExtended = bytes.count > 5 && bytes[4] == 0
        guard !isExtended || bytes.count >= 7 else { return nil }
        let isExtended = isExtended
        let (first, width) = isExtended ? (5, 2) : (4, 1)
        func length(at index: Int) -> Int {
            isExtended ? Int(high: bytes[index], low: bytes[index + 1]) : Int(bytes[index])
        }
        func expected(at index: Int) -> Int {
            let length = length(at: index)
            return length > 0 ? length : isExtended ? 65_536 : 256
        }
        let start = first + width
        if bytes.count == start {
            expectedLength = expected(at: first)
        } else if bytes.count > start {
            let end = start + length(at: first)
            guard end > start, bytes.count == end || bytes.count == end + width else { return nil }
            data = start..<end
            if bytes.count > end { expectedLength = expected(at: end) }
        }
    }
}
