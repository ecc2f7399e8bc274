// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let unreadableFile = Rule(
        id: "LNT001",
        severity: .warning,
        title: "A file can't be read",
        why: "The contents were not checked, because the file is broken, not UTF-8, or too large.",
        fix: "Repair the file, or add it to exclude in .nfclint.yml.",
        bad: [
            .file("Info.plist", "<plist><dict><key>CFBundleName</key>"),
            .swift(
                """
                class Reader: NSObject {
                    func scan( {
                """
            ),
        ],
        good: [
            .swift(
                """
                class Reader: NSObject {
                    func scan() {}
                }
                """
            )
        ],
        check: { unit, findings in
            // ``Linter`` creates these findings itself.
            _ = (unit, findings)
        }
    )
}
