// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCSessions
import PCSCDriver
import TagLink

/// A session on the reader of these tests, as in an app.
final class CardReader: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    // Sendable because a lock guards the session, and streams may be used from any thread.
    private let (tags, found) = AsyncStream.makeStream(of: NFCTag.self)
    private let (ends, ended) = AsyncStream.makeStream(of: NFCReaderError.Code.self)
    private let lock = NSLock()
    private var kept: NFCTagReaderSession?

    var session: NFCTagReaderSession? {
        lock.lock()
        defer { lock.unlock() }
        return kept
    }

    /// Starts a session.
    func begin() {
        let environment = NFCEnvironment(reader: .discovering(PCSCReader(.named(OpenPGPPeer.readerName))))
        let session = NFCEnvironment.$scoped.withValue(environment) {
            NFCTagReaderSession(pollingOption: .iso14443, delegate: self, queue: nil)
        }
        lock.lock()
        kept = session
        lock.unlock()
        session?.begin()
    }

    /// The next tag.
    func tag() async -> NFCTag? {
        for await tag in tags { return tag }
        return nil
    }

    /// Why the session ended.
    func end() async -> NFCReaderError.Code? {
        for await code in ends { return code }
        return nil
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        nonisolated(unsafe) let tags = tags
        for tag in unsafe tags { found.yield(tag) }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        if let error = error as? NFCReaderError { ended.yield(error.code) }
        found.finish()
        ended.finish()
    }
}
