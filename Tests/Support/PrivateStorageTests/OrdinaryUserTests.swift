// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import PrivateStorage

/// What the system refuses a user who isn't root, in a process of that user.
@Suite(.timeLimit(.minutes(5))) struct `An ordinary user` {
    private let place: Place

    init() throws { place = try Place() }

    @Test(.ownThreads) func `is told what can't be read and what can't be written`() async throws {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            let path = folder + "/file"
            #expect(FileManager.default.createFile(atPath: path, contents: Data()))
            #expect(unsafe chmod(path, 0o200) == 0)
            let read = #expect(throws: StorageError(.denied, "")) { try InputFile(path, limit: 1) }
            #expect(read?.reason == "\(path) can't be read: Permission denied.")
            #expect(unsafe chmod(path, 0o400) == 0)
            let written = #expect(throws: StorageError(.denied, "")) { try PrivateLog(path, replacing: []) }
            #expect(written?.reason == "\(path) can't be written: Permission denied.")
            #expect(unsafe mkdir(folder + "/in", 0o500) == 0 && symlink("in/new", folder + "/link") == 0)
            #expect(throws: StorageError(.denied, "")) {
                try OutputFile.write([1], to: folder + "/link", readers: .everyone)
            }
            let own = try PrivateFolder(folder + "/own")
            let given = #expect(throws: StorageError(.denied, "")) {
                try own.makeFolder("given", owner: geteuid() + 1, group: getegid(), mode: 0o700)
            }
            #expect(given?.reason.hasPrefix("The folder \(folder)/own/given can't be given to its user: ") == true)
        }
    }

    @Test(.ownThreads) func `is refused a pipe that can't be written, at once`() async throws {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            let path = folder + "/pipe"
            #expect(unsafe mkfifo(path, 0o400) == 0)
            let written = #expect(throws: StorageError(.denied, "")) {
                try OutputFile.write([1], to: path, readers: .everyone)
            }
            #expect(written?.reason == "\(path) can't be written: Permission denied.")
            let store = try DirectoryStore(folder, creates: false)
            #expect(throws: StorageError(.unsafe, "")) { try store.claim("pipe") }
        }
    }

    @Test(.ownThreads) func `keeps the bytes of a file that can't be read and can't grow`() async throws {
        let path = place.path("one")
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            let path = folder + "/one"
            #expect(FileManager.default.createFile(atPath: path, contents: Data("abcd".utf8)))
            #expect(unsafe link(path, folder + "/two") == 0 && chmod(path, 0o200) == 0)
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 6, rlim_max: 6)
            // RLIMIT_FSIZE
            #expect(unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0)
            #expect(throws: StorageError(.failed, "")) {
                try OutputFile.write(Array("0123456789".utf8), to: path, readers: .everyone)
            }
        }
        try #require(unsafe chmod(path, 0o600) == 0)
        #expect(try place.text("one") == "abcd" && place.text("two") == "abcd")
    }

    @Test(.ownThreads, .enabled(if: Place.isRoot)) func `overwrites a file of root that all may write`() async throws {
        _ = try place.file("file", "old", mode: 0o666)
        let before = try place.status("file").st_ino
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            try OutputFile.write(Array("new".utf8), to: folder + "/file", readers: .everyone)
        }
        #expect(try place.text("file") == "new" && place.names == ["file"])
        let now = try place.status("file")
        #expect(now.st_ino == before && now.st_uid == 0 && now.st_mode & 0o777 == 0o666)
    }

    @Test(.ownThreads, .enabled(if: Place.isRoot)) func `connects to a socket of root`() async throws {
        await #expect(processExitsWith: .success) { [path = place.path("own") as String] in
            let folder = try PrivateFolder(path)
            let listener = try PrivateSocket.listen("socket", in: folder)
            #expect(unsafe chmod(path, 0o755) == 0 && chmod(path + "/socket", 0o666) == 0)
            #expect(seteuid(12345) == 0)
            let client = try #require(PrivateSocket.connect(path + "/socket"))
            #expect(PrivateSocket.peer(of: client)?.user == 0)
            close(client)
            close(listener)
        }
    }

    @Test(.ownThreads, .enabled(if: Place.isRoot)) func `is not connected to by way of another one's file`() async {
        await #expect(processExitsWith: .success) { [path = place.folder as String] in
            #expect(unsafe chown(path, 12345, 12345) == 0 && seteuid(12345) == 0)
            let folder = try PrivateFolder(path + "/own")
            let listener = try PrivateSocket.listen("socket", in: folder)
            #expect(unsafe seteuid(0) == 0 && chown(path + "/own/socket", 0, 0) == 0)
            #expect(PrivateSocket.connect(path + "/own/socket") == nil)
            close(listener)
        }
    }

    @Test(.enabled(if: Place.isRoot))
    func `has links followed where all may write, and so has the owner there`() throws {
        // The folder is another user's, as the one for temporary files is root's.
        try #require(unsafe chown(place.folder, 12345, 12345) == 0 && chmod(place.folder, 0o1777) == 0)
        for (name, owner): (String, uid_t) in [("own", geteuid()), ("owner", 12345)] {
            _ = try place.file(name, "old")
            let link = try place.link("link-" + name, to: name)
            try #require(unsafe lchown(link, owner, owner) == 0)
            try OutputFile.write(Array("new".utf8), to: link, readers: .everyone)
            #expect(try place.text(name) == "new")
        }
        // A file is no link.
        let foreign = try place.file("foreign", "old", mode: 0o666)
        try #require(unsafe chown(foreign, 54321, 54321) == 0)
        try OutputFile.write(Array("new".utf8), to: foreign, readers: .everyone)
        #expect(try place.text("foreign") == "new")
    }
}
