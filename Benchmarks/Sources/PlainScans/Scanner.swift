// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Dispatch
import Foundation
import NFCSessions
import TagLink
import VirtualTags

/// Scans an NTAG213 repeatedly, as an app would: a session, its tag, a connection, the message, the end.
public struct PlainScans: Sendable {
    /// The length of the message that a scan reads.
    public static let messageLength = message.count

    private static let message: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x04] + Array("example.com".utf8)

    private let scanner: Scanner

    /// Puts the tag in a virtual field.
    public init() {
        let field = VirtualField()
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
        let messageTLV = [0x03, UInt8(Self.message.count)] + Self.message + [0xFE]
        contents.memory.replaceSubrange(21..<21 + messageTLV.count, with: messageTLV)
        field.bring(VirtualType2Tag(contents))
        scanner = Scanner(environment: NFCEnvironment(reader: .field(field)))
    }

    /// Runs a number of scans.
    ///
    /// - Returns: how many bytes of message were read, and how long a scan took in microseconds.
    public func run(_ count: Int) async -> (bytes: Int, microseconds: Double) {
        let start = ContinuousClock.now
        let bytes = await scanner.run(count)
        return (bytes, start.duration(to: .now) / .microseconds(1) / Double(count))
    }
}

/// Sendable because every property is only used on `queue`.
private final class Scanner: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    private let environment: NFCEnvironment
    private let queue = DispatchQueue(label: "scanner")
    private var session: NFCNDEFReaderSession?
    private var remaining = 0
    private var bytes = 0
    private var finish: (@Sendable (Int) -> Void)?

    init(environment: NFCEnvironment) {
        self.environment = environment
    }

    /// Runs a number of scans.
    ///
    /// - Returns: how many bytes of message were read.
    func run(_ count: Int) async -> Int {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                remaining = count
                bytes = 0
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
                bytes += message?.length ?? 0
                session.invalidate()
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        remaining -= 1
        if remaining > 0 { return begin() }
        self.session = nil
        finish?(bytes)
    }
}
