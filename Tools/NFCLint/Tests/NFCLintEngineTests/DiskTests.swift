// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules
import Testing

/// What is found on disk, by links and in folders that can't be read.
@Suite struct DiskTests {
    @Test func `A link to the folder of a project is followed`() throws {
        try Folders.withFiles(Dictionary(uniqueKeysWithValues: Folders.app.map { ("app/" + $0.key, $0.value) })) {
            let link = $0.appendingPathComponent("link")
            try link.link(to: "app")
            #expect(Folders.findings(link).contains { $0.id == "CFG001" && $0.place.path == "Info.plist" })
        }
    }

    @Test(arguments: ["../shared/Info.plist", "Lists/Other.plist"])
    func `Link to a property list: followed, within the project and beyond`(_ target: String) throws {
        let files = [
            "app/App.xcodeproj/project.pbxproj": Projects.xcode(target: "INFOPLIST_FILE = Info.plist;"),
            "app/Reader.swift": Projects.reader,
            "app/Lists/Other.plist": Projects.list(""),
            "shared/Info.plist": Projects.list(""),
        ]
        try Folders.withFiles(files) {
            let app = $0.appendingPathComponent("app")
            try app.appendingPathComponent("Info.plist").link(to: target)
            let project = Project(DiskFiles(root: app))
            #expect(project.units.first?.target.missing == [])
            #expect(Linter(Rules.all).check(project).contains { $0.id == "CFG001" })
        }
    }

    @Test func `Link to a folder of the project: followed; where links form a circle, files are read once`() throws {
        let files = [
            "App.xcodeproj/project.pbxproj": Projects.xcode(target: "INFOPLIST_FILE = Config/Here/Info.plist;"),
            "Reader.swift": Projects.reader, "Lists/Info.plist": Projects.list(""),
        ]
        try Folders.withFiles(files) {
            try $0.appendingPathComponent("Config").link(to: "Lists")
            try $0.appendingPathComponent("Lists/Here").link(to: ".")
            try $0.appendingPathComponent("Round").link(to: "Circle")
            try $0.appendingPathComponent("Circle").link(to: "Round")
            let findings = Folders.findings($0)
            #expect(findings.count { $0.id == "CFG001" } == 1)
            #expect(findings.filter { $0.id == "SRC001" }.map(\.place.path) == ["Reader.swift"])
        }
    }

    @Test func `Broken link, or a device named as Swift file: a warning, or an error if nothing else was read`() throws
    {
        try Folders.withFiles(["Other.swift": "let a = 1\n"]) {
            try $0.appendingPathComponent("Info.plist").link(to: "nowhere")
            try $0.appendingPathComponent("Zero.swift").link(to: "/dev/zero")
            let findings = Folders.findings($0)
            #expect(findings.map(\.id) == ["LNT001", "LNT001"] && findings.allSatisfy { $0.severity == .warning })
            let alone = Folders.findings($0.appendingPathComponent("Zero.swift"))
            #expect(alone.map(\.id) == ["LNT001"] && alone.allSatisfy { $0.severity == .error })
        }
    }

    @Test(arguments: ["huge.bin", "Huge.swift"])
    func `Too large file named on the command line: a finding that fails the check`(name: String) throws {
        try Folders.withFiles([name: [UInt8](repeating: 0x20, count: DiskFiles.largestFile + 1)]) {
            let findings = Folders.findings($0.appendingPathComponent(name))
            #expect(findings.map(\.id) == ["LNT001"] && findings.allSatisfy { $0.severity == .error })
        }
        try Folders.withFiles([name: [UInt8](repeating: 0x20, count: DiskFiles.largestFile)]) {
            #expect(DiskFiles(root: $0.appendingPathComponent(name)).unread.isEmpty)
        }
    }

    @Test func `Excluded name: excludes exactly that folder or file`() throws {
        try Folders.withFiles(["Old/A.swift": "", "Older/B.swift": "", "C.swift": "", "Old.swift": ""]) { folder in
            #expect(DiskFiles(root: folder, excluded: ["Old", "C.swift"]).paths == ["Old.swift", "Older/B.swift"])
            let paths = DiskFiles(root: folder, excluded: ["Older/"]).paths
            #expect(paths == ["C.swift", "Old.swift", "Old/A.swift"])
        }
    }

    @Test func `Association files are found where servers have them`() throws {
        try Folders.withFiles(["site/.well-known/apple-app-site-association": "{"]) {
            #expect(Folders.findings($0).contains { $0.id.hasPrefix("AASA") })
        }
    }

    @Test func `A Swift file in UTF-16 is a finding that fails the check`() throws {
        var bytes: [UInt8] = [0xFF, 0xFE]
        for unit in "import CoreNFC\n".utf16 { bytes += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        try Folders.withFiles(["Reader.swift": bytes]) {
            #expect(Folders.findings($0).map(\.severity) == [.error])
        }
    }

    @Test(.enabled(if: geteuid() != 0, "Root reads every folder."))
    func `Folders and files that can't be read are findings that fail the check`() throws {
        try Folders.withFiles(["Inner/A.swift": "let a = 1\n", "Info.plist": Projects.list("")]) { root in
            for name in ["Inner", "Info.plist"] {
                let path = root.appendingPathComponent(name).path
                try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
            }
            let findings = Folders.findings(root)
            #expect(Set(findings.filter { $0.id == "LNT001" }.map(\.place.path)) == ["Inner", "Info.plist"])
            #expect(findings.allSatisfy { $0.id != "LNT001" || $0.severity == .error })
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700],
                ofItemAtPath: root.appendingPathComponent("Inner").path
            )
        }
    }
}
