// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A folder for one test. It is deleted with this object.
package final class TestFolder: Sendable {
    /// The folder's path.
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in the folder.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file, and creates the folders on its path.
    package func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        try makeFolder((name as NSString).deletingLastPathComponent)
        try ProgramFile.write(text, to: path(name), mode: mode)
    }

    package func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }

    package func copy(_ file: String, to name: String) throws {
        try FileManager.default.copyItem(atPath: file, toPath: path(name))
    }

    package func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: path(name), toPath: path(other))
    }

    package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    /// The text of a file; empty if there is no such file.
    package func text(_ name: String) -> String { (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? "" }

    /// The lines of a file.
    package func lines(_ name: String) -> [String] { text(name).split(separator: "\n").map(String.init) }

    package func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    /// The names in a folder, sorted.
    package func names(in name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(name))) ?? []).sorted()
    }

    /// The permissions of a file.
    package func mode(_ name: String) -> Int? {
        try? FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    package func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
    }
}
