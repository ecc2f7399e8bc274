// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import ProgramTesting
import TestThreads
import Testing

/// A watch of a folder. The system has every event ready when the call that makes it returns, so nothing waits here.
@Suite(.timeLimit(.minutes(3))) struct FolderWatchTests {
    private let tree: TestFolder

    init() throws { tree = try TestFolder() }

    private func watch(_ name: String) throws -> FolderWatch { try #require(FolderWatch(tree.path(name))) }
    private func link(_ name: String, to target: String) throws {
        try #require(unsafe symlink(target, tree.path(name)) == 0)
    }
    private func file(_ name: String) throws { try tree.write(name, "1") }
    /// Moves over what is there.
    private func move(_ name: String, to other: String) throws {
        try #require(unsafe rename(tree.path(name), tree.path(other)) == 0)
    }

    /// Whether nothing has happened to the folder or in it. The descriptor may be readable even so: other tests have
    /// folders beside those of this one.
    private func isQuiet(_ watch: FolderWatch) -> Bool {
        let changes = watch.changes()
        return !changes.isAny && changes.written.isEmpty
    }

    /// Checks that a watch reports files of the folder that its path means, and nothing else.
    private func expectFiles(of watch: FolderWatch, in folder: String) throws {
        _ = watch.changes()
        let name = "file-\(UUID().uuidString)"
        try file(folder + "/" + name)
        let changes = watch.changes()
        #expect(changes.written == [name] && !changes.isAll && changes.exists && watch.exists, "\(folder)")
    }

    @Test func `Folder watch: a file written or moved in is named once, a removed file is a change without a name`()
        throws
    {
        try tree.makeFolder("a")
        try file("outside")
        let watch = try watch("a")
        #expect(watch.exists && watch.path == tree.path("a") && isQuiet(watch))
        try file("a/one")
        try move("outside", to: "a/two")
        var poller = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&poller, 1, 0) == 1)
        let changes = watch.changes()
        #expect(changes.written == ["one", "two"] && !changes.isAll && changes.exists)
        #expect(isQuiet(watch))
        try tree.remove("a/one")
        var gone = watch.changes()
        #expect(gone.isAny && gone.written.isEmpty)
        try move("a/two", to: "outside")
        gone = watch.changes()
        #expect(gone.isAny && gone.written.isEmpty && isQuiet(watch))
        try file("beside")
        try file("a/deep/file")
        #expect(watch.changes().written.isEmpty)
        // More events than are read at once.
        let names = (0..<300).map { "file-with-quite-a-long-name-\($0)" }
        for name in names { try Data().write(to: URL(fileURLWithPath: tree.path("a/" + name))) }
        // A program that another test starts at this moment may keep a file open until it begins.
        var written: Set<String> = []
        while written.count < names.count, unsafe poll(&poller, 1, 10_000) == 1 {
            written.formUnion(watch.changes().written)
        }
        #expect(written == Set(names))
    }

    @Test func `Folder watch, more events than the system keeps: any file may have changed`() throws {
        try file("a/x")
        let watch = try watch("a")
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let count = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
        try #require(count < 1 << 20)
        for _ in 0...(count / 2) {
            try move("a/x", to: "a/y")
            try move("a/y", to: "a/x")
        }
        let changes = watch.changes()
        #expect(changes.isAll && changes.exists)
        try expectFiles(of: watch, in: "a")
    }

    @Test func `Folder watch of a missing folder: found when it is made part by part, or moved in whole`() throws {
        let watch = try watch("a/b/c")
        #expect(!watch.exists && !watch.changes().exists)
        for folder in ["a", "a/b"] {
            try tree.makeFolder(folder)
            #expect(!watch.changes().exists, "\(folder)")
        }
        try file("a/b/file")
        #expect(watch.changes().written.isEmpty)
        try tree.makeFolder("a/b/c")
        let changes = watch.changes()
        #expect(changes.exists && changes.isAll && watch.exists)
        try expectFiles(of: watch, in: "a/b/c")
        let other = try self.watch("x/b")
        try move("a", to: "x")
        #expect(other.changes().isAll && other.exists && !watch.changes().exists)
    }

    @Test(arguments: ["a", "a/b"])
    func `Folder watch, the folder or one above it moved away: gone, then the new one is watched`(
        moved: String
    ) throws {
        try tree.makeFolder("a/b")
        let watch = try watch("a/b")
        try move(moved, to: "elsewhere")
        let gone = watch.changes()
        #expect(!gone.exists && !watch.exists && gone.isAll)
        try tree.makeFolder("a/b")
        let back = watch.changes()
        #expect(back.exists && back.isAll)
        try expectFiles(of: watch, in: "a/b")
        try file(moved == "a" ? "elsewhere/b/file" : "elsewhere/file")
        #expect(isQuiet(watch))
    }

    @Test
    func `Folder watch, the folder deleted and made again: the change is reported, and the new folder is watched`()
        throws
    {
        try tree.makeFolder("a")
        let watch = try watch("a")
        try tree.remove("a")
        try tree.makeFolder("a")
        let changes = watch.changes()
        #expect(changes.exists && changes.isAll && changes.isAny)
        try expectFiles(of: watch, in: "a")
        try tree.remove("a")
        #expect(!watch.changes().exists)
    }

    @Test(arguments: [
        "links/relative", "links/above/two", "links/absolute", "links/chain", "links/whole/two", "one/./two//",
        "./one/../one/two", "one/../../../../../../../../../../../../../../../../..ROOT/one/two",
    ])
    func `Folder watch of a path with links and dots: followed as the system does`(name: String) throws {
        try tree.makeFolder("one/two")
        try tree.makeFolder("links")
        try link("links/relative", to: "../one/two")
        try link("links/above", to: "./../one/.")
        try link("links/absolute", to: tree.path("one/two"))
        try link("links/chain", to: "absolute")
        try link("links/whole", to: tree.path("one"))
        let watch = try watch(name.replacingOccurrences(of: "..ROOT", with: ".." + tree.path))
        #expect(watch.exists)
        try expectFiles(of: watch, in: "one/two")
    }

    @Test
    func `Folder watch, a link in the path: a new or missing target is noticed, and 40 links are followed, not 41`()
        throws
    {
        for folder in ["old/x", "new/x"] { try tree.makeFolder(folder) }
        try link("current", to: "old")
        let watch = try watch("current/x")
        try expectFiles(of: watch, in: "old/x")
        try link("next", to: "new")
        try move("next", to: "current")
        #expect(watch.changes().isAll)
        try expectFiles(of: watch, in: "new/x")
        try file("old/x/file")
        #expect(isQuiet(watch))
        try tree.remove("current")
        #expect(!watch.changes().exists)
        try tree.makeFolder("link-0")
        for number in 0..<41 { try link("link-\(number + 1)", to: "link-\(number)") }
        #expect(try self.watch("link-40").exists && !self.watch("link-41").exists)
    }

    @Test func `Folder watch of a file: no folder, until one takes its place`() throws {
        let watch = try watch("place")
        try file("place")
        #expect(try !watch.changes().exists && !self.watch("place/b").exists)
        try tree.remove("place")
        try tree.makeFolder("place/b")
        #expect(watch.changes().exists)
        let above = try self.watch("place/b/..")
        try expectFiles(of: above, in: "place")
        try tree.remove("place/b")
        #expect(!above.changes().exists)
    }

    @Test(.ownThreads) func `Folder watch of a relative path: counts from the folder at the start, also after chdir`()
        async throws
    {
        try tree.makeFolder("a/b")
        await #expect(processExitsWith: .success) { [root = tree.path as String] in
            #expect(unsafe chdir(root) == 0)
            do {
                let watch = try #require(FolderWatch("a/b"))
                #expect(watch.path.hasSuffix("/a/b") && watch.exists && fcntl(watch.descriptor, F_GETFD) == FD_CLOEXEC)
                #expect(unsafe chdir("/") == 0)
                #expect(FileManager.default.createFile(atPath: root + "/a/b/file", contents: Data()))
                #expect(watch.changes().written == ["file"] && watch.exists)
            }
            // The root itself has nothing above it.
            #expect(FolderWatch("/")?.exists == true && FolderWatch("/..")?.exists == true)
        }
    }
}
