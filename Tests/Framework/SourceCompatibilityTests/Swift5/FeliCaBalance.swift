// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

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
