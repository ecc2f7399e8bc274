// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The content of a Type 4 tag's capability container (NFC Forum T4T 1.2, 4.7.3), as far as the tag itself uses it.
struct VirtualCapabilityContainer: Sendable, Hashable {
    /// The access rights of a file.
    struct Rights: Sendable, Hashable {
        var read: UInt8
        var write: UInt8
    }

    /// The major mapping version.
    var majorVersion: UInt8
    /// MLe, the maximum number of bytes in an answer to READ BINARY.
    var maximumRead: Int
    /// MLc, the maximum number of data bytes in a command.
    var maximumWrite: Int
    var rights: [UInt16: Rights] = [:]

    /// Parses the file; nil when it is too short for the fixed part.
    init?(_ file: [UInt8]) {
        guard file.count >= 7 else { return nil }
        majorVersion = file[2] >> 4
        maximumRead = Int(high: file[3], low: file[4])
        maximumWrite = Int(high: file[5], low: file[6])
        let end = min(file.count, Int(high: file[0], low: file[1]))
        var offset = 7
        while offset + 2 <= end {
            let type = file[offset]
            let length = Int(file[offset + 1])
            let value = offset + 2
            guard value + length <= end else { break }
            // NDEF and proprietary file control TLVs, also those with 4-byte sizes.
            if (4...6).contains(type), length >= 6 {
                let identifier = UInt16(high: file[value], low: file[value + 1])
                rights[identifier] = Rights(read: file[value + length - 2], write: file[value + length - 1])
            }
            offset = value + length
        }
    }
}
