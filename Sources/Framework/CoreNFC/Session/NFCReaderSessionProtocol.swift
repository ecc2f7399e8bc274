// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What all reader sessions have in common.
public protocol NFCReaderSessionProtocol: NSObjectProtocol {
    /// Whether the session is active: its sheet is visible, and it has not ended.
    var isReady: Bool { get }

    /// The text on the scanning sheet. May be set before `begin()`, and at any time while the session is active, from
    /// any thread.
    var alertMessage: String { get set }

    /// Begins the session, or queues it behind the active one. Does nothing when the session has ended: create another
    /// one.
    func begin()

    /// Ends the session; the sheet shows that the work is done. The delegate receives
    /// `readerSessionInvalidationErrorUserCanceled`.
    func invalidate()

    /// Ends the session; the sheet shows an error message.
    ///
    /// - Parameter errorMessage: the text on the sheet.
    func invalidate(errorMessage: String)
}
