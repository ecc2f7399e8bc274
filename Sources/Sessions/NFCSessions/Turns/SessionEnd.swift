// SPDX-License-Identifier: Apache-2.0

/// Why a session ended.
public enum SessionEnd: Sendable, Hashable {
    /// The user cancelled the sheet, or the app invalidated the session.
    case userCanceled
    /// The session reached its limit of 60 seconds.
    case timeout
    /// The reader failed; the reason is a sentence for people.
    case terminatedUnexpectedly(reason: String)
    /// The app went to the background.
    case appInBackground
    /// Another session's sheet was still leaving, and the policy is
    /// ``SessionArbiter/BusyPolicy/refuseWhileSheetLeaves``.
    case systemBusy
    /// The radio of the phone is off.
    case radioDisabled
    /// The session was for a single message, and has read it.
    case firstMessageRead
    /// The reader can't do what the session needs; the reason is a sentence for people.
    case unsupported(reason: String)
}
