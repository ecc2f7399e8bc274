// SPDX-License-Identifier: Apache-2.0

/// How a tag answers a command.
package enum AnswerTime: Sendable, Hashable {
    /// The tag does not answer; the command only has to be sent.
    case none
    /// The technology's own time for an ordinary command.
    case usual
    /// The tag programs its memory first.
    case write
}
