// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let missingTagFormat = Rule(
        id: "CFG012",
        severity: .error,
        title: "The formats lack TAG",
        why: """
            The App Store rejects an app for iOS 13 or later whose formats lack TAG, and its tag sessions end with \
            code 2 or 202.
            """,
        fix: "Add TAG to the formats.",
        bad: [Example.minimum("15.0") + Example.formats("NDEF") + Example.usage + Example.tagReader],
        good: [Example.minimum("15.0") + Example.tagFormat + Example.usage + Example.tagReader],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.formats) { formats, variant in
                let values = Variant.texts(formats)
                guard !values.isEmpty, !values.contains("TAG"),
                    variant.minimum.map({ $0 >= Version(13) }) ?? unit.usesTags
                else { return }
                guard !values.contains(where: { $0.uppercased() == "TAG" }) else { return }
                let isProven = variant.minimum != nil && values.contains("NDEF")
                let text = "The formats lack TAG, which the App Store requires from iOS 13 on."
                findings.add(
                    formats.key,
                    isProven ? text : text + " Unconfirmed.",
                    severity: isProven ? .error : .warning,
                    isProven: isProven
                )
            }
        }
    )
}
