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

    /// Returns whether a page's lock bit is not set and can't be set any more, because its block-lock bit is set.
    static func isFrozen(_ page: Int, in bytes: [UInt8]) -> Bool {
        guard bytes.count == 4, !locks(page, in: bytes) else { return false }
        return switch page {
        case 3: bytes[2] & 0x01 != 0
        case 4...9: bytes[2] & 0x02 != 0
        case 10...15: bytes[2] & 0x04 != 0
        default: false
        }
    }
}
