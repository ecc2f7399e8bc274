// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// No target uses an entitlements file.
    static let unusedEntitlements = Rule(
        id: "CFG033",
        severity: .warning,
        title: "Entitlements that no target names",
        why: "The file has keys of Core NFC, but no target is signed with it, so they have no effect.",
        fix: "Set CODE_SIGN_ENTITLEMENTS of the target to the file.",
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
        good: [
            Example.minimum("15.0")
                + Example.tagFormat
                + Example.usage
                + Example.tagReader
        ],
        check: { unit, findings in
            guard unit.isApp, unit.usesCoreNFC, unit.target.variants.contains(where: { $0.formats == nil }) else {
                return
            }
            let folders = Set(unit.target.files.map(topFolder))
            for file in unit.looseEntitlements where !unit.target.place.path.hasSuffix(".plist") {
                guard folders.contains(topFolder(file.path)) else { continue }
                findings.add(
                    Place(file.path),
                    "No target is signed with \(file.path), so its keys of Core NFC have no effect."
                )
            }
        }
    )
    private static func topFolder(_ path: String) -> String {
        path.split(separator: "/").dropLast().first.map(String.init) ?? ""
    }
}
