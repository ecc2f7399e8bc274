// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct CommandTests {
    private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let answer = try Command.run(arguments)
        return (answer.status, answer.output)
    }

    private func withProject(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lint-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Projects.reader.utf8).write(to: folder.appendingPathComponent("Reader.swift"))
        try Data(Projects.list("").utf8).write(to: folder.appendingPathComponent("Info.plist"))
        try Data(Projects.formats("TAG").utf8).write(to: folder.appendingPathComponent("App.entitlements"))
        try body(folder.path)
    }

    @Test func `nfclint: status 1 with an error, 0 after --fix, and 1 for warnings with --strict`() throws {
        try withProject { folder in
            #expect(try run([folder]).status == 1)
            let diff = try run(["--fix", "--dry-run", folder]).output
            #expect(diff.contains("+") && diff.contains("NFCReaderUsageDescription"))
            #expect(try run(["--fix", "--dry-run", folder]).status == 1)
            #expect(try run([folder]).status == 1)
            let fixed = try run(["--fix", folder])
            #expect(fixed.status == 0 && fixed.output.contains("[SRC001]"))
            #expect(try run([folder]).status == 0)
            #expect(try run(["--strict", folder]).status == 1)
        }
    }

    @Test func `nfclint: --baseline hides known findings, and the folder's .nfclint.yml is used`() throws {
        try withProject { folder in
            #expect(try run(["--write-baseline", folder + "/known.json", folder]).status == 0)
            #expect(try run(["--strict", "--baseline", folder + "/known.json", folder]).status == 0)
            try Data("disabled: [CFG001, SRC001, TXT010]\n".utf8).write(
                to: URL(fileURLWithPath: folder + "/.nfclint.yml")
            )
            #expect(try run(["--strict", folder]).status == 0)
        }
    }

    @Test func `nfclint: status 2 for wrong usage, also with --json`() throws {
        #expect(try run(["--explain", "ABC001"]).status == 2)
        let answer = try run(["--json", "/nowhere/at/all"])
        #expect(answer.status == 2 && answer.output.hasPrefix("{\"ok\":false,\"error\":\"usage\","))
        #expect(try run(["--dry-run"]).status == 2)
    }

    @Test func `nfclint: --hide-notes leaves out info findings, and the summary counts findings by rule`() throws {
        try withProject { folder in
            try Data("severity:\n  SRC001: info\n".utf8).write(to: URL(fileURLWithPath: folder + "/.nfclint.yml"))
            let output = try run([folder]).output
            #expect(output.contains("By rule: CFG001 1, SRC001 1, TXT010 1."))
            #expect(!(try run(["--hide-notes", folder]).output.contains("SRC001")))
        }
    }

    @Test func `nfclint: explains one rule, and lists all rules`() throws {
        #expect(try run(["--explain", "src003"]).output.hasPrefix("# SRC003\n"))
        #expect(try run(["--rules"]).output.split(separator: "\n").count > 100)
    }

    @Test func `nfclint: explains a rule in JSON as one object on a line`() throws {
        let answer = try run(["--json", "--explain", "src003"])
        #expect(answer.status == 0 && answer.output.count { $0 == "\n" } == 1 && answer.output.hasSuffix("\n"))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: String]
        )
        #expect(Set(object.keys) == ["id", "severity", "title", "page", "why", "remedy", "text"])
        #expect(object["id"] == "SRC003" && object["page"] == "nfc-lint --explain SRC003")
        let page = try run(["--explain", "src003"]).output
        #expect(object["text"].map { $0 + "\n" } == page)
        for key in ["title", "why", "remedy"] { #expect(page.contains(try #require(object[key])), "\(key)") }
    }
}
