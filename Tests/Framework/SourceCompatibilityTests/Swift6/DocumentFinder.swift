// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation

// An app in the style of iOS 26.4 and later: it looks for documents that take PACE, and for tickets of some systems in turn.

@available(iOS 26.4, *)
extension NFCTagReaderSession.Configuration {
    static var documents: NFCTagReaderSession.Configuration {
        NFCTagReaderSession.Configuration(
            pollingOption: [.iso14443, .pace],
            iso7816SelectIdentifiers: ["A0000002471001"]
        )
    }

    static func tickets(_ systems: [String]) -> NFCTagReaderSession.Configuration {
        var configuration = NFCTagReaderSession.Configuration(pollingOption: .iso18092)
        configuration.feliCaSystemCodes = systems
        return configuration
    }
}

@available(iOS 26.4, *)
@MainActor
final class DocumentFinder: NSObject, @preconcurrency NFCTagReaderSessionDelegate {
    private(set) var log: [String] = []
    private var session: NFCTagReaderSession?
    private let onEnd: ([String]) -> Void

    init(onEnd: @escaping ([String]) -> Void) {
        self.onEnd = onEnd
    }

    func find() {
        let session = NFCTagReaderSession(configuration: .documents, delegate: self, queue: .main)
        session.alertMessage = "Hold the document near the phone."
        session.begin()
        self.session = session
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {
        log.append("active")
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        switch tags.first {
        case .iso7816(let document) where document.supportsPACE:
            log.append("document with PACE")
            session.restartPolling(configuration: .tickets(["0003"]))
        case .iso7816(let document):
            log.append("document \(document.initialSelectedAID)")
            session.restartPolling(configuration: .tickets(["0003"]))
        case .feliCa(let ticket):
            log.append("ticket \([UInt8](ticket.currentSystemCode))")
            session.invalidate()
        default:
            session.invalidate(errorMessage: "This is no document.")
        }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        switch error {
        case NFCReaderError.paymentTagReaderSessionErrorLocationAuthorizationDenied,
            NFCReaderError.paymentTagReaderSessionErrorLocationServiceRestricted,
            NFCReaderError.paymentTagReaderSessionErrorOnDeviceLocationUnavailable:
            log.append("location")
        default: log.append("ended")
        }
        self.session = nil
        onEnd(log)
    }
}
