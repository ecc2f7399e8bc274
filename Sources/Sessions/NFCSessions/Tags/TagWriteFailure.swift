// SPDX-License-Identifier: Apache-2.0
package import TagProtocols

/// Why a tag was not written, and at which step.
package struct TagWriteFailure: Error, Sendable {
    /// A step of the write.
    package enum Step: Sendable {
        /// Writing the message, or reading the data that is needed for it.
        case writing
        /// Reading the written message again.
        case checking
        /// Making the tag read-only, after the message was written.
        case locking
    }

    /// The step that failed.
    package var step: Step
    /// The error.
    package var error: TagError

    /// Whether the content of the tag is unknown, because it did not answer the last command.
    package var leavesDoubt: Bool { [.tagLost, .readerUnavailable, .cancelled].contains(error.code) }
}
