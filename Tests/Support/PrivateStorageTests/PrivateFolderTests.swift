// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import PrivateStorage

@Suite struct `A private folder` {
    private let place: Place
    private let folder: PrivateFolder

    init() throws {
        place = try Place()
        folder = try PrivateFolder(place.path("own"))
    }

    private func code(_ body: () throws(StorageError) -> Void) -> StorageError.Code? {
        do throws(StorageError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `has files that are its owner's alone, and are replaced in one step`() throws {
        try folder.write("file", [0x61])
        #expect(try place.text("own/file") == "a" && place.mode("own/file") == 0o600)
        try folder.replace("file", with: [0x62], mode: 0o640)
        #expect(try place.text("own/file") == "b" && place.mode("own/file") == 0o640)
        try folder.replace("new", with: [0x63])
        #expect(try place.mode("own/new") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["file", "new"])
        try folder.rename("new", to: "file")
        #expect(try place.text("own/file") == "c")
        try folder.remove("file")
        try folder.remove("file")
        for name in ["", "..", "a/b"] {
            #expect(
                code { () throws(StorageError) in try folder.makeFolder(name, owner: 0, group: 0, mode: 0) } == .denied
            )
            #expect(code { () throws(StorageError) in try folder.write(name, []) } == .denied)
            #expect(code { () throws(StorageError) in try folder.replace(name, with: []) } == .denied)
            #expect(code { () throws(StorageError) in _ = try folder.folder(name) } == .denied)
        }
    }

    @Test func `replaces a file with a new one, and follows no link`() throws {
        let other = try place.file("other", "secret")
        _ = try place.link("own/file", to: other)
        #expect(code { () throws(StorageError) in _ = try folder.open("file", O_RDONLY) } == .unsafe)
        let file = try folder.makeFile("file")
        #expect(unsafe write(file, "x", 1) == 1)
        var byte: UInt8 = 0
        // It is read and written, and closed in programs that are started.
        #expect(unsafe pread(file, &byte, 1, 0) == 1 && byte == 0x78)
        #expect(fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
        close(file)
        #expect(try place.text("other") == "secret" && place.text("own/file") == "x")
        try FileManager.default.createDirectory(atPath: place.path("own/full/x"), withIntermediateDirectories: true)
        #expect(code { () throws(StorageError) in try folder.replace("full", with: [1]) } != nil)
        #expect(code { () throws(StorageError) in try folder.remove("full") } == .failed)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["file", "full"])
    }

    @Test func `is found by an absolute path alone, and made only where that is wanted`() throws {
        for path in ["own", "", "\0"] {
            #expect(code { () throws(StorageError) in _ = try PrivateFolder(path) } == .denied)
        }
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(place.path("a\0b")) } == .denied)
        #expect(
            code { () throws(StorageError) in _ = try PrivateFolder(place.path("none"), creates: false) } == .missing
        )
        let link = try place.link("link", to: "own")
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(link) } == .unsafe)
        let deep = try PrivateFolder(place.path("x/y/z"), newMode: 0o750)
        #expect(try place.mode("x") == 0o750 && place.mode("x/y") == 0o750)
        #expect(try place.mode("x/y/z") == 0o700 && deep.path == place.path("x/y/z"))
        let open = try PrivateFolder(place.path("p/q"), guests: .mayRead, newMode: 0o755)
        #expect(try place.mode("p/q") == 0o755 && open.folder("r").path == place.path("p/q/r"))
        #expect(try place.mode("p/q/r") == 0o700)
    }

    @Test func `gets a mode, and is shared with a group by one mode alone`() throws {
        for (mode, isShared): (UInt32, Bool) in [
            (0o2750, true), (0o750, false), (0o2770, false), (0o2755, false), (0o6750, false), (0o3750, false),
            (0o2740, false),
            (0o2650, true),
        ] {
            try folder.setMode(mode)
            #expect(try place.status("own").st_mode & 0o7777 == mode && folder.isSharedWithGroup == isShared)
        }
    }

    @Test func `has folders in it that are given to others, and goes when it is empty`() throws {
        try folder.makeFolder("in", owner: geteuid(), group: getegid(), mode: 0o2750)
        #expect(try place.status("own/in").st_mode & 0o7777 == 0o2750)
        try folder.makeFolder("in", owner: geteuid(), group: getegid(), mode: 0o700)
        #expect(try place.mode("own/in") == 0o700)
        _ = try place.link("own/link", to: "in")
        #expect(
            code { () throws(StorageError) in try folder.makeFolder("link", owner: 0, group: 0, mode: 0o700) }
                == .unsafe
        )
        // What is no folder is not given away.
        _ = try place.file("own/file", "", mode: 0o640)
        #expect(
            code { () throws(StorageError) in
                try folder.makeFolder("file", owner: geteuid(), group: getegid(), mode: 0o700)
            } == .unsafe
        )
        #expect(try place.mode("own/file") == 0o640)
        try folder.remove("file")
        if Place.isRoot {
            try folder.makeFolder("given", owner: 12345, group: 54321, mode: 0o2710)
            let status = try place.status("own/given")
            #expect(status.st_uid == 12345 && status.st_gid == 54321 && status.st_mode & 0o7777 == 0o2710)
            #expect(folder.removeFolder("given", with: []))
        }
        _ = try place.file("own/in/a", "")
        _ = try place.file("own/in/b", "")
        #expect(!folder.removeFolder("in", with: ["a", "../../other"]))
        #expect(folder.removeFolder("in", with: ["b"]) && !folder.removeFolder("in", with: []))
        _ = try place.pipe("own/pipe")
        for name in ["link", "pipe"] {
            #expect(!folder.removeFolder(name, with: []))
            folder.removeIfEmpty()
            #expect(try place.names == ["own"])
            try folder.remove(name)
        }
        folder.removeIfEmpty()
        #expect(try place.names.isEmpty)
    }

    @Test func `keeps nothing open that it has written, made or removed`() throws {
        let file = try folder.makeFile("open")
        defer { close(file) }
        try folder.write("written", [0x61])
        try folder.replace("replaced", with: [0x62])
        for name in ["made", "removed"] {
            try folder.makeFolder(name, owner: geteuid(), group: getegid(), mode: 0o700)
        }
        #expect(folder.removeFolder("removed", with: []))
        #expect(try Place.open(in: place.folder) == [folder.path, place.path("own/open")])
    }

    @Test func `of a random name is made where temporary files go`() throws {
        let random = try PrivateFolder.random("nfc-tests")
        defer { random.removeIfEmpty() }
        #expect(random.path.hasPrefix(PrivateFolder.parentOfRandom + "/nfc-tests."))
        var status = stat()
        #expect(unsafe lstat(random.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test(.ownThreads) func `of a random name goes by TMPDIR where that is absolute`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("TMPDIR", "/var/tmp", 1)
            #expect(PrivateFolder.parentOfRandom == "/var/tmp")
            unsafe setenv("TMPDIR", "tmp", 1)
            #expect(PrivateFolder.parentOfRandom == "/tmp")
            unsafe unsetenv("TMPDIR")
            #expect(PrivateFolder.parentOfRandom == "/tmp")
        }
    }

    @Test(.ownThreads) func `of a random name is refused where others can change it, and leaves nothing there`()
        async throws
    {
        let wide = place.path("wide")
        try #require(unsafe mkdir(wide, 0o700) == 0 && chmod(wide, 0o777) == 0)
        await #expect(processExitsWith: .success) { [wide = wide as String] in
            unsafe setenv("TMPDIR", wide, 1)
            #expect(throws: StorageError(.unsafe, "")) { try PrivateFolder.random("nfc-tests") }
            #expect((try? FileManager.default.contentsOfDirectory(atPath: wide)) == [])
            unsafe setenv("TMPDIR", "/proc/none", 1)
            let error = #expect(throws: StorageError.self) { try PrivateFolder.random("nfc-tests") }
            #expect(error?.reason.hasPrefix("No folder can be made in /proc/none: ") == true)
        }
    }

    @Test func `says what can't be changed or made in it`() throws {
        // In proc(5) no mode can be changed, and no folder can be made.
        let path = "/proc/\(getpid())"
        let fixed = try PrivateFolder(path, creates: false, guests: .mayRead)
        let mode = #expect(throws: StorageError(.denied, "")) { try fixed.setMode(0o700) }
        #expect(mode?.reason.hasPrefix("The mode of \(path) can't be changed: ") == true)
        let made = #expect(throws: StorageError.self) {
            try fixed.makeFolder("none", owner: geteuid(), group: getegid(), mode: 0o700)
        }
        #expect(made?.reason.hasPrefix("The folder \(path)/none can't be made: ") == true)
    }

    // MARK: The user's folders

    @Test func `A user's folders are named by the environment, and below the home else`() {
        let usual = UserFolders(environment: ["HOME": "/h/a"])
        #expect(usual.data == "/h/a/.local/share" && usual.state == "/h/a/.local/state")
        #expect(usual.cache == "/h/a/.cache" && usual.config == "/h/a/.config")
        #expect(usual.allData == ["/h/a/.local/share", "/usr/local/share", "/usr/share"])
        #expect(usual.allConfig == ["/h/a/.config", "/etc/xdg"])
        let own = UserFolders(environment: [
            "HOME": "/h/a", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/c",
            "XDG_CONFIG_HOME": "/o",
            "XDG_DATA_DIRS": "/x/:relative:/d:/y//:/x:/", "XDG_CONFIG_DIRS": "",
        ])
        #expect([own.data, own.state, own.cache, own.config] == ["/d", "/s", "/c", "/o"])
        #expect(own.allData == ["/d", "/x", "/y", "/"] && own.allConfig == ["/o", "/etc/xdg"])
        let root = UserFolders(environment: ["HOME": "/h/a", "XDG_DATA_DIRS": "//"])
        #expect(root.allData == ["/h/a/.local/share", "/"])
        let relative = UserFolders(environment: ["HOME": "/h/a", "XDG_DATA_HOME": "d", "XDG_CACHE_HOME": ""])
        #expect(relative.data == usual.data && relative.cache == usual.cache)
        let homeless = UserFolders(environment: [:])
        #expect(homeless.data.hasPrefix("/") && homeless.data == UserFolders(environment: ["HOME": "relative"]).data)
        let many = (0..<100).map { "/f\($0)" }.joined(separator: ":")
        #expect(UserFolders(environment: ["HOME": "/h", "XDG_DATA_DIRS": many]).allData.count == 64)
    }
}

@Suite struct `A private socket` {
    private let place: Place
    private let folder: PrivateFolder

    init() throws {
        place = try Place()
        folder = try PrivateFolder(place.path("own"))
    }

    @Test func `is connected to by its path, and says who the other side is`() throws {
        let listener = try PrivateSocket.listen("socket", in: folder)
        defer { close(listener) }
        #expect(try place.mode("own/socket") == 0o600 && place.status("own/socket").st_mode & S_IFMT == S_IFSOCK)
        #expect(PrivateSocket.accept(listener) == nil)
        let client = try #require(PrivateSocket.connect(place.path("own/socket")))
        defer { close(client) }
        let server = try #require(PrivateSocket.accept(listener))
        defer { close(server) }
        for end in [client, server] {
            let peer = try #require(PrivateSocket.peer(of: end))
            #expect(peer.process == getpid() && peer.user == geteuid() && peer.isOwnOrRoot)
            #expect(fcntl(end, F_GETFD) & FD_CLOEXEC != 0)
        }
        #expect(unsafe write(client, "hello", 5) == 5)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(unsafe read(server, &buffer, 8) == 5)
        #expect(!PrivateSocket.Peer(process: 1, user: geteuid() + 1).isOwnOrRoot)
        #expect(PrivateSocket.Peer(process: 1, user: 0).isOwnOrRoot && PrivateSocket.peer(of: -1) == nil)
    }

    @Test func `is not taken from one who listens, and takes the place of one that is left over`() throws {
        let first = try PrivateSocket.listen("socket", in: folder)
        #expect(throws: StorageError(.inUse, "")) { try PrivateSocket.listen("socket", in: folder) }
        // With a queue that is full it is in use too.
        var clients: [Int32] = []
        while clients.count < 16, let client = PrivateSocket.connect(place.path("own/socket")) {
            clients.append(client)
        }
        #expect(clients.count < 16)
        #expect(throws: StorageError(.inUse, "")) { try PrivateSocket.listen("socket", in: folder) }
        for client in clients { close(client) }
        close(first)
        #expect(PrivateSocket.connect(place.path("own/socket")) == nil)
        close(try PrivateSocket.listen("socket", in: folder))
        _ = try place.file("own/file", "mine")
        #expect(throws: StorageError(.occupied, "")) { try PrivateSocket.listen("file", in: folder) }
        #expect(try place.text("own/file") == "mine")
        for path in ["own/file", "own/none"] { #expect(PrivateSocket.connect(place.path(path)) == nil) }
    }

    @Test func `is not connected to through a link, and nothing else is connected to`() throws {
        let listener = try PrivateSocket.listen("socket", in: folder)
        defer { close(listener) }
        for path in [try place.link("own/link", to: "socket"), try place.pipe("own/pipe"), folder.path, "/dev/null"] {
            #expect(PrivateSocket.connect(path) == nil, "\(path)")
        }
    }

    @Test func `has a path of 107 bytes at most`() throws {
        let room = PrivateSocket.maximumPathLength - folder.path.utf8.count - 1
        let name = String(repeating: "a", count: room)
        #expect(throws: StorageError(.denied, "")) { try PrivateSocket.listen(name + "a", in: folder) }
        close(try PrivateSocket.listen(name, in: folder))
        for name in ["", "..", "a/b"] {
            #expect(throws: StorageError(.denied, "")) { try PrivateSocket.listen(name, in: folder) }
        }
    }

    @Test func `has an address that is whole, and never the empty one, for which the system would choose a name`() {
        let longest = String(repeating: "a", count: PrivateSocket.maximumPathLength)
        for path in ["a", "/a/b", longest] { #expect(SocketAddress(path) != nil, "\(path)") }
        for path in ["", "\0a", "a\0b", longest + "a"] { #expect(SocketAddress(path) == nil, "\(path)") }
    }

    @Test func `is for a group where its folder is`() throws {
        try folder.setMode(0o2750)
        close(try PrivateSocket.listen("socket", in: folder))
        #expect(try place.mode("own/socket") == 0o660)
    }

    @Test(.ownThreads, .enabled(if: Place.isRoot)) func `is this user's or root's, whoever this user is`() async {
        await #expect(processExitsWith: .success) {
            #expect(seteuid(12345) == 0)
            for (user, isOwn): (UInt32, Bool) in [(12345, true), (0, true), (12346, false)] {
                #expect(PrivateSocket.Peer(process: 1, user: user).isOwnOrRoot == isOwn)
            }
        }
    }

    @Test(.ownThreads) func `of an ordinary user is connected to by that user`() async {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            let ordinary = try PrivateFolder(folder + "/ordinary")
            let listener = try PrivateSocket.listen("socket", in: ordinary)
            let client = try #require(PrivateSocket.connect(ordinary.path + "/socket"))
            #expect(PrivateSocket.peer(of: client)?.user == geteuid())
            close(client)
            close(listener)
        }
    }

    @Test(.enabled(if: Place.isRoot)) func `of another user is not connected to`() throws {
        let listener = try PrivateSocket.listen("socket", in: folder)
        defer { close(listener) }
        let path = place.path("own/socket")
        try #require(unsafe chown(path, 12345, 12345) == 0)
        #expect(PrivateSocket.connect(path) == nil)
    }
}
