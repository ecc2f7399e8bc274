// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Receives the events of an NDEF reader session. All methods are called on the session's queue.
public protocol NFCNDEFReaderSessionDelegate: NSObjectProtocol {
    /// The session has ended. Called once, after all other methods.
    ///
    /// - Parameters:
    ///   - session: the session. It can't begin again.
    ///   - error: the reason, an ``NFCReaderError``.
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error)

    /// The session has read messages. Not called when the delegate implements ``readerSession(_:didDetect:)``.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - messages: one message for each tag.
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage])

    /// The session has found tags. It waits until the app calls ``NFCNDEFReaderSession/restartPolling()``.
    ///
    /// If the delegate does not implement this method, the session reads the tags and reports their messages.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - tags: the tags; connect to one before you send commands.
    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag])

    /// The session is active: the sheet is visible and the reader looks for tags. Called before any detection.
    ///
    /// - Parameter session: the session.
    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession)
}

extension NFCNDEFReaderSessionDelegate {
    /// Reads the tags and calls ``readerSession(_:didDetectNDEFs:)``, because the delegate does not implement this
    /// method.
    public func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        session.readMessages(of: tags, for: self)
    }

    /// Does nothing.
    public func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}
}
