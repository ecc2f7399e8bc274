// SPDX-License-Identifier: Apache-2.0
public import TagProtocols

/// Why an app's command to a tag failed.
public enum CommandError: Error, Sendable, Hashable {
    /// The session has ended, or was never begun.
    case sessionInvalidated
    /// The tag is not the connected one.
    case notConnected
    /// The tag can't be used any more: it left, its time limit was over, or polling was restarted.
    case tagUnavailable
    /// The procedure on the tag failed.
    case tag(TagError)
}
