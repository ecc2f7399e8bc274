// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCLintEngine
import NFCLintRules

/// A folder on disk for the time of a test.
enum Folders {
    static func withFiles<Result>(_ files: [String: [UInt8]], _ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lint-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (path, bytes) in files {
            let file = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(bytes).write(to: file)
        }
        return try body(folder)
    }

    static func withFiles<Result>(_ files: [String: String], _ body: (URL) throws -> Result) throws -> Result {
        try withFiles(files.mapValues { Array($0.utf8) }, body)
    }

    /// An app whose usage text is missing.
    static let app = [
        "Reader.swift": Projects.reader, "Info.plist": Projects.list(""), "App.entitlements": Projects.formats("TAG"),
    ]

    static func findings(_ root: URL) -> [Finding] { Linter(Rules.all).check(Project(DiskFiles(root: root))) }
}

extension URL {
    /// Makes a link of this name.
    func link(to path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self.path, withDestinationPath: path)
    }
}
