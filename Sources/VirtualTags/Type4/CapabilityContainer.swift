// SPDX-License-Identifier: Apache-2.0

/// What a Type 4 tag's capability container says (NFC Forum T4T 1.2, 4.7.3), as far as the tag itself acts on it.
struct Type4CapabilityContainer: Sendable, Hashable {
    /// The rights of a file.
    struct Rights: Sendable, Hashable {
        var read: UInt8
        var write: UInt8
    }

    /// The major mapping version.
    var majorVersion: UInt8
    /// MLe, the most octets that READ BINARY answers.
    var maximumRead: Int
    /// MLc, the most octets of data in a command.
    var maximumWrite: Int
    var rights: [UInt16: Rights] = [:]

    /// Reads the file; nil when it is too short to hold the fixed part.
    init?(_ file: [UInt8]) {
        guard file.count >= 7 else { return nil }
        majorVersion = file[2] >> 4
        maximumRead = Int(file[3]) << 8 | Int(file[4])
        maximumWrite = Int(file[5]) << 8 | Int(file[6])
        let end = min(file.count, Int(file[0]) << 8 | Int(file[1]))
        var offset = 7
        while offset + 2 <= end {
            let type = file[offset]
            let length = Int(file[offset + 1])
            let value = offset + 2
            guard value + length <= end else { break }
            // NDEF and proprietary file control TLVs, and those with 4-octet sizes.
            if (4...6).contains(type), length >= 6 {
                let identifier = UInt16(file[value]) << 8 | UInt16(file[value + 1])
                rights[identifier] = Rights(read: file[value + length - 2], write: file[value + length - 1])
            }
            offset = value + length
        }
    }
}
