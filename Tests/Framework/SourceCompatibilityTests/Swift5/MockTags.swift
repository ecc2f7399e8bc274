// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// Mock classes of a client's tests: tags that conform to the protocols, and a session with scripted tags.

class MockChipCard: NSObject, NFCISO7816Tag {
    var initialSelectedAID: String = "A0000002471001"
    var identifier: Data = Data([1, 2, 3, 4])
    var historicalBytes: Data?
    var applicationData: Data?
    var proprietaryApplicationDataCoding: Bool = false
    var type: __NFCTagType = .iso7816Compatible
    var session: NFCReaderSessionProtocol?
    var isAvailable: Bool = true
    var answers: [(Data, UInt8, UInt8)] = []
    var sent: [NFCISO7816APDU] = []

    func sendCommand(apdu: NFCISO7816APDU, completionHandler: @escaping (Data, UInt8, UInt8, Error?) -> Void) {
        sent.append(apdu)
        guard !answers.isEmpty else {
            return completionHandler(Data(), 0, 0, NFCReaderError(.readerTransceiveErrorTagConnectionLost))
        }
        let answer = answers.removeFirst()
        completionHandler(answer.0, answer.1, answer.2, nil)
    }

    func asNFCISO15693Tag() -> NFCISO15693Tag? { nil }
    func asNFCISO7816Tag() -> NFCISO7816Tag? { self }
    func asNFCFeliCaTag() -> NFCFeliCaTag? { nil }
    func asNFCMiFareTag() -> NFCMiFareTag? { nil }

    func queryNDEFStatus(completionHandler: @escaping (NFCNDEFStatus, Int, Error?) -> Void) {}
    func readNDEF(completionHandler: @escaping (NFCNDEFMessage?, Error?) -> Void) {}
    func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping (Error?) -> Void) {}
    func writeLock(completionHandler: @escaping (Error?) -> Void) {}

    static var supportsSecureCoding: Bool = false
    func copy(with zone: NSZone? = nil) -> Any { self }
    func encode(with coder: NSCoder) {}
    override init() { super.init() }
    required init?(coder: NSCoder) { super.init() }
}

class MockCardSession: NFCTagReaderSession {
    enum Script {
        case detect([NFCTag])
        case end(Error)
    }

    var script = Script.detect([])
    weak var listener: NFCTagReaderSessionDelegate?
    var ended: [String] = []

    override func begin() {
        listener?.tagReaderSessionDidBecomeActive(self)
        switch script {
        case .detect(let tags): listener?.tagReaderSession(self, didDetect: tags)
        case .end(let error): listener?.tagReaderSession(self, didInvalidateWithError: error)
        }
    }

    override func invalidate() { ended.append("") }
    override func invalidate(errorMessage: String) { ended.append(errorMessage) }
    override func restartPolling() { begin() }
}
