// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Hears of what a session for tags finds. All methods are called on the session's queue.
public protocol NFCTagReaderSessionDelegate: NSObjectProtocol {
    /// The session is active: the sheet is up and the reader looks for tags. Comes before any detection.
    ///
    /// - Parameter session: the session.
    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession)

    /// The session has ended. Called once, as the last method.
    ///
    /// - Parameters:
    ///   - session: the session, which can't begin again.
    ///   - error: an ``NFCReaderError`` that says why.
    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error)

    /// The session has found tags, and waits until ``NFCTagReaderSession/restartPolling()``.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - tags: the tags; connect to one before commands.
    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag])
}
