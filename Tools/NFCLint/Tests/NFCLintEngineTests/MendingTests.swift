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

    @Test func `Fix of SRC004: the check for a cancelled session is inserted behind the clean-up`() throws {
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

    @Test func `Fix of SRC004: not made where code waits for the answer`() throws {
        let rule = try #require(Rules.rule("SRC004"))
        let files = Dictionary(rule.bad[2].files.map { ($0.path, $0.text) }, uniquingKeysWith: +)
        #expect(Projects.ids(files).contains("SRC004") && mended(files) == files)
    }

    @Test(arguments: [" NFCReaderUsageDescription ", "nfcReaderUsageDescription"])
    func `Fix of a misspelled key: renamed, and no second key is added`(_ key: String) {
        let list = Projects.list("<key>\(key)</key><string>Badges are scanned to open doors.</string>")
        let after = mended(["Info.plist": list, "Reader.swift": Projects.reader])
        #expect(after["Info.plist"] == Projects.list(Projects.usage))
    }
}
