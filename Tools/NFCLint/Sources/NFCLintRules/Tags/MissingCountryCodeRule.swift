// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A telephone number has no country code.
    static let missingCountryCode = Rule(
        id: "TAG006",
        severity: .info,
        title: "A telephone number has no country code",
        why: "In another country, the number reaches someone else, or no one.",
        fix: "Begin the number with + and the country code, without spaces.",
        bad: [
            .file("scan.ndef", "d10108550535353531323334")
        ],
        good: [
            .file("scan.ndef", "d1010d55052b3135353531323334353637")
        ],
        check: { unit, findings in
            TagChecks.check("TAG006", unit, &findings)
        }
    )
}
