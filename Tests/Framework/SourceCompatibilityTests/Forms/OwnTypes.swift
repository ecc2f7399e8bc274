// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A tag of a client's own, for its tests: a class that is not final and has state.

class FakeCard: NSObject, NFCISO7816Tag {
    var answers: [Data] = []
    var sent: [NFCISO7816APDU] = []

    var type: __NFCTagType { .iso7816Compatible }
    var session: (any NFCReaderSessionProtocol)? { nil }
    var isAvailable: Bool { true }
    var initialSelectedAID: String { "D2760000850101" }
    var identifier: Data { Data([8, 1, 2, 3]) }
    var historicalBytes: Data? { nil }
    var applicationData: Data? { nil }
    var proprietaryApplicationDataCoding: Bool { false }
    // A tag that was written before iOS 26.4 does not have it.
    var supportsPACE: Bool { false }

    func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { nil }
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { self }
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { nil }
    func asNFCMiFareTag() -> (any NFCMiFareTag)? { nil }

    func sendCommand(
        apdu: NFCISO7816APDU,
        completionHandler: @escaping (Data, UInt8, UInt8, (any Error)?) -> Void
    ) {
        sent.append(apdu)
        completionHandler(answers.isEmpty ? Data() : answers.removeFirst(), 0x90, 0x00, nil)
    }

    func queryNDEFStatus(completionHandler: @escaping (NFCNDEFStatus, Int, (any Error)?) -> Void) {
        completionHandler(.notSupported, 0, nil)
    }

    func readNDEF(completionHandler: @escaping (NFCNDEFMessage?, (any Error)?) -> Void) {
        completionHandler(nil, NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage))
    }

    func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping ((any Error)?) -> Void) {
        completionHandler(NFCReaderError(.ndefReaderSessionErrorTagNotWritable))
    }

    func writeLock(completionHandler: @escaping ((any Error)?) -> Void) {
        completionHandler(nil)
    }

    func copy(with zone: NSZone? = nil) -> Any { self }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {}

    override init() {}

    required init?(coder: NSCoder) { nil }
}

final class FakePassport: FakeCard {
    override var supportsPACE: Bool { true }
}

final class FakeTicket: FakeCard {
    override var initialSelectedAID: String { "A0000002471001" }
}

// A client's own session subclasses need no repeated declarations.

class ScanSession: NFCTagReaderSession {}

class MessageSession: NFCNDEFReaderSession {
    var purpose = ""

    override func begin() {
        alertMessage = purpose
        super.begin()
    }
}

class PassSession: NFCVASReaderSession {}
final class PaymentSession: NFCPaymentTagReaderSession {}
class KeySession: CardSession {}

// A client that declares its own Sendable conformances.

extension NFCVASResponse: @unchecked @retroactive Sendable {}
extension NFCISO7816APDU: @unchecked @retroactive Sendable {}
extension NFCISO7816ResponseAPDU: @unchecked @retroactive Sendable {}
extension NFCTag: @unchecked @retroactive Sendable {}
extension NFCTagReaderSession.Configuration: @unchecked @retroactive Sendable {}

struct Passes: Sendable {
    var responses: [NFCVASResponse] = []
    var command: NFCISO7816APDU?
    var answer: NFCISO7816ResponseAPDU?
    var tag: NFCTag?
    var configuration: NFCTagReaderSession.Configuration?
}
