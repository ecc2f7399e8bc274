// SPDX-License-Identifier: Apache-2.0
public import TagProtocols

/// Why a session ended.
public enum SessionEnd: Sendable, Hashable {
    /// The person cancelled the sheet, or the app invalidated the session.
    case userCanceled
    /// The session reached its limit of 60 seconds.
    case timeout
    /// The reader failed; the reason is a sentence for people.
    case terminatedUnexpectedly(reason: String)
    /// The app went to the background.
    case appInBackground
    /// Another session's sheet is still leaving, and the compatibility switch is on.
    case systemBusy
    /// The session was to read one message, and has.
    case firstMessageRead
    /// The reader can't do what the session needs; the reason is a sentence for people.
    case unsupported(reason: String)
}

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
