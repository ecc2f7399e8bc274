// SPDX-License-Identifier: Apache-2.0

extension CardSession {
    /// Why emulation failed, or a session ended.
    public enum Error: Swift.Error, Sendable, Hashable {
        /// The person, or the app's entitlements, did not give access.
        case accessNotAccepted
        /// Emulation was stopped before the answer.
        case emulationStopped
        /// The app has ended the session.
        case invalidated
        /// The session has reached its limit of 60 seconds.
        case maxSessionDurationReached
        /// The radio is off.
        case radioDisabled
        /// The device or the person is not eligible.
        case systemEligibilityFailed
        /// There is nothing that can be a card, or it is in use.
        case systemNotAvailable
        /// The answer could not be sent: the reader is gone, or the command has been answered.
        case transmissionError
        /// The person has ended the session.
        case userInvalidated
    }
}
