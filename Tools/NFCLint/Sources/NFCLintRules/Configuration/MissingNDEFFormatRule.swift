// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let missingNDEFFormat = Rule(
        id: "CFG013",
        severity: .error,
        title: "The formats lack NDEF for iOS versions before 13",
        why: """
            Before iOS 13, apps can use only NDEF sessions, and those need NDEF in the formats. The App Store refuses \
            the app.
            """,
        fix: "Add NDEF next to TAG, or raise the minimum iOS version to 13.",
        bad: [Example.minimum("12.0") + Example.tagFormat + Example.usage + Example.tagReader],
        good: [
            Example.minimum("12.0") + Example.formats("NDEF", "TAG") + Example.usage + Example.tagReader,
            Example.minimum("13.0") + Example.tagFormat + Example.usage + Example.tagReader,
        ],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.formats) { formats, variant in
                guard let minimum = variant.minimum, minimum < Version(13), !Variant.texts(formats).contains("NDEF")
                else { return }
                findings.add(
                    formats.key,
                    "The app supports iOS \(minimum) and later, but the formats lack NDEF, which iOS before 13 needs."
                )
            }
        }
    )
}
