// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// A hostile or broken file is at most one finding, and never ends the linter.
@Suite struct RobustnessTests {
    private func findings(_ path: String, _ bytes: [UInt8]) -> [Finding] {
        Linter(Rules.all).check(Project(MemoryFiles([path: bytes])))
    }

    @Test(arguments: [
        String(repeating: "{", count: 10_000), String(repeating: "(", count: 10_000),
        "let a = " + String(repeating: "[", count: 10_000), String(repeating: "func f() { ", count: 5_000),
        "let a = b" + String(repeating: ".c", count: 10_000), "let a = 1" + String(repeating: " + 1", count: 50_000),
        String(repeating: "if a {} else ", count: 5_000), String(repeating: "class A { ", count: 5_000),
        "let a = b" + String(repeating: "()", count: 10_000), "let a = " + String(repeating: "!", count: 50_000) + "b",
        "let a = b" + String(repeating: "{ c }", count: 1_000), "/*" + String(repeating: "/*", count: 50_000),
        "let a = \"" + String(repeating: "\\(\"", count: 5_000), String(repeating: "#if a\n", count: 5_000),
    ])
    func `Deep Swift is no crash`(_ text: String) {
        let found = findings("Deep.swift", Array("import CoreNFC\n\(text)\n".utf8))
        #expect(found.count { $0.id == "LNT001" } <= 1)
    }

    @Test func `A Swift file that is cut off is one finding`() {
        let text = Projects.reader.prefix(Projects.reader.count / 2)
        #expect(findings("Half.swift", Array(text.utf8)).count { $0.id == "LNT001" } == 1)
    }

    @Test func `A Swift file that is not UTF-8 is one finding`() {
        let bytes = Array("import CoreNFC // ".utf8) + [0xFF, 0xC0, 0x80] + Array("\n".utf8)
        #expect(findings("Latin.swift", bytes).map(\.id) == ["LNT001"])
    }

    @Test func `A Swift file that is too large is one finding`() {
        let text = "import CoreNFC\nlet a = \"" + String(repeating: "a", count: 10 << 20) + "\"\n"
        #expect(findings("Large.swift", Array(text.utf8)).map(\.id) == ["LNT001"])
    }

    @Test func `A property list that grows by its entities is read without them`() {
        let bomb = """
            <?xml version="1.0"?>
            <!DOCTYPE plist [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
            <plist version="1.0"><dict><key>NFCReaderUsageDescription</key><string>&b;</string></dict></plist>
            """
        #expect(findings("Info.plist", Array(bomb.utf8)).allSatisfy { $0.id != "LNT001" })
    }

    @Test(arguments: [
        "<plist>" + String(repeating: "<array>", count: 10_000), "<plist><dict><key>", "<plist", "{ a = ", "( a, ",
        "bplist00",
        "bplist00" + String(repeating: "\u{1}", count: 64), "",
    ])
    func `A broken property list is one finding`(_ text: String) {
        #expect(findings("Info.plist", Array(text.utf8)).map(\.id) == ["LNT001"])
    }

    @Test(arguments: [
        String(repeating: "- ", count: 10_000), "targets: " + String(repeating: "[", count: 9_000), "a: [1, 2",
        "\t:\n :",
        "targets:\n  App:\n    type: application\n    platform: iOS\n    sources: 5",
    ])
    func `A broken description is no crash`(_ text: String) {
        #expect(findings("project.yml", Array(text.utf8)).count <= 1)
    }

    @Test func `A file cut off at each byte is no crash`() {
        let list = Array(Projects.formats("TAG", "NDEF").utf8)
        for end in list.indices { _ = findings("App.entitlements", Array(list[..<end])) }
        let project = Array(Projects.xcode(target: "INFOPLIST_FILE = Info.plist;").utf8)
        for end in stride(from: 0, to: project.count, by: 17) {
            _ = findings("App.xcodeproj/project.pbxproj", Array(project[..<end]))
        }
    }
}
