// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let unusedEntitlements = Rule(
        id: "CFG033",
        severity: .warning,
        title: "No target uses an entitlements file",
        why: "The file has Core NFC keys, but no target is signed with it, so they have no effect.",
        fix: "Set the target's CODE_SIGN_ENTITLEMENTS to this file.",
        bad: [
            Example.file(
                "project.yml",
                """
                targets:
                  App:
                    type: application
                    platform: iOS
                    sources: [.]
                """
            )
                + Example.tagFormat
                + Example.tagReader
        ],
        good: [Example.minimum("15.0") + Example.tagFormat + Example.usage + Example.tagReader],
        check: { unit, findings in
            guard unit.isApp, unit.usesCoreNFC, unit.target.variants.contains(where: { $0.formats == nil }) else {
                return
            }
            let folders = Set(unit.target.files.map(topFolder))
            for file in unit.looseEntitlements where !unit.target.place.path.hasSuffix(".plist") {
                guard folders.contains(topFolder(file.path)) else { continue }
                findings.add(
                    Place(file.path),
                    "No target is signed with \(file.path), so its Core NFC keys have no effect."
                )
            }
        }
    )
    private static func topFolder(_ path: String) -> String {
        path.split(separator: "/").dropLast().first.map(String.init) ?? ""
    }
}
