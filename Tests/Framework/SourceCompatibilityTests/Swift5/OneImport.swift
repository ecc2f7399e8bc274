// SPDX-License-Identifier: Apache-2.0
import CoreNFC

// A client that imports only Core NFC, as many do. Core NFC re-exports Foundation and Dispatch.

/// Sessions of every kind behind the client's own protocol.
protocol ScannerSession: NFCReaderSessionProtocol {
    static var readingAvailable: Bool { get }
    var delegate: AnyObject? { get }
}

extension NFCNDEFReaderSession: ScannerSession {}
extension NFCTagReaderSession: ScannerSession {}
extension NFCVASReaderSession: ScannerSession {}

extension NFCTagReaderSession {
    /// A session that keeps its own delegate.
    convenience init?(pollingOption: NFCTagReaderSession.PollingOption, log: ScanLog) {
        self.init(pollingOption: pollingOption, delegate: log)
    }
}

/// Logs the calls of a session.
final class ScanLog: NSObject, NFCTagReaderSessionDelegate {
    private let queue = DispatchQueue(label: "scan-log")
    private(set) var lines: [String] = []

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {
        queue.sync { lines.append("active") }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard case let .iso7816(tag) = tags.first else { return session.restartPolling() }
        let select = NFCISO7816APDU(
            instructionClass: 0x00,
            instructionCode: 0xA4,
            p1Parameter: 0x04,
            p2Parameter: 0x00,
            data: Data(),
            expectedResponseLength: -1
        )
        tag.sendCommand(apdu: select) { (data: Data, sw1: UInt8, sw2: UInt8, error: Error?) in
            self.queue.sync { self.lines.append(data.map { String(format: "%02x", $0) }.joined()) }
        }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) {
        queue.sync { lines.append(Self.name(of: error)) }
    }

    /// The four ways in which clients distinguish errors.
    static func name(of error: Error) -> String {
        if case NFCReaderError.readerSessionInvalidationErrorUserCanceled = error { return "cancelled" }
        switch (error as NSError).code {
        case NFCReaderError.readerSessionInvalidationErrorSessionTimeout.rawValue: return "timed out"
        default: break
        }
        do {
            throw error
        } catch NFCReaderError.readerTransceiveErrorTagConnectionLost {
            return "lost"
        } catch let error as NFCReaderError where error.code == .readerErrorUnsupportedFeature {
            return "unsupported"
        } catch {
            return error.localizedDescription
        }
    }
}
