// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let missingReaderEntitlement = Rule(
        id: "CFG010",
        severity: .error,
        title: "The entitlement for reader sessions is missing",
        why: """
            Without com.apple.developer.nfc.readersession.formats, a session ends at once with code 2, "Missing \
            required entitlement".
            """,
        fix: """
            Add the capability Near Field Communication Tag Reading. It adds the formats, including TAG, to the \
            entitlements.
            """,
        bad: [
            Example.entitlements(
                """
                <key>aps-environment</key>
                <string>development</string>
                """
            )
                + Example.usage
                + Example.tagReader
        ],
        good: [
            Example.tagFormat + Example.usage + Example.tagReader,
            .entitlements(
                """
                <key>aps-environment</key>
                <string>development</string>
                """
            ),
        ],
        check: { unit, findings in
            for variant in unit.appVariants where variant.formats == nil {
                let list = variant.entitlements
                let place = list.map { Place($0.path, $0.root.position) } ?? unit.target.place
                let what =
                    list == nil
                    ? "\(unit.target.name) has no entitlements"
                    : "The entitlements of \(unit.target.name) have no formats"
                let text = "\(what) for reader sessions, so sessions end at once with code 2."
                let words = "\t<key>\(Keys.formats)</key>\n\t<array>\n\t\t<string>TAG</string>\n\t</array>\n"
                let edits = unit.inserting(words, into: list)
                if unit.ownUse != nil, variant.areEntitlementsKnown, !unit.sessions.isOnlyPayment {
                    findings.add(place, text, edits: edits)
                } else if unit.usesCoreNFC, variant.areEntitlementsKnown {
                    let reason = "Unconfirmed: none of the app's own sources creates a session."
                    findings.add(place, "\(text) \(reason)", severity: .warning, isProven: false, edits: edits)
                } else if unit.ownSession != nil, unit.target.variants.allSatisfy({ $0.entitlements == nil }) {
                    let reason = "Unconfirmed: the folder has no entitlements file."
                    findings.add(place, "\(text) \(reason)", severity: .warning, isProven: false)
                }
            }
        }
    )
}
