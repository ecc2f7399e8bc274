// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Receives the events of a value added service (VAS) session. All methods are called on the session's queue.
public protocol NFCVASReaderSessionDelegate: NSObjectProtocol {
    /// The session is active. Optional to implement.
    ///
    /// - Parameter session: the session.
    func readerSessionDidBecomeActive(_ session: NFCVASReaderSession)

    /// The session has ended. Called once, after all other methods.
    ///
    /// - Parameters:
    ///   - session: the session. It can't begin again.
    ///   - error: the reason, an ``NFCReaderError``.
    func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error)

    /// A phone has answered.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - responses: one answer for each configuration, in the order of the configurations.
    func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse])
}

extension NFCVASReaderSessionDelegate {
    /// Does nothing.
    public func readerSessionDidBecomeActive(_ session: NFCVASReaderSession) {}
}
