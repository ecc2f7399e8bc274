// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let formatAvailability = Rule(
        id: "CFG015",
        severity: .warning,
        title: "A format needs a later iOS version, or Apple's approval",
        why: "PACE requires iOS 16. Apple approves VAS for each account; without the approval the app can't be signed.",
        fix: """
            For PACE, raise the minimum iOS version or check it in code. For VAS, request Apple's approval before you \
            add it.
            """,
        bad: [
            Example.minimum("15.0") + Example.formats("TAG", "PACE") + Example.usage + Example.tagReader,
            Example.formats("TAG", "VAS") + Example.usage + Example.tagReader,
        ],
        good: [Example.minimum("16.0") + Example.formats("TAG", "PACE") + Example.usage + Example.tagReader],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.formats) { formats, variant in
                for value in formats.value.array ?? [] {
                    if value.string == "PACE", let minimum = variant.minimum, minimum < Version(16) {
                        findings.add(
                            formats.place(value),
                            "PACE requires iOS 16, but the app supports iOS \(minimum) and later."
                        )
                    }
                    if value.string == "VAS" {
                        findings.add(
                            formats.place(value),
                            "VAS needs Apple's approval; without it the app can't be signed."
                        )
                    }
                }
            }
        }
    )
}
