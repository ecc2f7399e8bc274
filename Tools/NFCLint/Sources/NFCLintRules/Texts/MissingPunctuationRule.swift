// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let missingPunctuation = Rule(
        id: "TXT005",
        severity: .info,
        title: "The instruction has no punctuation at the end",
        why: "Complete sentences end with a full stop (Human Interface Guidelines).",
        fix: "Add a full stop.",
        bad: [
            .instruction("Hold your iPhone near the badge"),
            .swift(
                """
                class Reader: UIViewController, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession!
                    override func viewDidLoad() {
                        make()
                        session.alertMessage = "Hold your iPhone near the badge"
                    }
                    func make() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                    @IBAction func scan() { session.begin() }
                }
                """
            ),
        ],
        good: [
            .instruction("Hold your iPhone near the badge to open the door."),
            .failure("The badge was not read. Hold it still, and try again."),
            .failure("The badge was not read"),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts where text.role == .instruction {
                guard let last = text.text.last(where: { !$0.isWhitespace }),
                    last.isLetter || last.isNumber || last == ")" || last == "\""
                else { continue }
                guard last != SheetText.gap, text.words.count > 1 || !text.hasWords else { continue }
                findings.add(text.place, "The instruction has no punctuation at the end: \(text.shown)")
            }
        }
    )
}
