// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

final class Scanner: NSObject, NFCNDEFReaderSessionDelegate {
    func scan() {
        let session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: true)
        session.alertMessage = "Hold the poster near the reader."
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        for record in messages.flatMap(\.records) {
            if let url = record.wellKnownTypeURIPayload() {
                print("Link: \(url)")
            } else if let text = record.wellKnownTypeTextPayload().0 {
                print("Text: \(text)")
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        let isDone = (error as? NFCReaderError)?.code == .readerSessionInvalidationErrorFirstNDEFTagRead
        let reason = (error as NSError).localizedFailureReason ?? error.localizedDescription
        if !isDone { print("Scanning ended: \(reason)") }
        // What was printed may still be in a buffer, and the disk be full.
        let isShown = fflush(nil) == 0
        exit(isDone && isShown ? 0 : 1)
    }
}

let scanner = Scanner()
scanner.scan()
dispatchMain()
