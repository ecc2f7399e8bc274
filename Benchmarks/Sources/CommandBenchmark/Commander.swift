// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCSessions

/// Sends one command after the other to an NTAG213 in one session, as an app would.
///
/// Sendable because every property is only used on `queue`.
final class Commander: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    private let environment: NFCEnvironment
    private let queue = DispatchQueue(label: "commander")
    private let command = Data([0x30, 0x04])
    private var session: NFCTagReaderSession?
    private var remaining = 0
    private var answered = 0
    private var finish: (@Sendable (Int) -> Void)?

    init(environment: NFCEnvironment) {
        self.environment = environment
    }

    /// Runs a session with a number of commands.
    ///
    /// - Returns: how many were answered.
    func run(_ count: Int) async -> Int {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                remaining = count
                answered = 0
                finish = { continuation.resume(returning: $0) }
                session = NFCEnvironment.$scoped.withValue(environment) {
                    NFCTagReaderSession(pollingOption: .iso14443, delegate: self, queue: queue)
                }
                session?.begin()
            }
        }
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard let first = tags.first, case .miFare(let tag) = first else { return session.invalidate() }
        session.connect(to: first) { [self] error in
            if error == nil { next(tag) } else { session.invalidate() }
        }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        self.session = nil
        finish?(answered)
    }

    private func next(_ tag: any NFCMiFareTag) {
        guard remaining > 0 else {
            session?.invalidate()
            return
        }
        remaining -= 1
        tag.sendMiFareCommand(commandPacket: command) { [self] (answer: Data, error: (any Error)?) in
            if error == nil, answer.count == 16 { answered += 1 }
            next(tag)
        }
    }
}
