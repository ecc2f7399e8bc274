// SPDX-License-Identifier: Apache-2.0
import PrivateStorage

/// Standard input.
enum StandardInput {
    /// The maximum size of a message, and of all other input that is read whole from standard input, in bytes.
    static let maximumSize = 8 << 20

    /// Reads everything to the end.
    static func all() throws(InputError) -> [UInt8] {
        do throws(StorageError) {
            return try InputFile.standardInput(limit: maximumSize).readToEnd()
        } catch {
            throw InputError(error, offset: error.code == .tooLarge ? maximumSize : 0)
        }
    }
}
