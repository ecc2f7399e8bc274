// SPDX-License-Identifier: Apache-2.0

/// The answer to GET_VERSION (NTAG213/215/216 data sheet, 10.1).
struct Type2Version: Equatable {
    /// The eight bytes.
    let bytes: [UInt8]

    var vendor: UInt8 { bytes[1] }
    var productType: UInt8 { bytes[2] }
    var productSubtype: UInt8 { bytes[3] }
    var majorVersion: UInt8 { bytes[4] }
    var minorVersion: UInt8 { bytes[5] }
    /// The high seven bits are the exponent of the memory size. If the lowest bit is set, the size is above that power
    /// of two.
    var storageSize: UInt8 { bytes[6] }

    /// Creates a version from eight bytes; nil for another number of bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        self.bytes = bytes
    }
}
