// SPDX-License-Identifier: Apache-2.0

/// The status octet of MIFARE DESFire's native commands (MF3ICD81 data sheet, 9.3).
struct DESFireStatus: RawRepresentable, Sendable, Hashable, Error {
    var rawValue: UInt8

    /// Done.
    static let success = DESFireStatus(rawValue: 0x00)
    /// There is no room for the file.
    static let outOfMemory = DESFireStatus(rawValue: 0x0E)
    /// The command is not known.
    static let illegalCommand = DESFireStatus(rawValue: 0x1C)
    /// There is no such key.
    static let noSuchKey = DESFireStatus(rawValue: 0x40)
    /// The command's length is wrong.
    static let lengthError = DESFireStatus(rawValue: 0x7E)
    /// The file's kind or the settings don't allow it.
    static let permissionDenied = DESFireStatus(rawValue: 0x9D)
    /// A parameter is wrong.
    static let parameterError = DESFireStatus(rawValue: 0x9E)
    /// There is no such application.
    static let applicationNotFound = DESFireStatus(rawValue: 0xA0)
    /// A key is needed that was not proved.
    static let authenticationError = DESFireStatus(rawValue: 0xAE)
    /// More follows.
    static let additionalFrame = DESFireStatus(rawValue: 0xAF)
    /// The range reaches beyond the file.
    static let boundaryError = DESFireStatus(rawValue: 0xBE)
    /// There is such an application or file already.
    static let duplicate = DESFireStatus(rawValue: 0xDE)
    /// There is no such file.
    static let fileNotFound = DESFireStatus(rawValue: 0xF0)
}

/// What a native command leads to.
struct DESFireReply: Sendable {
    var data: [UInt8] = []
    var status = DESFireStatus.success
    /// How many octets were programmed; 0 when the memory is as before.
    var programmed = 0
}

extension [UInt8] {
    /// A number of as many octets as `count` says, least significant first. The range must lie inside.
    func littleEndian(at offset: Int, count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
    }

    /// The lowest octets of a number, least significant first.
    init(littleEndian value: Int, count: Int) {
        self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
