// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import ProgramTesting
import Testing

/// A test's own folder, which is removed with this object.
final class Scratch {
    let path: String

    init(_ name: String = UUID().uuidString) throws {
        path = Self.path(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    static func path(_ name: String) -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(name)").path
    }

    /// The user's folders in it, all of them: `own`, `system`, `config`, `etc`, `state` and `cache`.
    var folders: UserFolders {
        UserFolders(environment: [
            "HOME": path + "/home", "XDG_STATE_HOME": path + "/state", "XDG_CACHE_HOME": path + "/cache",
            "XDG_DATA_HOME": path + "/own", "XDG_DATA_DIRS": path + "/system",
            "XDG_CONFIG_HOME": path + "/config", "XDG_CONFIG_DIRS": path + "/etc:relative",
        ])
    }

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        let file = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try ProgramFile.write(text, to: file, mode: mode)
    }

    func mode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.posixPermissions] as? Int)
    }
}
