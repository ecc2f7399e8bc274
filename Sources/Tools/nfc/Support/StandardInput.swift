// SPDX-License-Identifier: Apache-2.0
import LinuxSupport

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

    /// The message that a line has, if it is not larger than one that is read whole.
    static func limited(_ message: [UInt8]) -> Result<[UInt8], InputError> {
        guard message.count > maximumSize else { return .success(message) }
        let text = "The message has more than \(maximumSize >> 20) MiB."
        return .failure(InputError(name: "input-too-large", offset: maximumSize, message: text))
    }
}
