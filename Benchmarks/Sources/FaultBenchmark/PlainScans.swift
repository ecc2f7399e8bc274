// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCRuntime
import VirtualTags

/// Scans of an NTAG213 without the test kit, as `scan-benchmark` makes them, to compare with.
struct PlainScans {
    private let scanner: Scanner

    init() {
        let field = VirtualField()
        let message: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x04] + Array("example.com".utf8)
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
        let messageTLV = [0x03, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(21..<21 + messageTLV.count, with: messageTLV)
        field.bring(Type2Tag(contents))
        scanner = Scanner(environment: NFCEnvironment(reader: .field(field)))
    }

    /// How long a scan takes, when so many are made.
    func microseconds(of count: Int) async -> Double {
        let start = ContinuousClock.now
        await scanner.run(count)
        return start.duration(to: .now) / .microseconds(1) / Double(count)
    }

    /// Sendable because every property is only used on `queue`.
    private final class Scanner: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
        private let environment: NFCEnvironment
        private let queue = DispatchQueue(label: "scanner")
        private var session: NFCNDEFReaderSession?
        private var remaining = 0
        private var finish: (@Sendable () -> Void)?

        init(environment: NFCEnvironment) { self.environment = environment }

        func run(_ count: Int) async {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    remaining = count
                    finish = { continuation.resume() }
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
            session.connect(to: tag) { error in
                guard error == nil else { return session.invalidate() }
                tag.readNDEF { _, _ in session.invalidate() }
            }
        }

        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
            remaining -= 1
            if remaining > 0 { return begin() }
            self.session = nil
            finish?()
        }
    }
}
