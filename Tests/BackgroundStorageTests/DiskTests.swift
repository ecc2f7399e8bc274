// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import Foundation
import PrivateStorage
import Testing

/// A folder of a test's own, which goes with it.
final class Scratch {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        let file = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    func mode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.posixPermissions] as? Int)
    }
}

@Suite struct `Files of the owner alone` {
    @Test func `A folder and its files are for their owner, and links are not followed`() throws {
        let scratch = try Scratch()
        let store = try DirectoryStore(scratch.path + "/a/b")
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

    @Test func `A folder that others could read is closed to them, and a link to one is refused`() throws {
        let scratch = try Scratch()
        try scratch.write("open/x", "1")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.path + "/open")
        _ = try DirectoryStore(scratch.path + "/open")
        #expect(try scratch.mode("open") == 0o700)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/link",
            withDestinationPath: scratch.path + "/open"
        )
        #expect(throws: StorageError.self) { try DirectoryStore(scratch.path + "/link") }
        #expect(throws: StorageError(.missing, "")) { try DirectoryStore(scratch.path + "/no", creates: false) }
        #expect(throws: StorageError.self) { try DirectoryStore("relative") }
    }

    @Test func `Folders are the user's, and relative ones do not count`() {
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

@Suite struct `The inbox of a process that is killed` {
    private static let probe = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("InboxProbe")

    /// Runs the probe until it ends or, with a time, is killed; then checks the inbox against what it said.
    private func run(_ folder: String, step: Int, killAfter: TimeInterval? = nil) throws {
        let before = Set(try Inbox(DirectoryStore(folder)).content().entries.map(\.id))
        let process = Process()
        process.executableURL = Self.probe
        process.arguments = [folder, "\(step)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        if let killAfter {
            Thread.sleep(forTimeInterval: killAfter)
            kill(process.processIdentifier, SIGKILL)
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        var sure = before
        var open: Set<InboxEntry.ID> = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let id = InboxEntry.ID(String(words[1])) else { continue }
            switch words[0] {
            case "adding": open.insert(id)
            case "added":
                open.remove(id)
                sure.insert(id)
            case "removing":
                sure.remove(id)
                open.insert(id)
            default: open.remove(id)
            }
        }
        let inbox = Inbox(try DirectoryStore(folder))
        try inbox.recover()
        let content = try inbox.content()
        let found = Set(content.entries.map(\.id))
        #expect(content.damaged == [])
        #expect(found.count == content.entries.count)
        // Entries beyond the bound go, the oldest first.
        let kept = Set(sure.sorted().suffix(Inbox<DirectoryStore>.maximumEntries - 1))
        #expect(kept.isSubset(of: found), "step \(step): \(kept.subtracting(found)) are lost")
        #expect(found.isSubset(of: sure.union(open)), "step \(step): \(found.subtracting(sure)) came from nowhere")
        for entry in content.entries {
            #expect(
                entry.message
                    == [UInt8](repeating: UInt8(entry.id.number & 255), count: Int(entry.id.received % 50) * 100)
            )
        }
        #expect(try DirectoryStore(folder).names().count == found.count)
    }

    @Test func `At each step of adding, marking and removing, nothing is lost or doubled`() throws {
        let scratch = try Scratch()
        for step in 1...40 { try run(scratch.path + "/inbox", step: step) }
    }

    @Test func `At any moment, nothing is lost or doubled`() throws {
        let scratch = try Scratch()
        for _ in 0..<10 {
            try run(scratch.path + "/inbox", step: 0, killAfter: Double.random(in: 0.03...0.25))
        }
    }
}
