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
    func `Swift nested thousands deep: no crash, at most one finding`(_ text: String) {
        let found = findings("Deep.swift", Array("import CoreNFC\n\(text)\n".utf8))
        #expect(found.count { $0.id == "LNT001" } <= 1)
    }

    @Test func `Swift file that is cut off: one finding`() {
        let text = Projects.reader.prefix(Projects.reader.count / 2)
        #expect(findings("Half.swift", Array(text.utf8)).count { $0.id == "LNT001" } == 1)
    }

    @Test func `Swift file that is not UTF-8: one finding`() {
        let bytes = Array("import CoreNFC // ".utf8) + [0xFF, 0xC0, 0x80] + Array("\n".utf8)
        #expect(findings("Latin.swift", bytes).map(\.id) == ["LNT001"])
    }

    @Test func `Swift file of more than 10 MB: one finding`() {
        let text = "import CoreNFC\nlet a = \"" + String(repeating: "a", count: 10 << 20) + "\"\n"
        #expect(findings("Large.swift", Array(text.utf8)).map(\.id) == ["LNT001"])
    }

    @Test func `Property list with XML entities that multiply: read without expanding them`() {
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
    func `Broken property list: one finding`(_ text: String) {
        #expect(findings("Info.plist", Array(text.utf8)).map(\.id) == ["LNT001"])
    }

    @Test(arguments: [
        String(repeating: "- ", count: 10_000), "targets: " + String(repeating: "[", count: 9_000), "a: [1, 2",
        "\t:\n :",
        "targets:\n  App:\n    type: application\n    platform: iOS\n    sources: 5",
    ])
    func `Malformed XcodeGen file: no crash, at most one finding`(_ text: String) {
        #expect(findings("project.yml", Array(text.utf8)).count <= 1)
    }

    @Test func `Entitlements and project files cut at any byte: no crash`() {
        let list = Array(Projects.formats("TAG", "NDEF").utf8)
        for end in list.indices { _ = findings("App.entitlements", Array(list[..<end])) }
        let project = Array(Projects.xcode(target: "INFOPLIST_FILE = Info.plist;").utf8)
        for end in stride(from: 0, to: project.count, by: 17) {
            _ = findings("App.xcodeproj/project.pbxproj", Array(project[..<end]))
        }
    }

    /// Objects that are shared: each of 60 lists holds the next one eight times.
    @Test(.timeLimit(.minutes(1))) func `Binary property list that expands to billions of values: one finding`() {
        var objects: [[UInt8]] = [[0xD1, 1, 2], [0x51, 0x61]]
        for index in 0..<60 { objects.append([0xA8] + Array(repeating: UInt8(index + 3), count: 8)) }
        let found = findings("Info.plist", Self.binary(objects + [[0x51, 0x78]]))
        #expect(found.map(\.id) == ["LNT001"] && found[0].message.contains("more than 100000 values"))
    }

    /// Lists that hold the same text of 60,000 bytes 1,200 times.
    @Test func `Binary property list that expands to more than 64 MiB of text: one finding`() {
        let lists = [[UInt8]](repeating: [0xAF, 0x10, 240] + [UInt8](repeating: 8, count: 240), count: 5)
        let text: [UInt8] = [0x5F, 0x11, 0xEA, 0x60] + [UInt8](repeating: 0x78, count: 60_000)
        let head: [[UInt8]] = [[0xD1, 1, 2], [0x51, 0x61], [0xA5, 3, 4, 5, 6, 7]]
        let found = findings("Info.plist", Self.binary(head + lists + [text]))
        #expect(found.map(\.id) == ["LNT001"] && found[0].message.contains("strings of more than 64 MiB"))
    }

    @Test func `Binary property list: its keys are checked`() {
        let text = Array("NFCReaderUsageDescription".utf8)
        let objects: [[UInt8]] = [[0xD1, 1, 2], [0x5F, 0x10, UInt8(text.count)] + text, [0x53] + Array("NFC".utf8)]
        #expect(findings("Info.plist", Self.binary(objects)).map(\.id).contains("CFG003"))
    }

    private static func binary(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            bytes += object
        }
        func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
        let trailer = [0, 0, 0, 0, 0, 0, 2, 1] + number(objects.count) + number(0) + number(bytes.count)
        return bytes + offsets + trailer
    }

    @Test(.timeLimit(.minutes(1))) func `Xcode group that contains itself: visited once, without a finding`() {
        let project = Projects.xcode(target: "").replacing("children = ( F, X )", with: "children = ( G, G, G, F, X )")
        let found = findings("App.xcodeproj/project.pbxproj", Array(project.utf8))
        #expect(!found.contains { $0.id == "LNT001" })
    }

    @Test func `Swift types nested 2000 deep: one finding`() {
        for text in ["A<", "A<\n"] {
            let source = "import CoreNFC\nlet a: " + String(repeating: text, count: 2000) + "B\n"
            #expect(findings("Deep.swift", Array(source.utf8)).count { $0.message.contains("nests types") } == 1)
        }
        let comparisons = "import CoreNFC\n" + String(repeating: "let a = b<c\n", count: 2000)
        #expect(findings("Flat.swift", Array(comparisons.utf8)).allSatisfy { $0.id != "LNT001" })
    }

    @Test(.timeLimit(.minutes(1)), arguments: [("list", 100_000), ("text", 400_000)])
    func `Property list with 100,000 values or a very long text: the excess is ignored, with one warning`(
        _ kind: String,
        _ count: Int
    ) {
        let key = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"
        let values = (0..<count).map { "<string>A0000002\(10_000_000 + $0)</string>" }
        let keys =
            kind == "list"
            ? Projects.usage + "<key>\(key)</key><array>\(values.joined())</array>"
            : Projects.usage.replacing("Badges", with: String(repeating: "NFC tag ", count: count))
        let found = findings("Info.plist", Array(Projects.list(keys).utf8)).filter { $0.id == "LNT001" }
        #expect(found.map(\.severity) == [.warning] && found[0].message.contains("was ignored"))
    }

    @Test(.timeLimit(.minutes(1))) func `200 chained delegates, and a class with 600 scans: checked within a minute`() {
        let chain = (0..<200).map { number in
            Projects.reader.replacing("Reader: NSObject", with: "Reader\(number): Reader\(number + 1)")
        }
        #expect(findings("Chain.swift", Array(chain.joined().utf8)).count { $0.id == "TXT010" } == 200)
        let scan = Projects.reader.split(separator: "\n")[3...6].joined(separator: "\n") + "\n"
        let scans = (0..<600).map { scan.replacing("func scan", with: "func scan\($0)") }.joined()
        let many = Projects.reader.replacing(scan, with: scans)
        let project = Project(MemoryFiles(["Many.swift": Array(many.utf8)]))
        let report = Report(findings: Linter(Rules.all).check(project), project: project, rules: Rules.all)
        #expect(report.text().split(separator: "\n").count > 600)
    }

    /// Texts before and behind a class.
    private static let manyComments = [
        (String(repeating: "// nfclint:disable SRC012\n", count: 20_000), ""),
        ("", String(repeating: "// nfclint:disable SRC012\n// nfclint:enable SRC013\n", count: 10_000)),
        ("", String(repeating: "// nfclint:disable SRC012\n/* {} */\n", count: 10_000)),
        // All quotes after the first look escaped.
        ("", "let a = #\"" + String(repeating: "\\\"", count: 45_000) + "#\n// nfclint:disable SRC012\n"),
    ]

    @Test(.timeLimit(.minutes(1)), arguments: manyComments.indices)
    func `Very many nfclint comments: checked within a minute, with the same findings`(_ index: Int) {
        let (before, after) = Self.manyComments[index]
        let found = findings("Reader.swift", Array((before + Projects.reader + after).utf8))
        #expect(Set(found.map(\.id)) == ["SRC001", "TXT010"])
    }
}
