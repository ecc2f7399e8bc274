// SPDX-License-Identifier: Apache-2.0

/// Which part of a command and its answer is protected.
package enum Protection: Sendable {
    /// For commands without secret data: only the protection that the session adds to every message.
    case standard
    /// The data in the command are protected, after a header of some bytes. `length` is the length of the unprotected
    /// data, if the header contains it.
    case command(CommunicationMode, header: Int, length: Int)
    /// The data in the command are encrypted, after a header of some bytes. Their length is not sent, so a mark follows
    /// their checksum.
    case markedCommand(header: Int)
    /// The data in the answer are protected. `isOpenEnded` means that the reader did not request a length, so the end
    /// must be marked.
    case answer(CommunicationMode, isOpenEnded: Bool = false)
}
