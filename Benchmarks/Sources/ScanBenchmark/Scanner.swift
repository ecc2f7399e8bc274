// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime

/// Makes one whole scan after the other, as an app would: a session, its tag, a connection, the message, the end.
///
/// Sendable because every property is only used on `queue`.
final class Scanner: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    private let environment: NFCEnvironment
    private let queue = DispatchQueue(label: "scanner")
    private var session: NFCNDEFReaderSession?
    private var remaining = 0
    private var octets = 0
    private var finish: (@Sendable (Int) -> Void)?

    init(environment: NFCEnvironment) {
        self.environment = environment
    }

    /// Makes a number of scans.
    ///
    /// - Returns: how many octets of message were read.
    func run(_ count: Int) async -> Int {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                remaining = count
                octets = 0
                finish = { continuation.resume(returning: $0) }
                begin()
            }
        }
    }

    private func begin() {
        let session = NFCEnvironment.$scoped.withValue(environment) {
            NFCNDEFReaderSession(delegate: self, queue: queue, invalidateAfterFirstRead: false)
        }
        self.session = session
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first else { return session.invalidate() }
        session.connect(to: tag) { [self] error in
            guard error == nil else { return session.invalidate() }
            tag.readNDEF { [self] message, _ in
                octets += message?.length ?? 0
                session.invalidate()
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        remaining -= 1
        if remaining > 0 { return begin() }
        self.session = nil
        finish?(octets)
    }
}
