// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let extensionKeys = Rule(
        id: "CFG032",
        severity: .error,
        title: "An app extension has Core NFC keys, or scans",
        why: "Core NFC is not available in app extensions.",
        fix: "Read tags in the app itself, and remove the keys from the extension.",
        bad: [
            Example.minimum("15.0", type: "app-extension") + Example.tagFormat + Example.usage,
            Example.minimum("15.0", type: "app-extension") + Example.tagReader,
        ],
        good: [Example.minimum("15.0") + Example.tagFormat + Example.usage],
        check: { unit, findings in
            guard unit.target.kind == .appExtension else { return }
            if let session = unit.ownSession {
                let text = "The extension \(unit.target.name) creates a session, but sessions don't work in extensions."
                // The app may use the same file, and the extension may never run this code.
                findings.add(session, text, severity: .warning)
            }
            for variant in unit.target.variants {
                for key in [Keys.formats, Keys.identifiers, Keys.systemCodes] {
                    guard let found = variant.entitlement(key) ?? variant.info(key) else { continue }
                    findings.add(
                        found.key,
                        "The extension \(unit.target.name) has \(key), but Core NFC is not available in extensions."
                    )
                }
                if let usage = variant.info(Keys.usage) {
                    let text =
                        """
                        The extension \(unit.target.name) has a usage description, but Core NFC is not available in \
                        extensions.
                        """
                    findings.add(usage.key, text, severity: .warning)
                }
            }
        }
    )
}
