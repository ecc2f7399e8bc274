// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A reader of the pages of an NTAG, which asks for its version first and reads four pages at a time.

class NTAGPageReader: NSObject, NFCTagReaderSessionDelegate {
    private(set) var session: NFCTagReaderSession?
    private(set) var pages: [Data] = []
    private(set) var version: Data?
    private(set) var lastError: Error?
    var onEnd: ((NTAGPageReader) -> Void)?

    func scan(queue: DispatchQueue? = nil) {
        session = NFCTagReaderSession(pollingOption: [.iso14443, .iso15693], delegate: self, queue: queue)
        session?.begin()
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {
        lastError = error
        onEnd?(self)
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard let first = tags.first, case let .miFare(tag) = first else {
            session.invalidate(errorMessage: "Not an NTAG")
            return
        }
        guard tag.mifareFamily == .ultralight else { return session.restartPolling() }
        session.connect(to: first) { [weak self] error in
            if let error = error {
                session.invalidate(errorMessage: error.localizedDescription)
                return
            }
            tag.sendMiFareCommand(commandPacket: Data([0x60])) { response, error in
                guard error == nil, response.count == 8 else {
                    session.invalidate(errorMessage: "No version")
                    return
                }
                self?.version = response
                self?.read(from: 0, of: tag)
            }
        }
    }

    private func read(from page: UInt8, of tag: NFCMiFareTag) {
        guard page < 16 else {
            session?.invalidate()
            return
        }
        tag.sendMiFareCommand(commandPacket: Data([0x30, page])) { (result: Result<Data, Error>) in
            switch result {
            case .success(let data):
                self.pages += stride(from: 0, to: data.count, by: 4).map { data[$0..<min($0 + 4, data.count)] }
                self.read(from: page + 4, of: tag)
            case .failure(let error):
                self.session?.invalidate(errorMessage: error.localizedDescription)
            }
        }
    }

    func write(_ page: UInt8, _ value: [UInt8], to tag: NFCMiFareTag, done: @escaping (Bool) -> Void) {
        tag.sendMiFareCommand(commandPacket: Data([0xA2, page] + value)) { response, error in
            done(error == nil && response.first == 0x0A)
        }
    }
}
