// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
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

struct DiskTests {
    @Test func `store: files are for their owner, and links are not followed`() throws {
        let scratch = try Scratch()
        let store = try PrivateFolder(store: scratch.path + "/a/b")
        try store.replace("file", with: [1, 2, 3])
        #expect(try scratch.mode("a/b") == 0o700)
        #expect(try scratch.mode("a/b/file") == 0o600)
        #expect(try store.read("file", limit: 3) == [1, 2, 3])
        #expect(throws: StorageError(.tooLarge, "")) { try store.read("file", limit: 2) }
        #expect(throws: StorageError(.missing, "")) { try store.read("other", limit: 2) }
        try scratch.write("secret", "x")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/a/b/link",
            withDestinationPath: scratch.path + "/secret"
        )
        #expect(throws: StorageError(.unsafe, "")) { try store.read("link", limit: 10) }
        try store.write("link", [9])
        #expect(try String(contentsOfFile: scratch.path + "/secret", encoding: .utf8) == "x")
        for name in ["", ".", "..", "../secret", "a/b"] {
            #expect(throws: StorageError(.denied, "")) { try store.read(name, limit: 10) }
        }
        #expect(try store.names() == ["file", "link"])
        try store.remove("nothing")
    }

    @Test func `store: a folder readable by others is closed, a link to one is refused`() throws {
        let scratch = try Scratch()
        try scratch.write("open/x", "1")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.path + "/open")
        _ = try PrivateFolder(store: scratch.path + "/open")
        #expect(try scratch.mode("open") == 0o700)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/link",
            withDestinationPath: scratch.path + "/open"
        )
        #expect(throws: StorageError.self) { try PrivateFolder(store: scratch.path + "/link") }
        #expect(throws: StorageError(.missing, "")) { try PrivateFolder(store: scratch.path + "/no", creates: false) }
        #expect(throws: StorageError.self) { try PrivateFolder(store: "relative") }
    }

    @Test func `folders: those of the environment, without relative ones`() {
        let folders = UserFolders(environment: [
            "HOME": "/h", "XDG_STATE_HOME": "x", "XDG_CACHE_HOME": "/c",
            "XDG_DATA_DIRS": "/b/:rel:/a:/b:/h/.local/share",
        ])
        #expect(folders.state == "/h/.local/state")
        #expect(folders.cache == "/c")
        #expect(folders.allData == ["/h/.local/share", "/b", "/a"])
        let plain = UserFolders(environment: ["HOME": "/h", "XDG_DATA_HOME": "/d"])
        #expect(plain.allData == ["/d", "/usr/local/share", "/usr/share"])
    }
}
