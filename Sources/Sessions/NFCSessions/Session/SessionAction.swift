// SPDX-License-Identifier: Apache-2.0

/// An action of the session's state machine, or the last one of a session that had the reader.
enum SessionAction: Sendable {
    case session(SessionStateMachine.Action)
    /// Passes the reader on. The next session becomes active after the end of this one was reported.
    case handOnReader
}
