// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

final class Scanner: NSObject, NFCNDEFReaderSessionDelegate {
    func scan() {
        // Without a reader, the session ends with an error that gives the reason. nfclint:disable SRC001
        let session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: true)
        session.alertMessage = "Hold the poster near the reader."
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        for record in messages.flatMap(\.records) {
            if let url = record.wellKnownTypeURIPayload() {
                print("Link: \(visible(url.absoluteString))")
            } else if let text = record.wellKnownTypeTextPayload().0 {
                print("Text: \(visible(text))")
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        let isDone = (error as? NFCReaderError)?.code == .readerSessionInvalidationErrorFirstNDEFTagRead
        let reason = (error as NSError).localizedFailureReason ?? error.localizedDescription
        if !isDone { print("Scanning ended: \(visible(reason))") }
        // The output may still be in a buffer, and writing it may fail.
        let isShown = fflush(nil) == 0
        exit(isDone && isShown ? 0 : 1)
    }

    /// Escapes invisible characters, so that a tag can't control the terminal or hide part of its text.
    private func visible(_ text: String) -> String {
        text.applyingTransform(StringTransform("[[:C:][:Zl:][:Zp:][:DI:]] Any-Hex"), reverse: false) ?? ""
    }
}

let scanner = Scanner()
scanner.scan()
dispatchMain()
