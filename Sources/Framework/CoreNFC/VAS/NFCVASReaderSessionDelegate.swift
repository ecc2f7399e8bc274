// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Hears of what a value added service (VAS) session receives. All methods are called on the session's queue.
public protocol NFCVASReaderSessionDelegate: NSObjectProtocol {
    /// The session is active. Need not be implemented.
    ///
    /// - Parameter session: the session.
    func readerSessionDidBecomeActive(_ session: NFCVASReaderSession)

    /// The session has ended. Called once, as the last method.
    ///
    /// - Parameters:
    ///   - session: the session, which can't begin again.
    ///   - error: an ``NFCReaderError`` that says why.
    func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error)

    /// A phone has answered.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - responses: one answer a configuration, in the order of the configurations.
    func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse])
}

extension NFCVASReaderSessionDelegate {
    /// Does nothing.
    public func readerSessionDidBecomeActive(_ session: NFCVASReaderSession) {}
}
