// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The formats contain NDEF.
    static let ndefFormat = Rule(
        id: "CFG011",
        severity: .error,
        title: "The formats hold NDEF",
        why: """
            The App Store refuses an app for iOS 13 or later whose formats hold NDEF: error 90778, "NDEF is \
            disallowed". Sessions for NDEF messages need TAG alone.
            """,
        fix: "Take NDEF out of the formats, and leave TAG.",
        bad: [
            Example.minimum("15.0")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>NDEF</string><string>TAG</string></array>
                    """
                )
                + Example.usage
                + Example.tagReader
        ],
        good: [
            Example.minimum("15.0")
                + Example.tagFormat
                + Example.usage
                + Example.tagReader,
            Example.minimum("12.0")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>NDEF</string><string>TAG</string></array>
                    """
                )
                + Example.usage
                + Example.tagReader,
        ],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.formats) { formats, variant in
                guard let value = formats.value.array?.first(where: { $0.string == "NDEF" }) else { return }
                let hasTag = Variant.texts(formats).contains("TAG")
                let edits =
                    hasTag
                    ? unit.removing(value, in: formats.path)
                    : unit.replacing(value, with: "<string>TAG</string>", in: formats.path)
                if let minimum = variant.minimum {
                    guard minimum >= Version(13) else { return }
                    let text =
                        "The formats hold NDEF, and the app is for iOS \(minimum) and later: the App Store refuses it (90778)."
                    findings.add(formats.place(value), text, edits: edits)
                } else if unit.usesTags {
                    let text = "The formats hold NDEF, which the App Store refuses for iOS 13 and later (90778)."
                    let reason = "Not proven: the least version of iOS was not found."
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
