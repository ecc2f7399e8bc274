// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation

/// Scans one tag after the other, with async functions in place of a delegate.
///
/// Call ``end(_:)`` after the last tag. The session's queue is the main queue.
public final class TagScan: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    // Safe: only the main queue reads and writes the properties.
    private var session: NFCTagReaderSession?
    private var hasBegun = false
    private var waiting: CheckedContinuation<NFCTag, any Error>?

    /// Begins a session. The sheet shows `message`.
    ///
    /// - Throws: `CocoaError` with `featureUnsupported` if this device can't read tags.
    @MainActor public init(_ options: NFCTagReaderSession.PollingOption, message: String) throws {
        super.init()
        guard NFCTagReaderSession.readingAvailable else { throw CocoaError(.featureUnsupported) }
        session = NFCTagReaderSession(pollingOption: options, delegate: self, queue: .main)
        session?.alertMessage = message
    }

    /// Waits for the next tag. The first call begins the session, each later one restarts polling. A tag that stays near is found
    /// again.
    ///
    /// - Parameter connects: whether to connect to the tag.
    /// - Throws: the error that ended the session, or that of the connection.
    @MainActor public func next(connects: Bool = true) async throws -> NFCTag {
        guard let session else { throw NFCReaderError(.readerSessionInvalidationErrorSessionTerminatedUnexpectedly) }
        let tag = try await withCheckedThrowingContinuation { continuation in
            waiting = continuation
            if hasBegun { session.restartPolling() } else { session.begin() }
            hasBegun = true
        }
        if connects { try await session.connect(to: tag) }
        return tag
    }

    /// Ends the session. The sheet shows the error if there is one.
    @MainActor public func end(_ error: (any Error)? = nil) {
        if let error { session?.invalidate(errorMessage: error.localizedDescription) } else { session?.invalidate() }
        session = nil
    }

    public func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    public func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard tags.count == 1 else { return session.restartPolling() }
        waiting?.resume(returning: tags[0])
        waiting = nil
    }

    public func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        self.session = nil
        waiting?.resume(throwing: error)
        waiting = nil
    }
}
