// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import SystemLibrary
import TestThreads
import Testing

/// A folder for one test. It is deleted with this object.
private final class Tree {
    let root: String

    init() throws {
        // Without a link on the way, so that a test names every link that is on it.
        let parent = unsafe try #require(unsafe realpath(FileManager.default.temporaryDirectory.path, nil))
        defer { unsafe free(parent) }
        root = unsafe String(cString: parent) + "/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func path(_ name: String) -> String { root + "/" + name }

    func folder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }

    /// Writes a file, and waits until no process has it open: only then is it written for the system.
    func file(_ name: String) throws { try ProgramFile.write("1", to: path(name)) }

    func link(_ name: String, to target: String) throws { try #require(unsafe symlink(target, path(name)) == 0) }

    func move(_ name: String, to other: String) throws { try #require(unsafe rename(path(name), path(other)) == 0) }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }
}

/// The system has every event ready when the call that makes it returns, so nothing waits here.
@Suite(.timeLimit(.minutes(3))) struct `A watch of a folder` {
    private let tree: Tree

    init() throws { tree = try Tree() }

    private func watch(_ name: String) throws -> FolderWatch { try #require(FolderWatch(tree.path(name))) }

    /// Whether nothing has happened to the folder or in it. The descriptor may be readable even so: other tests have
    /// folders beside those of this one.
    private func isQuiet(_ watch: FolderWatch) -> Bool {
        let changes = watch.changes()
        return !changes.isAny && changes.written.isEmpty
    }

    private func isReadable(_ watch: FolderWatch) -> Bool {
        var poller = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&poller, 1, 0) == 1
    }

    /// Checks that a watch reports files of the folder that its path means, and nothing else.
    private func expectFiles(of watch: FolderWatch, in folder: String) throws {
        _ = watch.changes()
        let name = "file-\(UUID().uuidString)"
        try tree.file(folder + "/" + name)
        let changes = watch.changes()
        #expect(changes.written == [name] && !changes.isAll && changes.isThere && watch.isThere)
    }

    @Test func `names the files that were written or came whole, each time once`() throws {
        try tree.folder("a")
        try tree.file("outside")
        let watch = try watch("a")
        #expect(watch.isThere && watch.path == tree.path("a") && !watch.changes().isAny)
        #expect(watch.changes().written.isEmpty && watch.changes().isThere)
        try tree.file("a/one")
        try tree.move("outside", to: "a/two")
        #expect(isReadable(watch))
        let changes = watch.changes()
        #expect(changes.written == ["one", "two"] && !changes.isAll && changes.isThere)
        #expect(isQuiet(watch))
        // What goes was not written, but is an event.
        try tree.remove("a/one")
        try tree.move("a/two", to: "outside")
        let gone = watch.changes()
        #expect(gone.isAny && gone.written.isEmpty)
        // Beside the folder, and deeper in it.
        try tree.file("beside")
        try tree.folder("a/deep")
        try tree.file("a/deep/file")
        #expect(watch.changes().written.isEmpty)
    }

    @Test func `wakes for a file that is deleted, and for one that is moved away`() throws {
        try tree.folder("a")
        for name in ["a/one", "a/two"] { try tree.file(name) }
        let watch = try watch("a")
        #expect(isQuiet(watch))
        try tree.remove("a/one")
        #expect(isReadable(watch))
        let deleted = watch.changes()
        #expect(deleted.isAny && deleted.written.isEmpty && isQuiet(watch))
        try tree.move("a/two", to: "outside")
        #expect(isReadable(watch))
        let moved = watch.changes()
        #expect(moved.isAny && moved.written.isEmpty && moved.isThere)
    }

    @Test func `names many files that came at once`() throws {
        try tree.folder("a")
        let watch = try watch("a")
        // Their events are more than what is read at once.
        let names = (0..<1000).map { "file-with-quite-a-long-name-\($0)" }
        for name in names { try tree.file("a/" + name) }
        #expect(watch.changes().written == Set(names))
    }

    @Test func `says that any file may have changed when there was more than the system keeps`() throws {
        try tree.folder("a")
        let watch = try watch("a")
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let count = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
        try #require(count < 1 << 20)
        try tree.file("a/x")
        for _ in 0...(count / 2) {
            try tree.move("a/x", to: "a/y")
            try tree.move("a/y", to: "a/x")
        }
        let changes = watch.changes()
        #expect(changes.isAll && changes.isThere)
        try expectFiles(of: watch, in: "a")
    }

    @Test func `waits for a folder that is missing, with those above it`() throws {
        let watch = try watch("a/b/c")
        #expect(!watch.isThere && !watch.changes().isThere)
        try tree.file("other")
        #expect(!watch.changes().isThere)
        for folder in ["a", "a/b"] {
            try tree.folder(folder)
            #expect(!watch.changes().isThere, "\(folder)")
        }
        // What is in a folder above is not what was asked for.
        try tree.file("a/b/file")
        #expect(watch.changes().written.isEmpty)
        try tree.folder("a/b/c")
        let changes = watch.changes()
        #expect(changes.isThere && changes.isAll && watch.isThere)
        try expectFiles(of: watch, in: "a/b/c")
    }

    @Test func `waits for a folder that comes whole with those above it`() throws {
        try tree.folder("new/b/c")
        let watch = try watch("a/b/c")
        try tree.move("new", to: "a")
        #expect(watch.changes().isAll && watch.isThere)
        try expectFiles(of: watch, in: "a/b/c")
    }

    @Test(arguments: ["a", "a/b"]) func `notices that the folder, or one above it, has another place`(moved: String)
        throws
    {
        try tree.folder("a/b")
        let watch = try watch("a/b")
        try tree.move(moved, to: "elsewhere")
        let gone = watch.changes()
        #expect(!gone.isThere && !watch.isThere && gone.isAll)
        try tree.folder("a/b")
        let back = watch.changes()
        #expect(back.isThere && back.isAll)
        try expectFiles(of: watch, in: "a/b")
        // The old one is not watched any more.
        try tree.file(moved == "a" ? "elsewhere/b/file" : "elsewhere/file")
        #expect(isQuiet(watch))
    }

    @Test func `notices a folder that was deleted and made again in one go`() throws {
        try tree.folder("a")
        let watch = try watch("a")
        try tree.remove("a")
        try tree.folder("a")
        let changes = watch.changes()
        #expect(changes.isThere && changes.isAll)
        try expectFiles(of: watch, in: "a")
        try tree.remove("a")
        #expect(!watch.changes().isThere)
    }

    /// Starts a program that is in a folder until it is ended.
    private func program(in folder: String) throws -> Int32 {
        var launch = ProgramLaunch("/bin/sleep", ["sleep", "100"])
        launch.folder = tree.path(folder)
        return try launch.start()
    }

    private func end(_ program: Int32) {
        kill(program, SIGKILL)
        waitpid(program, nil, 0)
    }

    @Test(.ownThreads) func `notices that a folder is gone which a program is still in`() throws {
        try tree.folder("a")
        try tree.file("b")
        let watch = try watch("a")
        // The system tells the folder itself when the program has left it.
        let first = try program(in: "a")
        defer { end(first) }
        try tree.remove("a")
        let gone = watch.changes()
        #expect(!gone.isThere && gone.isAny)
        try tree.folder("a")
        let back = watch.changes()
        #expect(back.isThere && back.isAll && back.isAny)
        try expectFiles(of: watch, in: "a")
        // In one go.
        let second = try program(in: "a")
        defer { end(second) }
        try tree.remove("a")
        try tree.folder("a")
        let changes = watch.changes()
        #expect(changes.isThere && changes.isAll && changes.isAny)
        try expectFiles(of: watch, in: "a")
        // What is beside the folder is not on the way.
        try tree.remove("b")
        #expect(isReadable(watch))
        let beside = watch.changes()
        #expect(beside.isThere && !beside.isAll && !beside.isAny && beside.written.isEmpty)
    }

    @Test(arguments: [
        "links/relative", "links/above/two", "links/absolute", "links/chain", "links/whole/two", "one/./two//",
        "./one/../one/two", "one/../../../../../../../../../../../../../../../../..ROOT/one/two",
    ])
    func `follows the path as the system does`(name: String) throws {
        try tree.folder("one/two")
        try tree.folder("links")
        try tree.link("links/relative", to: "../one/two")
        try tree.link("links/above", to: "./../one/.")
        try tree.link("links/absolute", to: tree.path("one/two"))
        try tree.link("links/chain", to: "absolute")
        try tree.link("links/whole", to: tree.path("one"))
        let watch = try watch(name.replacingOccurrences(of: "..ROOT", with: ".." + tree.root))
        #expect(watch.isThere)
        try expectFiles(of: watch, in: "one/two")
    }

    @Test func `notices that a link on the way leads elsewhere`() throws {
        try tree.folder("old/x")
        try tree.folder("new/x")
        try tree.link("current", to: "old")
        let watch = try watch("current/x")
        try expectFiles(of: watch, in: "old/x")
        try tree.link("next", to: "new")
        try tree.move("next", to: "current")
        let changes = watch.changes()
        #expect(changes.isThere && changes.isAll)
        try expectFiles(of: watch, in: "new/x")
        try tree.file("old/x/file")
        #expect(isQuiet(watch))
        try tree.remove("current")
        #expect(!watch.changes().isThere)
    }

    @Test func `notices that a folder is gone through which the path leads up again`() throws {
        try tree.folder("a/b")
        // While it is open, the folder itself does not say that it was deleted.
        let folder = unsafe open(tree.path("a/b"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        try #require(folder >= 0)
        let watch = try watch("a/b/..")
        try expectFiles(of: watch, in: "a")
        try tree.remove("a/b")
        #expect(!watch.changes().isThere)
    }

    @Test func `waits for what a link leads to`() throws {
        try tree.link("link", to: "target/a")
        let watch = try watch("link")
        #expect(!watch.isThere)
        try tree.folder("target/a")
        #expect(watch.changes().isThere)
        try expectFiles(of: watch, in: "target/a")
    }

    @Test(arguments: [1, 39, 40, 41, 60]) func `follows as many links as the system`(count: Int) throws {
        try tree.folder("link-0")
        for number in 0..<count { try tree.link("link-\(number + 1)", to: "link-\(number)") }
        let descriptor = unsafe open(tree.path("link-\(count)"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        #expect(try watch("link-\(count)").isThere == (descriptor >= 0))
        #expect((descriptor >= 0) == (count <= 40))
    }

    @Test(.ownThreads) func `ends at a link that leads nowhere and can't be read`() throws {
        // A process that has ended has no folder any more, until it is waited for.
        let process = try ProgramLaunch("/bin/sh", ["sh", "-c", "exit 0"]).start()
        defer { waitpid(process, nil, 0) }
        var information = unsafe siginfo_t()
        try #require(unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) == 0)
        let watch = try #require(FolderWatch("/proc/\(process)/cwd"))
        #expect(!watch.isThere && !watch.changes().isThere)
    }

    @Test func `ends at links that lead to each other`() throws {
        try tree.link("a", to: "b")
        try tree.link("b", to: "a")
        let watch = try watch("a")
        #expect(!watch.isThere)
        try tree.remove("b")
        try tree.folder("b")
        #expect(watch.changes().isThere)
    }

    @Test(arguments: [mode_t(S_IFREG), mode_t(S_IFIFO), mode_t(S_IFSOCK)])
    func `does not take something else for a folder`(kind: mode_t) throws {
        try #require(unsafe mknod(tree.path("a"), kind | 0o600, 0) == 0)
        for name in ["a", "a/b"] { #expect(try !watch(name).isThere) }
        let watch = try watch("a")
        try tree.remove("a")
        try tree.folder("a")
        #expect(watch.changes().isThere)
    }

    @Test func `does not take a file that comes for the folder`() throws {
        let watch = try watch("a")
        try tree.file("a")
        #expect(!watch.changes().isThere)
        try tree.folder("b")
        try tree.remove("a")
        try tree.move("b", to: "a")
        #expect(watch.changes().isThere)
    }

    @Test(.ownThreads) func `has the path from the folder that the process was in, and outlives that`() async throws {
        try tree.folder("a/b")
        await #expect(processExitsWith: .success) { [root = tree.root as String] in
            #expect(unsafe chdir(root) == 0)
            let watch = FolderWatch("a/b")
            #expect(watch?.path == root + "/a/b" && watch?.isThere == true)
            #expect(unsafe chdir("/") == 0)
            #expect(FileManager.default.createFile(atPath: root + "/a/b/file", contents: Data()))
            #expect(watch?.changes().written == ["file"] && watch?.isThere == true)
            // The root itself has nothing above it.
            #expect(FolderWatch("/")?.isThere == true && FolderWatch("/..")?.isThere == true)
        }
    }

    @Test(.ownThreads, .enabled(if: geteuid() == 0))
    func `is none when not even the root can be watched`() async throws {
        await #expect(processExitsWith: .success) { [root = tree.root as String] in
            alarm(20)
            let before = unsafe open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            // A root in which names can be looked up, but which this user can't read.
            #expect(unsafe chmod(root, 0o711) == 0 && chroot(root) == 0 && chdir("/") == 0)
            #expect(seteuid(12345) == 0)
            #expect(FolderWatch("/a") == nil && FolderWatch("/") == nil)
            // The process ends where it began.
            #expect(unsafe seteuid(0) == 0 && fchdir(before) == 0 && chroot(".") == 0)
        }
    }

    @Test(.ownThreads, .enabled(if: geteuid() == 0))
    func `is there for nobody who may not read the folder, and watches those above it`() async throws {
        try tree.folder("a")
        await #expect(processExitsWith: .success) { [root = tree.root as String] in
            #expect(unsafe chmod(root + "/a", 0o711) == 0 && chmod(root, 0o711) == 0)
            #expect(seteuid(12345) == 0)
            let watch = FolderWatch(root + "/a")
            #expect(watch != nil && watch?.isThere == false)
            #expect(seteuid(0) == 0)
        }
    }

    @Test(.ownThreads) func `closes its descriptor with its end`() async {
        await #expect(processExitsWith: .success) {
            func count() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                    return target?.contains("inotify") == true
                }
            }
            let before = try count()
            do {
                let watch = FolderWatch("/")
                #expect(try count() == before + 1)
                #expect(fcntl(watch?.descriptor ?? -1, F_GETFD) & FD_CLOEXEC != 0)
                withExtendedLifetime(watch) {}
            }
            #expect(try count() == before)
        }
    }
}

@Suite struct `The shell of a lifeline` {
    @Test(.ownThreads) func `is waited for when the lifeline is cut`() async {
        await #expect(processExitsWith: .success) {
            Lifeline(script: "true", words: [])?.cut()
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
        }
    }
}
