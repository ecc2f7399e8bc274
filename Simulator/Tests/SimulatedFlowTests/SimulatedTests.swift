// SPDX-License-Identifier: Apache-2.0
// Made by the simulator from what was just done. Put your app's own code in the place of SimulatedSession.
@preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct SimulatedTests {
    @Test("“Ticket \"A\"”, “Other” near the phone")
    func flow() async throws {
        try await withField { field in
            let session = SimulatedSession(writing: [0xd1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6e, 0x41])
            let tag1 = try await field.make(
                .product(
                    "NTAG213",
                    holding: TagMessage(bytes: [0xd1, 0x01, 0x06, 0x54, 0x02, 0x65, 0x6e, 0x6f, 0x6c, 0x64]),
                    uid: [0x04, 0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6]
                )
            )
            let tag2 = try await field.make(
                .product(
                    "NTAG215",
                    holding: TagMessage(bytes: [
                        0xd1, 0x01, 0x08, 0x54, 0x02, 0x65, 0x6e, 0x6f, 0x74, 0x68, 0x65, 0x72,
                    ]),
                    uid: [0x04, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06]
                )
            )
            let scan = Task { try await session.run() }
            try await field.bring(tag1)
            await field.wait(for: .milliseconds(2000))
            try await field.takeAway(tag1)
            try await field.bring(tag2)
            try await field.takeAway()
            let read = try await scan.value
            #expect(try await tag1.message() == TagMessage(bytes: [0xd1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6e, 0x41]))
            #expect(
                try await tag2.message()
                    == TagMessage(bytes: [0xd1, 0x01, 0x08, 0x54, 0x02, 0x65, 0x6e, 0x6f, 0x74, 0x68, 0x65, 0x72])
            )
            _ = read
        }
    }
}

/// What the app did: it reads the first tag's message, and writes another one if it has one.
final class SimulatedSession: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    private let message: [UInt8]?
    private let lock = NSLock()
    private var session: NFCNDEFReaderSession?
    private var waiting: CheckedContinuation<[UInt8], any Error>?

    init(writing message: [UInt8]? = nil) { self.message = message }

    /// Scans, and returns the bytes of the message that was read.
    func run() async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            lock.withLock { waiting = continuation }
            let session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
            lock.withLock { self.session = session }
            session.alertMessage = "Hold your phone near the tag."
            session.begin()
        }
    }

    /// Ends the session without a result.
    func end() { lock.withLock { session }?.invalidate() }

    private func finish(_ result: Result<[UInt8], any Error>) {
        lock.withLock {
            defer { waiting = nil }
            return waiting
        }?.resume(with: result)
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        guard let tag = tags.first else { return }
        session.connect(to: tag) { error in
            if let error { return self.fail(session, error) }
            tag.readNDEF { message, error in
                // An empty tag has no message, which is no failure here.
                let read = message.map(Self.bytes) ?? []
                guard let new = self.message, let message = NFCNDEFMessage(data: Data(new)) else {
                    return self.succeed(session, read)
                }
                tag.writeNDEF(message) { error in
                    if let error { return self.fail(session, error) }
                    self.succeed(session, read)
                }
            }
        }
    }

    private func succeed(_ session: NFCNDEFReaderSession, _ read: [UInt8]) {
        finish(.success(read))
        session.invalidate()
    }

    private func fail(_ session: NFCNDEFReaderSession, _ error: any Error) {
        finish(.failure(error))
        session.invalidate(errorMessage: "The tag could not be used. Try again.")
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
    }

    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}

    /// The bytes of a message, with short records where the payload is short.
    private static func bytes(_ message: NFCNDEFMessage) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, record) in message.records.enumerated() {
            var header = record.typeNameFormat.rawValue
            if index == 0 { header |= 0x80 }
            if index == message.records.count - 1 { header |= 0x40 }
            let size = record.payload.count
            if size < 256 { header |= 0x10 }
            if !record.identifier.isEmpty { header |= 0x08 }
            bytes += [header, UInt8(record.type.count)]
            bytes += size < 256 ? [UInt8(size)] : (0..<4).map { UInt8(size >> (24 - 8 * $0) & 0xFF) }
            if !record.identifier.isEmpty { bytes.append(UInt8(record.identifier.count)) }
            bytes += record.type + record.identifier + record.payload
        }
        return bytes
    }
}
