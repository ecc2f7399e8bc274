// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Hears of what an NDEF reader session finds. All methods are called on the session's queue.
public protocol NFCNDEFReaderSessionDelegate: NSObjectProtocol {
    /// The session has ended. Called once, as the last method.
    ///
    /// - Parameters:
    ///   - session: the session, which can't begin again.
    ///   - error: an ``NFCReaderError`` that says why.
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error)

    /// The session has read messages. Not called when the delegate implements ``readerSession(_:didDetect:)``.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - messages: one message a tag.
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage])

    /// The session has found tags, and waits until ``NFCNDEFReaderSession/restartPolling()``.
    ///
    /// A delegate that does not implement it has the tags read and gets their messages.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - tags: the tags; connect to one before commands.
    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag])

    /// The session is active: the sheet is up and the reader looks for tags. Comes before any detection.
    ///
    /// - Parameter session: the session.
    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession)
}

extension NFCNDEFReaderSessionDelegate {
    /// Reads the tags and calls ``readerSession(_:didDetectNDEFs:)``: a delegate without this method gets messages.
    public func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        session.readMessages(of: tags, for: self)
    }

    /// Does nothing.
    public func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}
}
