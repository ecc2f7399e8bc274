// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// What a project silences, chooses, knows and mends.
@Suite struct ChoiceTests {
    private let begin = "        session?.begin()"

    @Test func `Comment behind code: silences its rule on that line, and no other rule`() {
        let text = Projects.reader.replacing(begin, with: begin + "  // nfclint:disable TXT010")
        #expect(Projects.ids(["Reader.swift": Projects.reader]).contains("TXT010"))
        #expect(!Projects.ids(["Reader.swift": text]).contains("TXT010"))
        #expect(Projects.ids(["Reader.swift": text]).contains("SRC001"))
    }

    @Test func `Comment behind code: does not silence other lines`() {
        let line = "        session?.alertMessage = \"Scan\""
        let silent = line + "  // nfclint:disable TXT003"
        for (lines, count) in [([line, silent, line], 2), ([silent, line], 1), ([line, silent], 1), ([silent], 0)] {
            let text = Projects.reader.replacing(begin, with: (lines + [begin]).joined(separator: "\n"))
            #expect(Projects.ids(["Reader.swift": text]).count { $0 == "TXT003" } == count, "\(lines)")
        }
    }

    @Test func `Comment on its own line: silences its rules in the block below`() {
        let text = Projects.reader.replacing(
            "    func scan",
            with: "    // nfclint:disable SRC001, TXT010\n    func scan"
        )
        #expect(Projects.ids(["Reader.swift": text]) == [])
        let line = Projects.reader.replacing(begin, with: "        // nfclint:disable TXT010\n\(begin)")
        #expect(Projects.ids(["Reader.swift": line]) == ["SRC001"])
    }

    @Test func `disable and enable comments: the rule has no findings between them`() {
        let text = Projects.reader.replacing("    func scan() {", with: "    func scan() {\n// nfclint:disable SRC001")
            .replacing(begin, with: "// nfclint:enable SRC001\n\(begin)")
        #expect(Projects.ids(["Reader.swift": text]) == ["TXT010"])
    }

    @Test func `disable without enable: the rule has no findings to the end of the block that has the comment`() {
        let line = "        session?.alertMessage = \"Scan\""
        let (off, silent) = ("// nfclint:disable TXT003", line + "  // nfclint:disable TXT003")
        for (lines, count) in [
            ([off, "/* { */", line, off, line, line, "/* } */", line, silent, line], 2),
            ([silent, off, line, line, silent, silent, line], 2),
            ([off, line, "// nfclint:enable SRC012", line, line], 2),
            ([off, line, line, "// nfclint:enable SRC012, TXT003", line], 1),
            ([off, line, line, "// nfclint:enable", line], 1),
            (["// nfclint:disable", line, "// nfclint:enable TXT003", line], 1),
            // The two braces of the class and of its function do not end three.
            ([off, "/* {{{ */", line], 1), ([off, "/* {{ */", line], 0),
        ] {
            let text = Projects.reader.replacing(begin, with: (lines + [begin]).joined(separator: "\n"))
            #expect(Projects.ids(["Reader.swift": text]).count { $0 == "TXT003" } == count, "\(lines)")
        }
    }

    @Test func `disable:file, or disable before the first code: the rule has no findings in the whole file`() {
        #expect(Projects.ids(["Reader.swift": Projects.reader + "// nfclint:disable:file\n"]) == [])
        #expect(Projects.ids(["Reader.swift": "// nfclint:disable SRC001\n" + Projects.reader]) == ["TXT010"])
    }

    @Test func `Configuration: disables rules and changes severities`() {
        let text = "disabled: [TXT010]\nseverity:\n  SRC001: error\nobjects: [badge]\nbaseline: known.json # kept\n"
        let configuration = LintConfiguration(Array(text.utf8), known: Set(Rules.all.map(\.id)))
        #expect(
            configuration.problems == [] && configuration.baseline == "known.json" && configuration.objects == ["badge"]
        )
        let project = Projects.project(["Reader.swift": Projects.reader])
        let findings = Linter(Rules.all, configuration: configuration).check(project)
        #expect(findings.map(\.id) == ["SRC001"] && findings.map(\.severity) == [.error])
    }

    @Test func `Configuration: quoted values keep commas and number signs, and rule ids may be in lower case`() {
        let text = "disabled: [src001]\nobjects: [\"a # b\", 'c, d'] # kept\nproducts: NFC Tools\n"
        let configuration = LintConfiguration(Array(text.utf8), known: ["SRC001"])
        #expect(configuration.problems == [] && configuration.disabled == ["SRC001"])
        #expect(configuration.objects == ["a # b", "c, d"] && configuration.products == ["NFC Tools"])
    }

    @Test func `Configuration with an unknown rule, key and severity: three problems`() {
        let text = "disabled: [ABC001]\nsevere: yes\nseverity:\n  SRC001: bad\n"
        #expect(LintConfiguration(Array(text.utf8), known: ["SRC001"]).problems.count == 3)
    }

    @Test func `Baseline: hides known findings, also on moved lines, and shows a further finding of the same rule`()
        throws
    {
        let report = Projects.report(["Reader.swift": Projects.reader])
        let baseline = try Baseline(Array(Baseline.text(report).utf8))
        #expect(!report.findings.isEmpty && baseline.newFindings(report) == [])
        let moved = Projects.reader.replacing("import CoreNFC", with: "import CoreNFC\n\n// More.")
        #expect(baseline.newFindings(Projects.report(["Reader.swift": moved])) == [])
        let twice = Projects.reader + "extension Reader { func more() {\n" + begin + "\n} }\n"
        #expect(baseline.newFindings(Projects.report(["Reader.swift": twice])).map(\.id) == ["TXT010"])
    }

    @Test
    func `Baseline counts: the largest number hides all findings without an overflow, a negative number hides none`()
        throws
    {
        let report = Projects.report(["Reader.swift": Projects.reader])
        let text = Baseline.text(report)
        func left(_ count: String) throws -> [Finding] {
            let changed = text.replacing("\"count\":1}", with: "\"count\":\(count)}")
            #expect(changed != text)
            // Each finding twice.
            let list = changed.dropFirst("{\"findings\":[".count).dropLast("]}\n".count)
            return try Baseline(Array("{\"findings\":[\(list),\(list)]}".utf8)).newFindings(report)
        }
        #expect(try left("9223372036854775807") == [])
        #expect(try left("-9223372036854775808") == report.findings)
    }

    @Test func `Baseline file that is not a baseline: an error`() {
        #expect(throws: FormatError.self) { try Baseline(Array("[]".utf8)) }
        #expect(throws: FormatError.self) { try Baseline(Array("{".utf8)) }
    }

    @Test func `Fixes of CFG rules: the findings that they fix are gone afterwards`() throws {
        let files = [
            "project.yml": Example.minimum("15.0").files[0].text, "Reader.swift": Projects.reader,
            "Info.plist": Projects.list("<key>CFBundleName</key><string>Doors</string>"),
            "App.entitlements": Projects.formats("NDEF"),
        ]
        let before = Projects.report(files)
        #expect(Set(before.findings.map(\.id)).isSuperset(of: ["CFG001", "CFG011"]))
        let fixes = Fixes(before.findings, before.project.files)
        var mended = files
        for change in fixes.changes { mended[change.path] = String(decoding: change.after, as: UTF8.self) }
        let after = Set(Projects.ids(mended))
        #expect(after.isDisjoint(with: ["CFG001", "CFG002", "CFG003", "CFG011", "CFG012", "CFG014", "LNT001"]))
        #expect(
            fixes.diff.contains("+\t<key>NFCReaderUsageDescription</key>")
                || fixes.diff.contains("NFCReaderUsageDescription")
        )
    }

    @Test func `Fix of a misspelled method: only its name is replaced`() {
        let text = "import CoreNFC\nfunc text(_ record: NFCNDEFPayload) { _ = record.wellKnowTypeTextPayload() }\n"
        let report = Projects.report(["Old.swift": text])
        let change = Fixes(report.findings, report.project.files).changes.first
        #expect(
            change.map { String(decoding: $0.after, as: UTF8.self) }
                == text.replacing("wellKnowType", with: "wellKnownType")
        )
    }

    @Test(arguments: [
        "severity: info", "disabled:\n  a: b", "rubbish", "- a", "disabled: [A\n", "exclude: [a]\n  b: c",
        "baseline: [a]",
    ])
    func `Configuration with an entry of a wrong type: one problem`(_ text: String) {
        #expect(LintConfiguration(Array(text.utf8), known: ["CFG001"]).problems.count == 1)
    }

    @Test func `Baseline with an entry that is not a finding: an error`() {
        #expect(throws: FormatError.self) { try Baseline(Array("{\"findings\":[1]}".utf8)) }
    }

    @Test(arguments: [
        "let a = \"// nfclint:disable SRC001\"", "let a = \"\"\"\n// nfclint:disable SRC001\n\"\"\"",
        "let a = \"\\\" /* nfclint:disable:file SRC001 */\"",
    ])
    func `disable inside a string literal: silences nothing`(_ text: String) {
        let reader = Projects.reader.replacing("class Reader", with: text + "\n\nclass Reader")
        let inner = Projects.reader.replacing("        session =", with: "        \(text); session =")
        #expect(Projects.ids(["Reader.swift": reader]).contains("SRC001"))
        if !text.contains("\n") { #expect(Projects.ids(["Reader.swift": inner]).contains("SRC001")) }
    }
}
