// SPDX-License-Identifier: Apache-2.0
public import TagProtocols

/// Why a command that an app gave to a tag failed.
public enum CommandError: Error, Sendable, Hashable {
    /// The session has ended, or was never begun.
    case sessionInvalidated
    /// The tag is not the connected one.
    case notConnected
    /// The tag is no longer the one that was found: it left, its time was up, or polling was restarted.
    case tagUnavailable
    /// The procedure on the tag failed.
    case tag(TagError)
}
