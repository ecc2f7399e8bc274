// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import Testing

/// Checks the files that the command writes, and those that it must not overwrite.
@Suite struct WritingTests {
    @Test func `--write-baseline: makes a new file, or replaces a baseline through its link and keeps its mode`() throws
    {
        try Folders.withFiles(Folders.app) { folder in
            let file = folder.appendingPathComponent("known.json")
            let answer2 = try Command.run(["--write-baseline", file.path, folder.path])
            #expect(answer2.status == 0)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let link = folder.appendingPathComponent("link.json")
            try link.link(to: "known.json")
            let answer = try Command.run(["--write-baseline", link.path, folder.path])
            #expect(answer.status == 0 && answer.errors.hasSuffix("now.\n"))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "known.json")
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test(arguments: ["Reader.swift", "link.json", "Sources"])
    func `--write-baseline onto a file that is not a baseline: refused, and the file stays`(_ name: String) throws {
        try Folders.withFiles(Folders.app) { folder in
            try folder.appendingPathComponent("link.json").link(to: "Reader.swift")
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("Sources"),
                withIntermediateDirectories: true
            )
            let answer = try Command.run(["--write-baseline", folder.appendingPathComponent(name).path, folder.path])
            #expect(answer.status == 2 && answer.errors.contains("is not a baseline. It was not changed."))
            let text = try String(contentsOf: folder.appendingPathComponent("Reader.swift"), encoding: .utf8)
            #expect(text == Projects.reader)
        }
    }

    @Test func `--write-baseline into a missing folder: status 1 and a plain sentence`() throws {
        try Folders.withFiles(Folders.app) { folder in
            let path = folder.appendingPathComponent("nowhere/known.json").path
            let answer = try Command.run(["--write-baseline", path, folder.path])
            #expect(answer.status == 1 && answer.errors.contains("can't be written"))
            #expect(!answer.errors.contains("Domain"))
        }
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
        arguments: [["--json"], ["--rules"], ["--checklist"], ["--sarif"], [], ["--fix", "--dry-run"]]
    )
    func `Output to a full disk: status 1 with the reason`(_ arguments: [String]) throws {
        try Folders.withFiles(Folders.app) { folder in
            let answer = try Command.run(arguments + [folder.path], output: "/dev/full")
            #expect(answer.status == 1 && answer.errors.contains("The output can't be written"))
        }
    }

    @Test func `Overlapping paths on the command line: one report with each finding once`() throws {
        let files = Folders.app.map { ("Museum/" + $0.key, $0.value) } + [("Other/A.swift", "import CoreNFC\n")]
        try Folders.withFiles(Dictionary(uniqueKeysWithValues: files)) { folder in
            let alone = try Command.run(["--json", "."], in: folder)
            for paths in [[".", "Museum"], ["Museum", "."], [".", "."], [".", "Museum/Reader.swift"]] {
                let answer3 = try Command.run(["--json"] + paths, in: folder)
                #expect(answer3.output == alone.output)
            }
            let parts = try Command.run(["--sarif", "Museum", "Other"], in: folder).output
            #expect(parts.split(separator: "\n").count == 1 && parts.contains("CFG001"))
        }
    }

    @Test func `Folder without an app: status 0, and a note says so`() throws {
        try Folders.withFiles(["notes.txt": "Nothing."]) { folder in
            let text = try Command.run([folder.path])
            #expect(text.status == 0 && text.output.contains("No app was found in "))
            let answer4 = try Command.run(["--json", folder.path])
            #expect(answer4.errors.contains("No app was found in "))
        }
    }

    @Test func `File that can't be parsed: status 1`() throws {
        try Folders.withFiles(["Info.plist": "<plist><dict><key>"]) { folder in
            let answer5 = try Command.run([folder.path])
            #expect(answer5.status == 1)
        }
    }

    @Test func `--fix: does not write through a link to a file outside the project`() throws {
        let list = Projects.list("")
        let files = [
            "app/App.xcodeproj/project.pbxproj": Projects.xcode(target: "INFOPLIST_FILE = Info.plist;"),
            "app/Reader.swift": Projects.reader, "outside/Info.plist": list,
        ]
        try Folders.withFiles(files) { root in
            let (app, target) = (root.appendingPathComponent("app"), root.appendingPathComponent("outside/Info.plist"))
            let link = app.appendingPathComponent("Info.plist")
            try link.link(to: "../outside/Info.plist")
            for arguments in [["--fix", "--dry-run", app.path], ["--fix", app.path], ["--fix", link.path]] {
                let answer = try Command.run(arguments)
                #expect(answer.errors.contains("0 findings \(arguments.count == 3 ? "can be" : "were") fixed"))
                #expect(try String(contentsOf: target, encoding: .utf8) == list)
            }
            let said = try Command.run(["--fix", app.path]).errors
            #expect(said.hasPrefix("Info.plist is outside the project. It was not changed.\n"))
            // Within the project a link is followed.
            try FileManager.default.removeItem(at: link)
            try FileManager.default.moveItem(at: target, to: app.appendingPathComponent("Real.plist"))
            try link.link(to: "Real.plist")
            #expect(try Command.run(["--fix", app.path]).errors == "1 finding was fixed.\n")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "Real.plist")
        }
    }

    @Test func `--fix: prints how many findings were mended`() throws {
        try Folders.withFiles(Folders.app) { folder in
            let answer6 = try Command.run(["--fix", folder.path])
            #expect(answer6.errors == "1 finding was fixed.\n")
            let answer7 = try Command.run([folder.path])
            #expect(answer7.output.contains("1 Swift file\n"))
        }
    }
}
