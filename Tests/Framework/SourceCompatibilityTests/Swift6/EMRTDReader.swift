// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A reader of electronic travel documents: it selects the application, opens it with basic access control and reads a
// file. The cryptography is a dependency, because Core NFC has none.

protocol AccessKeys: Sendable {
    func externalAuthenticateData(challenge: Data) throws -> Data
    func verify(_ answer: Data) throws
}

enum PassportError: Error, Equatable {
    case noDocument
    case status(UInt8, UInt8)
    case lost
}

@MainActor
final class PassportReader: NSObject {
    private var session: NFCTagReaderSession?
    private var continuation: CheckedContinuation<Data, any Error>?
    private let keys: any AccessKeys

    init(keys: any AccessKeys) {
        self.keys = keys
    }

    func readFile(_ identifier: UInt16) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            self.continuation = continuation
            session = NFCTagReaderSession(pollingOption: [.iso14443], delegate: self, queue: .main)
            session?.alertMessage = "Hold your phone on the document."
            session?.begin()
        }
    }

    private func finish(_ result: Result<Data, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
        session = nil
    }

    private func open(_ tag: any NFCISO7816Tag) async throws -> Data {
        try await select(tag, aid: [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01])
        let challenge = NFCISO7816APDU(
            instructionClass: 0x00,
            instructionCode: 0x84,
            p1Parameter: 0,
            p2Parameter: 0,
            data: Data(),
            expectedResponseLength: 8
        )
        let (random, sw1, sw2) = try await tag.sendCommand(apdu: challenge)
        guard sw1 == 0x90, sw2 == 0x00 else { throw PassportError.status(sw1, sw2) }
        let mutual = NFCISO7816APDU(
            instructionClass: 0x00,
            instructionCode: 0x82,
            p1Parameter: 0,
            p2Parameter: 0,
            data: try keys.externalAuthenticateData(challenge: random),
            expectedResponseLength: 40
        )
        let answer: NFCISO7816ResponseAPDU = try await tag.sendCommand(apdu: mutual)
        guard answer.statusWord1 == 0x90 else {
            throw PassportError.status(answer.statusWord1, answer.statusWord2)
        }
        try keys.verify(answer.payload ?? Data())
        return try await readBinary(tag)
    }

    private func select(_ tag: any NFCISO7816Tag, aid: [UInt8]) async throws {
        guard let command = NFCISO7816APDU(data: Data([0x00, 0xA4, 0x04, 0x0C, UInt8(aid.count)] + aid)) else { return }
        let result = try await tag.sendCommand(apdu: command)
        guard result.1 == 0x90 else { throw PassportError.status(result.1, result.2) }
    }

    private func readBinary(_ tag: any NFCISO7816Tag) async throws -> Data {
        var contents = Data()
        while contents.count < 0x100 {
            let command = NFCISO7816APDU(
                instructionClass: 0,
                instructionCode: 0xB0,
                p1Parameter: UInt8(contents.count >> 8),
                p2Parameter: UInt8(contents.count & 0xFF),
                data: Data(),
                expectedResponseLength: 256
            )
            let (data, sw1, _) = try await tag.sendCommand(apdu: command)
            contents += data
            guard sw1 == 0x90, !data.isEmpty else { break }
        }
        return contents
    }
}

extension PassportReader: @MainActor NFCTagReaderSessionDelegate {
    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard tags.count == 1, case .iso7816(let tag)? = tags.first else {
            session.alertMessage = "More than one document. Take one away."
            session.restartPolling()
            return
        }
        Task {
            do {
                try await session.connect(to: .iso7816(tag))
                let contents = try await open(tag)
                session.alertMessage = "Done."
                session.invalidate()
                finish(.success(contents))
            } catch let error as NFCReaderError where error.code == .readerTransceiveErrorTagConnectionLost {
                session.invalidate(errorMessage: "Connection lost.")
                finish(.failure(PassportError.lost))
            } catch {
                session.invalidate(errorMessage: error.localizedDescription)
                finish(.failure(error))
            }
        }
    }
}
