// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let ndefFormat = Rule(
        id: "CFG011",
        severity: .error,
        title: "The formats contain NDEF",
        why: """
            The App Store rejects apps for iOS 13 or later whose formats contain NDEF, with error 90778, "NDEF is \
            disallowed". NDEF sessions need only TAG.
            """,
        fix: "Remove NDEF from the formats, and keep TAG.",
        bad: [Example.minimum("15.0") + Example.formats("NDEF", "TAG") + Example.usage + Example.tagReader],
        good: [
            Example.minimum("15.0") + Example.tagFormat + Example.usage + Example.tagReader,
            Example.minimum("12.0") + Example.formats("NDEF", "TAG") + Example.usage + Example.tagReader,
        ],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.formats) { formats, variant in
                guard let value = formats.value.array?.first(where: { $0.string == "NDEF" }) else { return }
                let hasTag = Variant.texts(formats).contains("TAG")
                let edits =
                    hasTag
                    ? unit.removing(value, in: formats.path)
                    : unit.replacing(value, with: "<string>TAG</string>", in: formats.path)
                let text = "The formats contain NDEF, which the App Store rejects in apps for iOS 13 and later (90778)."
                if let minimum = variant.minimum {
                    guard minimum >= Version(13) else { return }
                    findings.add(
                        formats.place(value),
                        "\(text) This app supports iOS \(minimum) and later.",
                        edits: edits
                    )
                } else if unit.usesTags {
                    let reason = "Unconfirmed: the minimum iOS version was not found."
                    findings.add(
                        formats.place(value),
                        "\(text) \(reason)",
                        severity: .warning,
                        isProven: false,
                        edits: edits
                    )
                }
            }
        }
    )
}
