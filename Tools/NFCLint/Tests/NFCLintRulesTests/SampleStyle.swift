// SPDX-License-Identifier: Apache-2.0

/// An app in the style of Apple's sample, with texts like its own: it scans messages, and writes them.
enum SampleStyle {
    static let scanning = """
        import CoreNFC
        import UIKit

        /// Lists the messages that were scanned.
        class MessagesTableViewController: UITableViewController, NFCNDEFReaderSessionDelegate {
            var messages: [NFCNDEFMessage] = []
            var session: NFCNDEFReaderSession?

            @IBAction func beginScanning(_ sender: Any) {
                guard NFCNDEFReaderSession.readingAvailable else {
                    let alert = UIAlertController(
                        title: "Scanning Not Supported",
                        message: "This device can't scan.",
                        preferredStyle: .alert
                    )
                    present(alert, animated: true)
                    return
                }
                session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                session?.alertMessage = "Hold your iPhone near the item to learn more about it."
                session?.begin()
            }

            func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs found: [NFCNDEFMessage]) {
                DispatchQueue.main.async {
                    self.messages.append(contentsOf: found)
                    self.tableView.reloadData()
                }
            }

            func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                if tags.count > 1 {
                    session.alertMessage = "More than 1 tag is here. Remove all tags and try again."
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
                    return
                }
                let tag = tags.first!
                session.connect(to: tag) { error in
                    if error != nil {
                        session.alertMessage = "Unable to connect to the tag."
                        session.invalidate()
                        return
                    }
                    tag.queryNDEFStatus { status, _, error in
                        if status == .notSupported {
                            session.alertMessage = "Tag is not NDEF compliant."
                            session.invalidate()
                            return
                        } else if error != nil {
                            session.alertMessage = "Unable to query the status of the tag."
                            session.invalidate()
                            return
                        }
                        tag.readNDEF { message, error in
                            if error != nil || message == nil {
                                session.alertMessage = "Reading the NDEF tag failed."
                            } else {
                                session.alertMessage = "Found 1 NDEF message."
                                DispatchQueue.main.async { self.messages.append(message!) }
                            }
                            session.invalidate()
                        }
                    }
                }
            }

            func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}

            func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                if let readerError = error as? NFCReaderError,
                    readerError.code != .readerSessionInvalidationErrorFirstNDEFTagRead,
                    readerError.code != .readerSessionInvalidationErrorUserCanceled
                {
                    let alert = UIAlertController(
                        title: "Session Invalidated",
                        message: error.localizedDescription,
                        preferredStyle: .alert
                    )
                    DispatchQueue.main.async { self.present(alert, animated: true) }
                }
                self.session = nil
            }
        }
        """

    static let writing = """
        import CoreNFC
        import UIKit

        /// Writes a message to a tag.
        class PayloadTableViewController: UITableViewController, NFCNDEFReaderSessionDelegate {
            var session: NFCNDEFReaderSession?
            var message = NFCNDEFMessage(records: [])

            @IBAction func beginWriting(_ sender: Any) {
                guard NFCNDEFReaderSession.readingAvailable else { return }
                session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                session?.alertMessage = "Hold your iPhone near an NDEF tag to write the message."
                session?.begin()
            }

            func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

            func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                if tags.count > 1 {
                    session.alertMessage = "More than 1 tag is here. Remove all tags and try again."
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
                    return
                }
                let tag = tags.first!
                session.connect(to: tag) { error in
                    if error != nil {
                        session.alertMessage = "Unable to connect to the tag."
                        session.invalidate()
                        return
                    }
                    tag.queryNDEFStatus { status, capacity, error in
                        guard error == nil else {
                            session.alertMessage = "Unable to query the status of the tag."
                            session.invalidate()
                            return
                        }
                        switch status {
                        case .notSupported:
                            session.alertMessage = "Tag is not NDEF compliant."
                            session.invalidate()
                        case .readOnly:
                            session.alertMessage = "Tag is read only."
                            session.invalidate()
                        case .readWrite:
                            guard self.message.length <= capacity else {
                                session.alertMessage = "Tag capacity is too small."
                                session.invalidate()
                                return
                            }
                            tag.writeNDEF(self.message) { error in
                                if let error {
                                    session.alertMessage = "Writing the message failed: \\(error)"
                                } else {
                                    session.alertMessage = "The message was written."
                                }
                                session.invalidate()
                            }
                        @unknown default:
                            session.alertMessage = "Unknown status of the tag."
                            session.invalidate()
                        }
                    }
                }
            }

            func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}

            func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                if let readerError = error as? NFCReaderError, readerError.code != .readerSessionInvalidationErrorUserCanceled,
                    readerError.code != .readerSessionInvalidationErrorFirstNDEFTagRead
                {
                    let alert = UIAlertController(title: "Session Invalidated", message: error.localizedDescription, preferredStyle: .alert)
                    DispatchQueue.main.async { self.present(alert, animated: true) }
                }
                self.session = nil
            }
        }
        """

    static let information = """
        <plist version="1.0"><dict><key>CFBundleName</key><string>Reader</string>
        <key>NFCReaderUsageDescription</key><string>You can scan NFC tags to read NDEF messages.</string></dict></plist>
        """

    static let entitlements = """
        <plist version="1.0"><dict><key>com.apple.developer.nfc.readersession.formats</key>
        <array><string>TAG</string></array></dict></plist>
        """
}
