// SPDX-License-Identifier: Apache-2.0

extension CardSession {
    /// Why emulation failed, or a session ended.
    public enum Error: Swift.Error, Sendable, Hashable {
        /// The user, or the app's entitlements, did not allow it.
        case accessNotAccepted
        /// Emulation stopped before the command was answered.
        case emulationStopped
        /// The app ended the session.
        case invalidated
        /// The session reached its limit of 60 seconds.
        case maxSessionDurationReached
        /// The radio is off.
        case radioDisabled
        /// The device or the user is not eligible.
        case systemEligibilityFailed
        /// No virtual or linked reader can take a card, or it is in use.
        case systemNotAvailable
        /// The response could not be sent: the reader is gone, or the command was answered before.
        case transmissionError
        /// The user ended the session.
        case userInvalidated
    }
}
