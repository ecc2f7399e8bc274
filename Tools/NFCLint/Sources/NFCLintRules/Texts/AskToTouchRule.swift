// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let askToTouch = Rule(
        id: "TXT002",
        severity: .warning,
        title: "The text asks people to touch the object",
        why: """
            People hold the device near an object. Words such as tap or touch suggest that the two must touch (Human \
            Interface Guidelines).
            """,
        fix: "Write \"Hold your iPhone near the …\".",
        bad: [
            .instruction("Tap your phone on the badge."),
            .instruction("Place your iPhone on the badge."),
            .objective(
                """
                - (void)scan {
                    self.hint = @"Tap the badge with your iPhone.";
                    self.session.alertMessage = self.hint;
                    [self.session beginSession];
                }
                """
            ),
        ],
        good: [
            .instruction("Hold your iPhone near the badge to open the door."),
            .failure("The badge was not read. Hold it still, and try again."),
            .failure("Please contact support."),
        ],
        check: { unit, findings in
            for text in unit.sheetTexts where text.isLatin {
                guard let word = touching(text) else { continue }
                findings.add(text.place, "\"\(word)\" suggests that the device has to touch the object: \(text.shown)")
            }
        }
    )
    private static let stems: Set<String> = [
        "tap", "taps", "tapped", "tapping", "touch", "touches", "touched", "touching", "press", "pressed", "pressing",
        "bump",
        "bumped", "swipe", "swiped", "swiping",
    ]

    private static func touching(_ text: SheetText) -> String? {
        let words = text.words
        let lower = words.map { $0.lowercased() }
        for (index, word) in lower.enumerated() {
            let next = index + 1 < lower.count ? lower[index + 1] : ""
            if stems.contains(word), !(word == "touch" && next == "id") { return words[index] }
            if word == "contact", index > 0, ["in", "into", "direct", "make", "physical"].contains(lower[index - 1]) {
                return words[index]
            }
            let isPlacing = ["place", "put", "placed", "lay"].contains(word)
            if isPlacing, lower[index...].contains(where: { $0 == "on" || $0 == "onto" || $0 == "against" }) {
                return words[index]
            }
        }
        return nil
    }
}
