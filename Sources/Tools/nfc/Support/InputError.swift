// SPDX-License-Identifier: Apache-2.0
import LinuxSupport

/// Why input is invalid.
struct InputError: Error {
    /// The error's name.
    var name: String
    /// The index of the wrong character of the line, or of the wrong record.
    var offset: Int
    /// What is wrong, as a sentence.
    var message: String
}

extension InputError {
    /// Standard input that can't be read.
    init(_ error: StorageError, offset: Int) {
        let name = error.code == .tooLarge ? "input-too-large" : "unreadable-input"
        self.init(name: name, offset: offset, message: error.reason)
    }
}
