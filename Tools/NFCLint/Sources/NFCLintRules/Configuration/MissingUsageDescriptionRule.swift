// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let missingUsageDescription = Rule(
        id: "CFG001",
        severity: .error,
        title: "The usage description is missing from the Info.plist",
        why: """
            Without NFCReaderUsageDescription, iOS terminates the app when a session starts. No Swift error is \
            thrown.
            """,
        fix: "Add NFCReaderUsageDescription to the Info.plist, with a sentence that says what the app scans and why.",
        bad: [
            Example.plist(
                """
                <key>CFBundleName</key>
                <string>Doors</string>
                """
            )
                + Example.tagReader
                + Example.tagFormat
        ],
        good: [
            Example.usage + Example.tagReader + Example.tagFormat,
            .plist(
                """
                <key>CFBundleName</key>
                <string>Doors</string>
                """
            ),
        ],
        check: { unit, findings in
            for variant in unit.appVariants where variant.isInfoKnown && variant.info(Keys.usage) == nil {
                let name = unit.target.name
                let text =
                    """
                    The Info.plist of \(name) has no NFCReaderUsageDescription, so iOS terminates the app when a \
                    session starts.
                    """
                let place = variant.info.map { Place($0.path, $0.root.position) } ?? unit.target.place
                let words =
                    "\t<key>\(Keys.usage)</key>\n\t<string>\(name) scans items that you hold near your iPhone.</string>\n"
                let edits = unit.inserting(words, into: variant.info)
                if unit.ownUse != nil {
                    findings.add(place, text, edits: edits)
                } else if unit.usesCoreNFC || variant.formats != nil {
                    let reason = "Unconfirmed: none of the app's own sources creates a session."
                    findings.add(place, "\(text) \(reason)", severity: .warning, isProven: false, edits: edits)
                }
            }
        }
    )
}
