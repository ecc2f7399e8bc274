// SPDX-License-Identifier: Apache-2.0

/// The status byte of MIFARE DESFire's native commands (MF3ICD81 data sheet, 9.3).
package struct DESFireStatus: RawRepresentable, Sendable, Hashable, Error {
    package var rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The command was successful.
    package static let success = DESFireStatus(rawValue: 0x00)
    /// READ SIGNATURE was successful. No other command has this status (NXP AN12196; AN12343, table 44).
    package static let signature = DESFireStatus(rawValue: 0x90)
    /// There is not enough memory for the file.
    package static let outOfMemory = DESFireStatus(rawValue: 0x0E)
    /// There are no changes to commit or to abort.
    package static let noChanges = DESFireStatus(rawValue: 0x0C)
    /// The form of READ SIGNATURE is wrong. Only NTAG 424 DNA has this status, for this command alone.
    package static let formatError = DESFireStatus(rawValue: 0x0C)
    /// The command is unknown.
    package static let illegalCommand = DESFireStatus(rawValue: 0x1C)
    /// A MAC, a checksum or the padding is wrong.
    package static let integrityError = DESFireStatus(rawValue: 0x1E)
    /// There is no such key.
    package static let noSuchKey = DESFireStatus(rawValue: 0x40)
    /// The command's length is wrong.
    package static let lengthError = DESFireStatus(rawValue: 0x7E)
    /// The file's kind or the settings do not allow the command.
    package static let permissionDenied = DESFireStatus(rawValue: 0x9D)
    /// A parameter is wrong.
    package static let parameterError = DESFireStatus(rawValue: 0x9E)
    /// There is no such application.
    package static let applicationNotFound = DESFireStatus(rawValue: 0xA0)
    /// The required authentication is missing, or it failed.
    package static let authenticationError = DESFireStatus(rawValue: 0xAE)
    /// Another frame follows.
    package static let additionalFrame = DESFireStatus(rawValue: 0xAF)
    /// The range ends beyond the file.
    package static let boundaryError = DESFireStatus(rawValue: 0xBE)
    /// The previous command was not completed: the reader has not sent or requested all its frames.
    package static let commandAborted = DESFireStatus(rawValue: 0xCA)
    /// The card has as many applications as it can have.
    package static let countError = DESFireStatus(rawValue: 0xCE)
    /// The application or the file exists already.
    package static let duplicate = DESFireStatus(rawValue: 0xDE)
    /// There is no such file.
    package static let fileNotFound = DESFireStatus(rawValue: 0xF0)
}
