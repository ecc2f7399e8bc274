// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A file can't be read.
    static let unreadableFile = Rule(
        id: "LNT001",
        severity: .warning,
        title: "A file can not be read",
        why: "What is in it was not checked: it is broken, not UTF-8, or larger than anybody writes.",
        fix: "Repair the file, or leave it out with exclude in .nfclint.yml.",
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
