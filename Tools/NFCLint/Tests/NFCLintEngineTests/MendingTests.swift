// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// What `--fix` changes.
@Suite struct MendingTests {
    private func mended(_ files: [String: String]) -> [String: String] {
        let report = Projects.report(files)
        var mended = files
        for change in Fixes(report.findings, report.project.files).changes {
            mended[change.path] = String(decoding: change.after, as: UTF8.self)
        }
        return mended
    }

    @Test func `Fix of SRC004: the check for a cancelled session comes after the clean-up code`() throws {
        let rule = try #require(Rules.rule("SRC004"))
        let files = try #require(rule.bad.first).files
        let before = Dictionary(files.map { ($0.path, $0.text) }, uniquingKeysWith: +)
        let after = mended(before)
        #expect(Projects.ids(before).contains("SRC004") && !Projects.ids(after).contains("SRC004"))
        let text = after.values.joined()
        let nothing = try #require(text.firstRange(of: "self.session = nil"))
        let early = try #require(text.firstRange(of: "if let ended = error as? NFCReaderError"))
        #expect(nothing.upperBound < early.lowerBound)
    }

    @Test func `Fix of SRC004: not made where a caller waits for the result`() throws {
        let rule = try #require(Rules.rule("SRC004"))
        let files = Dictionary(rule.bad[2].files.map { ($0.path, $0.text) }, uniquingKeysWith: +)
        #expect(Projects.ids(files).contains("SRC004") && mended(files) == files)
    }

    @Test(arguments: [
        "DispatchQueue.main.async { self.isScanning = false; self.showAlert(error) }",
        "self.status = error.localizedDescription",
        "showAlert(error) { self.isScanning = false }",
        "showAlert(error)\n        isScanning = false",
    ])
    func `Fix of SRC004: only the alert is skipped for a cancelled scan; state changes stay before the check`(
        _ end: String
    ) {
        let text = """
            import CoreNFC
            class Screen: UIViewController, NFCNDEFReaderSessionDelegate {
                var isScanning = false
                var status = ""
                func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                    \(end)
                }
            }

            """
        let after = mended(["Reader.swift": text])["Reader.swift"] ?? ""
        #expect(Projects.ids(["Reader.swift": text]).contains("SRC004"))
        guard let check = after.firstRange(of: "if let ended") else { return }
        let change = after.firstRange(of: "isScanning = false") ?? after.firstRange(of: "status =")
        #expect(
            after[check.upperBound...].contains("showAlert") && change.map { $0.upperBound < check.lowerBound } == true
        )
    }

    @Test(arguments: [" NFCReaderUsageDescription ", "nfcReaderUsageDescription"])
    func `Fix of a misspelled key: renamed, and no second key is added`(_ key: String) {
        let list = Projects.list("<key>\(key)</key><string>Badges are scanned to open doors.</string>")
        let after = mended(["Info.plist": list, "Reader.swift": Projects.reader])
        #expect(after["Info.plist"] == Projects.list(Projects.usage))
    }
}
