// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The status octet of MIFARE DESFire's native commands (MF3ICD81 data sheet, 9.3).
package struct DESFireStatus: RawRepresentable, Sendable, Hashable, Error {
    package var rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Done.
    package static let success = DESFireStatus(rawValue: 0x00)
    /// There is no room for the file.
    package static let outOfMemory = DESFireStatus(rawValue: 0x0E)
    /// Nothing was changed that a commit or an abort would be about.
    package static let noChanges = DESFireStatus(rawValue: 0x0C)
    /// The command is not known.
    package static let illegalCommand = DESFireStatus(rawValue: 0x1C)
    /// A code, checksum or padding is wrong.
    package static let integrityError = DESFireStatus(rawValue: 0x1E)
    /// There is no such key.
    package static let noSuchKey = DESFireStatus(rawValue: 0x40)
    /// The command's length is wrong.
    package static let lengthError = DESFireStatus(rawValue: 0x7E)
    /// The file's kind or the settings don't allow it.
    package static let permissionDenied = DESFireStatus(rawValue: 0x9D)
    /// A parameter is wrong.
    package static let parameterError = DESFireStatus(rawValue: 0x9E)
    /// There is no such application.
    package static let applicationNotFound = DESFireStatus(rawValue: 0xA0)
    /// A key is needed that was not proved.
    package static let authenticationError = DESFireStatus(rawValue: 0xAE)
    /// More follows.
    package static let additionalFrame = DESFireStatus(rawValue: 0xAF)
    /// The range reaches beyond the file.
    package static let boundaryError = DESFireStatus(rawValue: 0xBE)
    /// There is such an application or file already.
    package static let duplicate = DESFireStatus(rawValue: 0xDE)
    /// There is no such file.
    package static let fileNotFound = DESFireStatus(rawValue: 0xF0)
}

/// What a native command leads to.
struct DESFireReply: Sendable {
    var data: [UInt8] = []
    /// Where the data are cut into frames, beyond the cuts that the length of a frame needs.
    var cuts: [Int] = []
    var status = DESFireStatus.success
    /// How many octets were programmed; 0 when the memory is as before.
    var programmed = 0

    init(data: [UInt8] = [], status: DESFireStatus = .success, programmed: Int = 0) {
        self.data = data
        self.status = status
        self.programmed = programmed
    }

    /// An answer whose parts come in frames of their own.
    init(parts: [[UInt8]]) {
        data = Array(parts.joined())
        for part in parts.dropLast() { cuts.append((cuts.last ?? 0) + part.count) }
    }
}
