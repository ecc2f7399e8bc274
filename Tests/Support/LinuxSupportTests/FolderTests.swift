// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestThreads
import Testing

@testable import LinuxSupport  // claims by descriptor and limits of names are internal

/// Folders of a user's own, and stores of files in them.
@Suite(.timeLimit(.minutes(5))) struct FolderTests {
    private let scratch: ScratchFolder
    private let folder: PrivateFolder
    private let store: PrivateFolder

    init() throws {
        scratch = try ScratchFolder()
        folder = try PrivateFolder(scratch.path("own"))
        store = try PrivateFolder(store: scratch.path("a/b"))
    }

    // MARK: The way to a folder

    @Test func `Private folder, new: made with its parents, mode 0700; only absolute paths without links are taken`()
        throws
    {
        let deep = try PrivateFolder(scratch.path("x/y/z"), newMode: 0o750)
        #expect(try scratch.mode("x") == 0o750 && scratch.mode("x/y") == 0o750 && scratch.mode("x/y/z") == 0o700)
        #expect(deep.path == scratch.path("x/y/z") && store.path == scratch.path("a/b"))
        _ = try PrivateFolder(scratch.path("p/q"), guests: .mayRead, newMode: 0o755).folder("r")
        #expect(try scratch.mode("p/q") == 0o755 && scratch.mode("p/q/r") == 0o700)
        #expect(try scratch.mode("a") == 0o700 && scratch.mode("a/b") == 0o700)
        let (file, link) = (try scratch.file("file", "", mode: 0o640), try scratch.link("link", to: "own"))
        for (path, wanted) in [
            ("own", .denied), ("", .denied), ("\0", .denied), (link, .unsafe),
            (file, .unsafe), (file + "/b", .unsafe), ("/proc/self/none/b", .missing),
        ] as [(String, StorageError.Code)] {
            #expect(try code { _ = try PrivateFolder(path) } == wanted, "\(path)")
            #expect(try code { _ = try PrivateFolder(store: path) } == wanted, "\(path)")
        }
        #expect(try code { _ = try PrivateFolder(scratch.path("a\0b")) } == .denied)
        let none = scratch.path("none/in")
        #expect(try code { _ = try PrivateFolder(none, creates: false) } == .missing)
        #expect(try code { _ = try PrivateFolder(store: none, creates: false) } == .missing)
        #expect(try scratch.mode("file") == 0o640 && !scratch.names.contains("none"))
    }

    @Test func `Private folder: unsafe if another user can replace a part of its path`() throws {
        for (mode, isSafe) in [
            (0o700, true), (0o755, true), (0o775, true), (0o1777, true), (0o1773, true), (0o777, false), (0o707, false),
            (0o702, false),
        ] as [(mode_t, Bool)] {
            let way = try scratch.makeFolder("way-\(mode)", mode)
            #expect(try code { _ = try PrivateFolder(way + "/own") } == (isSafe ? nil : .unsafe), "\(mode)")
        }
        guard ScratchFolder.isRoot else { return }
        let way = try scratch.makeFolder("foreign", 0o755)
        let own = try PrivateFolder(way + "/own").path
        try ScratchFolder.give(way)
        for path in [own, way + "/new", way] { #expect(try code { _ = try PrivateFolder(path) } == .unsafe, "\(path)") }
        #expect(try code { _ = try PrivateFolder(way, guests: .mayRead) } == .unsafe)
        #expect(try code { _ = try PrivateFolder(store: way) } == .unsafe)
    }

    @Test func `Private folder, open to others: becomes 0700; one that guests may read is unsafe if others can write`()
        throws
    {
        for mode: mode_t in [0o750, 0o705, 0o777] {
            _ = try PrivateFolder(scratch.makeFolder("f\(mode)", mode))
            _ = try PrivateFolder(store: scratch.makeFolder("s\(mode)", mode))
            #expect(try scratch.mode("f\(mode)") == 0o700 && scratch.mode("s\(mode)") == 0o700)
        }
        for mode: mode_t in [0o775, 0o757, 0o720, 0o702] {
            let path = try scratch.makeFolder("g\(mode)", mode)
            #expect(try code { _ = try PrivateFolder(path, guests: .mayRead) } == .unsafe, "\(mode)")
        }
        _ = try PrivateFolder(scratch.makeFolder("shared", 0o755), guests: .mayRead)
        _ = try PrivateFolder(scratch.makeFolder("closed", 0o500))
        #expect(try scratch.mode("shared") == 0o755 && scratch.mode("closed") == 0o500)
    }

    @Test func `Random folder: in the folder for temporary files, mode 0700`() throws {
        let random = try PrivateFolder.random("nfc-tests")
        #expect(random.path.hasPrefix(PrivateFolder.parentOfRandom + "/nfc-tests."))
        var status = stat()
        #expect(unsafe lstat(random.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        random.removeIfEmpty()
    }

    // MARK: What is in a folder

    @Test func `Files of a private folder: mode 0600, replaced in one step, links are not followed and paths refused`()
        throws
    {
        try folder.write("file", [0x61])
        #expect(try scratch.text("own/file") == "a" && scratch.mode("own/file") == 0o600)
        try folder.replace("file", with: [0x62], mode: 0o640)
        #expect(try scratch.text("own/file") == "b" && scratch.mode("own/file") == 0o640)
        try folder.replace("new", with: [0x63])
        #expect(try scratch.mode("own/new") == 0o600)
        try folder.rename("new", to: "file")
        #expect(try scratch.text("own/file") == "c")
        for _ in 0..<2 { try folder.remove("file") }
        let other = try scratch.file("other", "secret")
        _ = try scratch.link("own/file", to: other)
        #expect(try code { _ = try folder.open("file", O_RDONLY) } == .unsafe)
        let file = try folder.makeFile("file")
        defer { close(file) }
        #expect(unsafe write(file, "x", 1) == 1 && fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
        #expect(try scratch.text("other") == "secret" && scratch.text("own/file") == "x")
        for name in ["", ".", "..", "a/b", "a\0b"] {
            #expect(try code { try folder.write(name, []) } == .denied, "\(name)")
            #expect(try code { _ = try folder.folder(name) } == .denied, "\(name)")
            #expect(try code { _ = try store.read(name, limit: 9) } == .denied)
            #expect(try code { try store.write(name, []) } == .denied)
            #expect(try code { try store.remove(name) } == .denied)
            #expect(try code { try store.rename(name, to: "a") } == .denied)
            #expect(try code { try store.rename("a", to: name) } == .denied)
        }
        // Only the folder and the open file are open.
        #expect(try ScratchFolder.open(in: folder.path) == [folder.path, scratch.path("own/file")])
    }

    @Test func `Folders in a private folder: made with owner and mode, removed with the named files only`() throws {
        for mode in [0o2750, 0o700] as [UInt32] {
            try folder.makeFolder("in", owner: geteuid(), group: getegid(), mode: mode)
            #expect(try scratch.status("own/in").st_mode & 0o7777 == mode)
        }
        _ = try scratch.link("own/link", to: "in")
        _ = try scratch.file("own/file", "", mode: 0o640)
        for name in ["link", "file"] {
            #expect(
                try code { try folder.makeFolder(name, owner: geteuid(), group: getegid(), mode: 0o700) } == .unsafe
            )
        }
        #expect(try scratch.mode("own/file") == 0o640)
        for name in ["own/in/a", "own/in/b", "other"] { _ = try scratch.file(name, "") }
        #expect(!folder.removeFolder("in", with: ["a", "../file", "../../other", scratch.path("other")]))
        #expect(folder.removeFolder("in", with: ["b"]) && !folder.removeFolder("in", with: []))
        for name in ["link", "file"] {
            #expect(!folder.removeFolder(name, with: []))
            folder.removeIfEmpty()
            #expect(try scratch.names.contains("own"))
            try folder.remove(name)
        }
        folder.removeIfEmpty()
        #expect(try scratch.names == ["a", "other"])
    }

    @Test
    func `isSharedWithGroup: setgid alone, a group that reads and enters but can't write, and nothing for others`()
        throws
    {
        let modes: [(UInt32, Bool)] = [
            (0o2750, true), (0o2650, true), (0o750, false), (0o2770, false), (0o2755, false), (0o6750, false),
            (0o3750, false), (0o2740, false),
        ]
        for (mode, isShared) in modes {
            try folder.setMode(mode)
            #expect(try scratch.status("own").st_mode & 0o7777 == mode && folder.isSharedWithGroup == isShared)
        }
    }

    // MARK: A store

    @Test func `Store: writes, lists, reads up to a limit, renames and removes`() throws {
        try store.write("two", [1, 2])
        try store.write("one", [])
        #expect(try store.names() == ["one", "two"] && scratch.mode("a/b/two") == 0o600)
        #expect(try store.names(limit: 2).count == 2)
        #expect(try code { _ = try store.names(limit: 1) } == .tooLarge)
        #expect(try store.read("two", limit: 2) == [1, 2] && store.read("one", limit: 0) == [])
        #expect(try code { _ = try store.read("two", limit: 1) } == .tooLarge)
        try store.write("two", [3])
        #expect(try store.read("two", limit: 2) == [3])
        try store.rename("two", to: "three")
        #expect(try code { try store.rename("two", to: "three") } == .missing)
        #expect(try code { _ = try store.read("two", limit: 1) } == .missing)
        for _ in 0..<2 { try store.remove("three") }
        #expect(try store.names() == ["one"])
        // It is in its place until another one is there, and works where it is.
        #expect(store.isInPlace)
        try FileManager.default.moveItem(atPath: store.path, toPath: scratch.path("elsewhere"))
        #expect(!store.isInPlace)
        try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: false)
        #expect(!store.isInPlace)
        try store.write("file", [1])
        #expect(try scratch.text("elsewhere/file") == "\u{1}")
    }

    @Test func `Store replacement: write, rename, synchronize, and nothing unfinished is left`() throws {
        let log = StepLog()
        try log.replace("file", with: [1])
        #expect(log.steps.withLock { $0 } == ["write file.tmp", "rename file.tmp to file", "synchronize"])
        try store.replace("file", with: [2, 3])
        #expect(try store.names() == ["file"] && store.read("file", limit: 9) == [2, 3])
        try FileManager.default.createDirectory(atPath: scratch.path("a/b/full/x"), withIntermediateDirectories: true)
        #expect(try code { try store.replace("full", with: [4]) } == .failed)
        #expect(throws: StorageError.self) { try store.remove("full") }
        try store.write("left.tmp", [1])
        try store.removeUnfinished()
        #expect(try store.names() == ["file", "full"] && PrivateFolder.unfinished == ".tmp")
    }

    @Test func `Store: reads no link, pipe, folder or socket, and a write replaces a link`() throws {
        let other = try scratch.file("other", "secret")
        _ = try scratch.link("a/b/link", to: other)
        _ = try scratch.pipe("a/b/pipe")
        _ = try scratch.makeFolder("a/b/folder", 0o700)
        close(try PrivateSocket.listen("socket", in: PrivateFolder(store.path)))
        for name in ["link", "pipe", "folder", "socket"] {
            #expect(try code { _ = try store.read(name, limit: 99) } == .unsafe, "\(name)")
            #expect(throws: StorageError.self, "\(name)") { try store.claim(name) }
        }
        try store.write("link", [1])
        #expect(try scratch.text("other") == "secret" && scratch.status("a/b/link").st_mode & S_IFMT == S_IFREG)
    }

    @Test
    func `File claim: excludes other claims until it is freed, and is refused for a file that was removed meanwhile`()
        throws
    {
        try store.write("file", [1])
        for _ in 0..<64 {
            let claim = try store.claim("file")
            #expect(try code { _ = try store.claim("file") } == .inUse)
            withExtendedLifetime(claim) {}
        }
        #expect(try code { _ = try store.claim("none") } == .missing)
        let file = try store.open("file", O_RDWR)
        try store.remove("file")
        #expect(try code { _ = try store.claim(file, "file") } == .missing)
        #expect(try ScratchFolder.open(in: store.path) == [store.path])
    }

    // MARK: Names and errors

    @Test func `Path: split into folder and name, or refused; a file name that is not UTF-8 is not listed`() throws {
        let path = Array(store.path.utf8).map(CChar.init(bitPattern:)) + [0x2F, CChar(bitPattern: 0xFF), 0]
        close(unsafe open(path, O_CREAT | O_WRONLY, 0o600))
        #expect(try store.names().isEmpty)
        let paths = [("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b/c", "a/b", "c"), ("//a", "/", "a")]
        for (path, folder, name) in paths {
            let parts = PathParts(path)
            #expect(parts?.name == name && parts?.folder == folder)
            for wrong in [path + "/", path + "/.", path + "/..", path + "\0", ""] { #expect(PathParts(wrong) == nil) }
        }
    }

    @Test func `System error: each errno is mapped to missing, denied, unsafe or failed`() {
        for (number, code): (Int32, StorageError.Code) in [
            (ENOENT, .missing), (EACCES, .denied), (EPERM, .denied), (EROFS, .denied), (ELOOP, .unsafe),
            (ENOTDIR, .unsafe), (ENOSPC, .failed), (EIO, .failed),
        ] {
            let error = StorageError.system("It fails", number)
            #expect(error.code == code && error.number == number, "\(number)")
        }
    }

    @Test func `User folders: by the XDG variables if they are absolute, otherwise below the home`() {
        let usual = UserFolders(environment: ["HOME": "/h/a"])
        #expect([usual.data, usual.state] == ["/h/a/.local/share", "/h/a/.local/state"])
        #expect([usual.cache, usual.config] == ["/h/a/.cache", "/h/a/.config"])
        #expect(usual.allData == ["/h/a/.local/share", "/usr/local/share", "/usr/share"])
        #expect(usual.allConfig == ["/h/a/.config", "/etc/xdg"])
        let own = UserFolders(environment: [
            "HOME": "/h/a", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/c",
            "XDG_CONFIG_HOME": "/o", "XDG_DATA_DIRS": "/x/:relative:/d:/y//:/x:/", "XDG_CONFIG_DIRS": "",
        ])
        #expect([own.data, own.state, own.cache, own.config] == ["/d", "/s", "/c", "/o"])
        #expect(own.allData == ["/d", "/x", "/y", "/"] && own.allConfig == ["/o", "/etc/xdg"])
        let relative = UserFolders(environment: ["HOME": "/h/a", "XDG_DATA_HOME": "d", "XDG_CACHE_HOME": ""])
        #expect(relative.data == usual.data && relative.cache == usual.cache)
    }
}

/// A store that has no files, and logs its changes.
private final class StepLog: FileStore {
    let steps = Mutex<[String]>([])

    private func note(_ step: String) { steps.withLock { $0.append(step) } }

    func names() throws(StorageError) -> [String] { [] }
    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] { throw StorageError(.missing, name) }
    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) { note("write \(name)") }
    func rename(_ name: String, to new: String) throws(StorageError) { note("rename \(name) to \(new)") }
    func remove(_ name: String) throws(StorageError) { note("remove \(name)") }
    func synchronize() throws(StorageError) { note("synchronize") }
}
