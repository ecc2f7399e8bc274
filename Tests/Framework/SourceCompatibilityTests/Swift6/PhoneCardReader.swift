// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation

// An app that reads a card which another phone emulates: it selects the card's own application, asks it for a member's
// number, and reads the link that the card also has as an NDEF message.

struct PhoneCard: Sendable, Equatable {
    var member: String
    var link: URL?
}

enum PhoneCardError: Error, Equatable {
    case otherCard
    case status(UInt8, UInt8)
    case reader(NFCReaderError.Code)
}

final class PhoneCardReader: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    private var session: NFCTagReaderSession?
    private var continuation: CheckedContinuation<PhoneCard, any Error>?

    func read() async throws -> PhoneCard {
        defer { session = nil }
        return try await withCheckedThrowingContinuation { continuation in
            self.continuation = continuation
            session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
            session?.alertMessage = "Hold your phone near the other phone."
            session?.begin()
        }
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure((error as? NFCReaderError).map { PhoneCardError.reader($0.code) } ?? error))
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard let first = tags.first, case .iso7816(let tag) = first else { return session.restartPolling() }
        Task {
            do {
                try await session.connect(to: first)
                guard tag.initialSelectedAID == "F04D454D42455201" else { throw PhoneCardError.otherCard }
                let member = try await send([0x00, 0xCA, 0x00, 0x01, 0x00], to: tag)
                let message = try await tag.readNDEF()
                let link = message.records.first?.wellKnownTypeURIPayload()
                // The NDEF application is selected now, so the app's own application is selected again.
                let name: [UInt8] = [0xF0, 0x4D, 0x45, 0x4D, 0x42, 0x45, 0x52, 0x01]
                _ = try await send([0x00, 0xA4, 0x04, 0x00, UInt8(name.count)] + name + [0x00], to: tag)
                _ = try await send([0x00, 0xCA, 0x00, 0x01, 0x00], to: tag)
                finish(.success(PhoneCard(member: String(decoding: member, as: UTF8.self), link: link)))
                session.invalidate()
            } catch {
                finish(.failure((error as? NFCReaderError).map { PhoneCardError.reader($0.code) } ?? error))
                session.invalidate(errorMessage: "The other phone has no card.")
            }
        }
    }

    private func send(_ bytes: [UInt8], to tag: any NFCISO7816Tag) async throws -> Data {
        guard let command = NFCISO7816APDU(data: Data(bytes)) else { throw PhoneCardError.otherCard }
        let (data, sw1, sw2) = try await tag.sendCommand(apdu: command)
        guard (sw1, sw2) == (0x90, 0x00) else { throw PhoneCardError.status(sw1, sw2) }
        return data
    }

    private func finish(_ result: Result<PhoneCard, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}
