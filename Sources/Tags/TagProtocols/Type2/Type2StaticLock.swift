// SPDX-License-Identifier: Apache-2.0

/// The lock bits for pages 3 to 15, in page 2 (NFC Forum T2T 1.2, 4.2).
enum Type2StaticLock {
    static let page = 2

    /// Returns whether a page can't be written any more, by the four bytes of page 2.
    static func locks(_ page: Int, in bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        return switch page {
        case 3...7: bytes[2] >> page & 1 != 0
        case 8...15: bytes[3] >> (page - 8) & 1 != 0
        default: false
        }
    }
}
