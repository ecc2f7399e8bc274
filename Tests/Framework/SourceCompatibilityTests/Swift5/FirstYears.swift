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

// A reader of the balance of a transport card, in the completion-handler style of the first years.

public class FeliCaBalanceReader: NSObject, NFCTagReaderSessionDelegate {
    var session: NFCTagReaderSession?
    var balance: Int?
    var failure: String?
    var history: [Data] = []
    var completion: (() -> Void)?

    func beginScanning() {
        guard NFCTagReaderSession.readingAvailable else {
            failure = "This device does not read NFC."
            return
        }
        session = NFCTagReaderSession(pollingOption: .iso18092, delegate: self)
        session?.alertMessage = "Hold the card on top of the phone."
        session?.begin()
    }

    public func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {
        print("active")
    }

    public func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {
        if let readerError = error as? NFCReaderError {
            if (readerError.code != .readerSessionInvalidationErrorFirstNDEFTagRead)
                && (readerError.code != .readerSessionInvalidationErrorUserCanceled)
            {
                failure = error.localizedDescription
            }
        }
        self.session = nil
        completion?()
    }

    public func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        if tags.count > 1 {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) {
                session.restartPolling()
            }
            return
        }
        guard let tag = tags.first else { return }
        session.connect(to: tag) { error in
            if nil != error {
                session.invalidate(errorMessage: "Connection error. Please try again.")
                return
            }
            guard case .feliCa(let feliCaTag) = tag else {
                session.invalidate(errorMessage: "This is not a transport card.")
                return
            }
            let idm = feliCaTag.currentIDm.map { String(format: "%.2hhx", $0) }.joined()
            let systemCode = feliCaTag.currentSystemCode.map { String(format: "%.2hhx", $0) }.joined()
            print(idm, systemCode)
            self.readHistory(feliCaTag)
        }
    }

    private func readHistory(_ tag: NFCFeliCaTag) {
        let serviceCode = Data([0x09, 0x0f].reversed())
        tag.requestService(nodeCodeList: [serviceCode]) { nodes, error in
            if let error = error {
                self.session?.invalidate(errorMessage: error.localizedDescription)
                return
            }
            guard let data = nodes.first, data != Data([0xff, 0xff]) else {
                self.session?.invalidate(errorMessage: "The service does not exist.")
                return
            }
            let blockList = (0..<UInt8(10)).map { Data([0x80, $0]) }
            tag.readWithoutEncryption(serviceCodeList: [serviceCode], blockList: blockList) {
                status1,
                status2,
                dataList,
                error in
                guard error == nil, status1 == 0x00, status2 == 0x00 else {
                    self.session?.invalidate(errorMessage: "Status \(status1), \(status2)")
                    return
                }
                self.history = dataList
                self.balance = dataList.first.map { Int($0[10]) + Int($0[11]) << 8 }
                self.session?.alertMessage = "Done"
                self.session?.invalidate()
            }
        }
    }
}

// Spellings of the first years, which are deprecated and still in use.

@available(*, deprecated)
struct OldSpellings {
    var flags: RequestFlag = [.RequestFlagHighDataRate, .RequestFlagAddress]
    var request: PollingRequestCode = .PollingRequestCodeSystemCode
    var slots: PollingTimeSlot = .PollingTimeSlotMax1
    var encryption: EncryptionId = .aes
    var mode: VASMode = .VASModeNormal
    var status: VASErrorCode = .VASErrorCodeSuccess

    func lock(_ tag: NFCISO15693Tag, done: @escaping (Error?) -> Void) {
        tag.lockDFSID(requestFlags: flags) { error in done(error) }
    }

    func info(_ tag: NFCISO15693Tag, done: @escaping (Int) -> Void) {
        tag.getSystemInfo(requestFlags: [.highDataRate]) {
            (dsfid: Int, afi: Int, blockSize: Int, blockCount: Int, icReference: Int, error: Error?) in
            done(blockCount)
        }
    }

    func text() -> NFCNDEFPayload? {
        NFCNDEFPayload.wellKnowTypeTextPayload(string: "Hello", locale: Locale(identifier: "en"))
    }
}
