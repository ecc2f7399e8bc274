// SPDX-License-Identifier: Apache-2.0
import Glibc

extension MessageStore {
    /// Why the store could not be opened or saved.
    struct Failure: Error {
        /// What is wrong and what to do, as sentences.
        var text: String
        /// The cause in a few words, for the scanning sheet: the end of a sentence, without its full stop.
        var cause: String

        /// A failure with its own cause.
        init(_ text: String, cause: String) {
            self.text = text
            self.cause = cause
        }

        /// A failure of a system call.
        ///
        /// - Parameters:
        ///   - what: what failed, as the beginning of a sentence.
        ///   - number: the errno.
        ///   - next: what to do next, as a sentence.
        init(_ what: String, number: Int32, next: String) {
            text = "\(what): \(unsafe String(cString: strerror(number))). \(next)"
            cause =
                switch number {
                case ENOSPC, EDQUOT, EFBIG: "there is no room on the disk"
                case EACCES, EPERM, EROFS: "the folder of the messages can't be changed"
                case ENOENT, ENOTDIR: "the folder of the messages is missing"
                default: "the disk failed"
                }
        }
    }
}
