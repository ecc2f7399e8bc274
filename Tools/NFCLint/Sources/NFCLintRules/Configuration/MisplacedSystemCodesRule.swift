// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let misplacedSystemCodes = Rule(
        id: "CFG028",
        severity: .error,
        title: "The FeliCa system codes are in the entitlements, or repeated",
        why: """
            The codes belong in the Info.plist; in the entitlements they make signing fail. iOS ignores repeated \
            codes.
            """,
        fix: "Keep the list in the Info.plist, each code once.",
        bad: [
            Example.entitlements(
                """
                <key>com.apple.developer.nfc.readersession.felica.systemcodes</key>
                <array><string>0003</string></array>
                """
            )
                + Example.usage
                + Example.tagReader,
            Example.systemCodes("0003", "0003") + Example.tagReader,
        ],
        good: [Example.systemCodes("0003", "88B4") + Example.tagReader],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.systemCodes) { list, _ in
                findings.add(
                    list.key,
                    "The system codes are in the entitlements, so signing fails. They belong in the Info.plist."
                )
            }
            unit.forEachInfo(Keys.systemCodes) { list, _ in
                var seen: Set<String> = []
                for value in list.value.array ?? [] {
                    guard let text = value.string, !seen.insert(text.uppercased()).inserted else { continue }
                    findings.add(list.place(value), "The system code \(text) is in the list twice.", severity: .warning)
                }
            }
        }
    )
}
