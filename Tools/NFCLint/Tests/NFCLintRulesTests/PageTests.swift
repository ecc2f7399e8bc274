// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules
import Testing

/// The pages of the documentation are made from the rules, by dev/make-lint-pages.
@Suite struct PageTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/NFCLintRules/Documentation.docc/Rules")

    @Test(arguments: Rules.all.map(\.id))
    func `The page of a rule is that of its file`(_ id: String) throws {
        let rule = try #require(Rules.rule(id))
        let page = try String(contentsOf: Self.folder.appendingPathComponent("\(id).md"), encoding: .utf8)
        #expect(page == RulePage(rule).markdown, "Run dev/make-lint-pages.")
    }

    @Test func `There is no page of a rule that is gone`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).map {
            $0.replacing(".md", with: "")
        }
        #expect(Set(names) == Set(Rules.all.map(\.id)))
    }
}
