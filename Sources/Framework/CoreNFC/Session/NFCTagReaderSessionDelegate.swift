// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Receives the events of a tag reader session. All methods are called on the session's queue.
public protocol NFCTagReaderSessionDelegate: NSObjectProtocol {
    /// The session is active: the sheet is visible and the reader looks for tags. Called before any detection.
    ///
    /// - Parameter session: the session.
    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession)

    /// The session has ended. Called once, after all other methods.
    ///
    /// - Parameters:
    ///   - session: the session. It can't begin again.
    ///   - error: the reason, an ``NFCReaderError``.
    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error)

    /// The session has found tags. It waits until the app calls ``NFCTagReaderSession/restartPolling()``.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - tags: the tags; connect to one before you send commands.
    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag])
}
