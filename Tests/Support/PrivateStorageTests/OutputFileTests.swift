// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivateStorage
import TestThreads
import Testing

@Suite struct `Files that are written where a person says` {
    private let place: Place

    init() throws { place = try Place() }

    private func write(_ text: String, to path: String, readers: OutputFile.Readers = .everyone) throws {
        try OutputFile.write(Array(text.utf8), to: path, readers: readers)
    }

    @Test func `A new file is for everyone whom the mask leaves, and one with keys for its owner alone`() throws {
        try write("1", to: place.path("open"))
        try write("2", to: place.path("keys"), readers: .ownerAlone)
        #expect(try place.mode("open") == 0o644 & ~Place.mask)
        #expect(try place.mode("keys") == 0o600)
        #expect(try place.text("open") + place.text("keys") == "12")
        #expect(try place.names == ["keys", "open"])
    }

    @Test func `Two paths lead to one file by links, and never where one of them is missing`() throws {
        let (one, other) = (try place.file("one", "1"), try place.file("other", "1"))
        #expect(OutputFile.isOneFile(one, one) && !OutputFile.isOneFile(one, other))
        #expect(try OutputFile.isOneFile(place.link("link", to: "one"), one))
        #expect(try OutputFile.isOneFile(other, place.link("back", to: "other")))
        let missing = place.path("missing")
        #expect(!OutputFile.isOneFile(one, missing) && !OutputFile.isOneFile(missing, one))
        #expect(!OutputFile.isOneFile(missing, missing))
    }

    @Test(arguments: [0o600, 0o640, 0o604, 0o666, 0o755])
    func `A file is replaced in one step and keeps its mode`(mode: Int) throws {
        let path = try place.file("file", "old", mode: mode_t(mode))
        let before = try place.status("file").st_ino
        try write("new", to: path)
        #expect(try place.text("file") == "new")
        #expect(try place.mode("file") == mode_t(mode))
        #expect(try place.status("file").st_ino != before)
        #expect(try place.names == ["file"])
    }

    @Test(.enabled(if: Place.isRoot), arguments: [(12345, 54321), (12345, nil), (nil, 54321)] as [(uid_t?, gid_t?)])
    func `A file keeps its owner and its group, where one of them is not the process's too`(
        owner: uid_t?,
        group: gid_t?
    ) throws {
        let path = try place.file("file", "old", mode: 0o640)
        let (owner, group) = (owner ?? geteuid(), group ?? getegid())
        try #require(unsafe chown(path, owner, group) == 0)
        let before = try place.status("file").st_ino
        try write("new", to: path)
        #expect(try place.text("file") == "new" && place.status("file").st_ino != before)
        #expect(try place.status("file").st_uid == owner)
        #expect(try place.status("file").st_gid == group)
        #expect(try place.mode("file") == 0o640)
    }

    @Test(.enabled(if: Place.isRoot))
    func
        `Keys are not written into a file of another user, and no link of another user is followed where all may write`()
        throws
    {
        let foreign = try place.file("foreign", "old", mode: 0o666)
        try #require(unsafe chown(foreign, 12345, 54321) == 0)
        #expect(throws: StorageError(.unsafe, "")) { try write("keys", to: foreign, readers: .ownerAlone) }
        #expect(try place.text("foreign") == "old")
        _ = try place.file("mine", "old", mode: 0o600)
        let link = try place.link("link", to: "mine")
        let dangling = try place.link("dangling", to: "nothing")
        for path in [link, dangling] { try #require(unsafe lchown(path, 12345, 54321) == 0) }
        // In the user's own folder a link is followed, even if another user made it.
        try write("new", to: link)
        #expect(try place.text("mine") == "new")
        try #require(unsafe chmod(place.folder, 0o1777) == 0)
        #expect(throws: StorageError(.unsafe, "")) { try write("newer", to: link) }
        #expect(throws: StorageError(.unsafe, "")) { try write("newer", to: dangling) }
        #expect(try place.text("mine") == "new")
        #expect(try !place.names.contains("nothing"))
    }

    @Test(.enabled(if: !Place.isRoot))
    func `A file that may not be written is not replaced`() throws {
        let path = try place.file("file", "old", mode: 0o444)
        #expect(throws: StorageError(.denied, "")) { try write("new", to: path) }
        #expect(try place.text("file") == "old")
    }

    @Test func `Whoever has the old file open goes on reading it`() throws {
        let path = try place.file("file", "old")
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        try write("new", to: path)
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(unsafe read(file, &bytes, 4) == 3 && bytes == Array("old\0".utf8))
    }

    @Test func `A symbolic link stays one, and what it leads to is replaced`() throws {
        _ = try place.file("target", "old", mode: 0o600)
        _ = try place.link("link", to: "target")
        let path = try place.link("longer", to: place.path("link"))
        try write("new", to: path)
        #expect(try place.text("target") == "new")
        #expect(try place.mode("target") == 0o600)
        #expect(try place.status("longer").st_mode & S_IFMT == S_IFLNK)
        #expect(try place.status("link").st_mode & S_IFMT == S_IFLNK)
        #expect(try place.names == ["link", "longer", "target"])
    }

    @Test func `The file that a link names is made when it is not there`() throws {
        let path = try place.link("link", to: "target")
        try write("new", to: path, readers: .ownerAlone)
        #expect(try place.text("target") == "new")
        #expect(try place.mode("target") == 0o600)
        #expect(try place.status("link").st_mode & S_IFMT == S_IFLNK)
        #expect(throws: StorageError.self) { try write("x", to: place.link("nowhere", to: "none/target")) }
    }

    @Test(arguments: ["a", "a longer text", ""])
    func `All names of a file have what is written by one of them`(text: String) throws {
        let path = try place.file("one", "old text", mode: 0o600)
        try FileManager.default.linkItem(atPath: path, toPath: place.path("two"))
        try write(text, to: path)
        #expect(try place.text("one") == text)
        #expect(try place.text("two") == text)
        #expect(try place.status("one").st_nlink == 2)
        #expect(try place.mode("two") == 0o600)
    }

    @Test(.ownThreads, arguments: [["user.note"], ["security.note", "user.note"], ["user.note", "security.note"]])
    func `A file with attributes keeps them`(names: [String]) throws {
        let path = try place.file("file", "old")
        let script = "import os\nfor name in \(names): os.setxattr('\(path)', name, b'kept')"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        // Not every file system has attributes, and root alone may set some.
        guard process.terminationStatus == 0 else { return }
        let before = try place.status("file").st_ino
        try write("new", to: path)
        #expect(try place.text("file") == "new")
        #expect(try place.status("file").st_ino == before)
    }

    @Test func `Links that others have put where a temporary file might be are not followed`() throws {
        let path = try place.file("file", "old")
        _ = try place.file("victim", "kept")
        for name in ["file.tmp", "file.\(getpid()).tmp", ".file.tmp"] { _ = try place.link(name, to: "victim") }
        try write("new", to: path)
        #expect(try place.text("file") == "new")
        #expect(try place.text("victim") == "kept")
    }

    @Test func `Whoever reads meanwhile sees the old file or the new one`() async throws {
        let texts = [String(repeating: "a", count: 100_000), String(repeating: "b", count: 70_000)]
        let path = try place.file("file", texts[0])
        let reader = Task.detached {
            var parts = 0
            while !Task.isCancelled {
                let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
                if !texts.contains(text) { parts += 1 }
            }
            return parts
        }
        for turn in 0..<50 { try write(texts[turn % 2], to: path) }
        reader.cancel()
        #expect(await reader.value == 0)
    }

    @Test func `No descriptor stays open after a write, whatever it was to`() throws {
        let file = try place.file("file", "old")
        let two = try place.file("two", "old")
        try FileManager.default.linkItem(atPath: two, toPath: place.path("names"))
        let pipe = try place.pipe("pipe")
        let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        for path in [file, two, pipe, place.path("new"), try place.link("link", to: "made")] {
            try write("text", to: path)
        }
        try? write("text", to: place.folder)
        try? write("text", to: place.path("none/file"))
        #expect(try Place.open(in: place.folder) == [pipe])
    }

    // MARK: What is no file

    @Test func `A pipe is written to`() throws {
        let path = try place.pipe("pipe")
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try write("through", to: path)
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = unsafe read(reader, &buffer, buffer.count)
        #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "through")
        #expect(try place.status("pipe").st_mode & S_IFMT == S_IFIFO)
    }

    @Test func `A pipe that nobody reads is refused at once`() throws {
        let path = try place.pipe("pipe")
        let error = #expect(throws: StorageError.self) { try write("x", to: path) }
        #expect(error?.reason == "\(path) is a pipe without a reader. Start its reader first.")
    }

    @Test func `A pipe whose reader goes is an error, and does not end the process`() throws {
        let path = try place.pipe("pipe")
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let long = [UInt8](repeating: 0x61, count: 1 << 20)
        let thread = Thread {
            var poller = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, -1)
            close(reader)
        }
        thread.start()
        let error = #expect(throws: StorageError.self) { try OutputFile.write(long, to: path, readers: .everyone) }
        #expect(error?.reason == "\(path) can't be written: Broken pipe.")
    }

    @Test func `A device is written to and stays one, and a full one is an error`() throws {
        try write("x", to: "/dev/null")
        #expect(throws: StorageError(.failed, "")) { try write("x", to: "/dev/full") }
        #expect(throws: StorageError(.failed, "")) { try write("x", to: place.link("full", to: "/dev/full")) }
        for name in ["/dev/null", "/dev/full"] {
            var status = stat()
            try #require(unsafe lstat(name, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFCHR)
        }
    }

    @Test func `Folders, sockets and invalid names are refused with a sentence`() throws {
        let socket = try place.socket("socket")
        for (path, reason) in [
            (place.folder, "\(place.folder) is a folder. Name a file in it."),
            ("/", "/ is a folder. Name a file in it."),
            (socket, "\(socket) is a socket, which is not written to. Name a file."),
            ("", "'' is no name of a file."), (place.path("none/"), "'\(place.path("none/"))' is no name of a file."),
        ] {
            let error = #expect(throws: StorageError(.notAFile, "")) { try write("x", to: path) }
            #expect(error?.reason == reason)
        }
        #expect(throws: StorageError(.missing, "")) { try write("x", to: place.path("none/file")) }
        #expect(try place.names == ["socket"])
    }
}

extension Place {
    /// Creates a socket without a listener.
    func socket(_ name: String) throws -> String {
        let path = path(name)
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < 108)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(socket, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        return path
    }
}
