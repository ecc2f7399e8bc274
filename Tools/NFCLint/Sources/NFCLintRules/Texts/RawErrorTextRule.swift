// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An entire error is inserted into the text.
    static let rawErrorText = Rule(
        id: "TXT009",
        severity: .info,
        title: "The text contains a whole error",
        why: "An error's description is for developers: its type, code and domain.",
        fix: "Say in plain words what went wrong and what to do.",
        bad: [
            .swift(
                #"""
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func fail(_ error: any Error) { session?.invalidate(errorMessage: "Not read: \(error)") }
                }
                """#
            )
        ],
        good: [
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.alertMessage = "Hold your iPhone near the badge to open the door."
                        session?.begin()
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func fail(_ error: any Error) { session?.invalidate(errorMessage: "The badge was not read. Hold it still, and try again.") }
                }
                """
            ),
            .swift(
                #"""
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func fail(_ error: any Error) { session?.invalidate(errorMessage: "Not read: \(error.localizedDescription)") }
                }
                """#
            ),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts where text.hasRawError {
                findings.add(text.place, "The text contains a whole error.")
            }
        }
    )
}
