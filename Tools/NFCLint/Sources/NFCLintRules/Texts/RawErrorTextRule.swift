// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let rawErrorText = Rule(
        id: "TXT009",
        severity: .info,
        title: "The text contains a whole error",
        why: "An error's description is for developers: its type, code and domain.",
        fix: "Say in plain words what went wrong and what to do.",
        bad: [.failure(#"Not read: \(error)"#)],
        good: [
            .instruction("Hold your iPhone near the badge to open the door."),
            .failure("The badge was not read. Hold it still, and try again."),
            .failure(#"Not read: \(error.localizedDescription)"#),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts where text.hasRawError {
                findings.add(text.place, "The text contains a whole error.")
            }
        }
    )
}
