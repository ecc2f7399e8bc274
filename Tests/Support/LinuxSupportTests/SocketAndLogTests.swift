// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import LinuxSupport  // a peer of another user can only be made up

/// Sockets that only their owner reaches, and logs that only their owner reads.
@Suite(.timeLimit(.minutes(5))) struct SocketAndLogTests {
    private let scratch: ScratchFolder
    private let folder: PrivateFolder
    private let head = Array("{\"log\"".utf8)

    init() throws {
        scratch = try ScratchFolder()
        folder = try PrivateFolder(scratch.path("own"))
    }

    // MARK: Sockets

    /// Stops listening at once: a program that another test starts has copies of this process's descriptors for a moment.
    private func end(_ listener: Int32) {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    @Test func `Private socket: mode 0600, both sides know each other, one listens at a time, a leftover is replaced`()
        throws
    {
        let path = scratch.path("own/socket")
        let listener = try PrivateSocket.listen("socket", in: folder)
        #expect(try scratch.mode("own/socket") == 0o600 && scratch.status("own/socket").st_mode & S_IFMT == S_IFSOCK)
        #expect(PrivateSocket.accept(listener) == nil)
        let client = try #require(PrivateSocket.connect(path))
        let server = try #require(PrivateSocket.accept(listener))
        for end in [client, server] {
            let peer = try #require(PrivateSocket.peer(of: end))
            #expect(peer.process == getpid() && peer.user == geteuid() && peer.isOwnOrRoot)
            #expect(fcntl(end, F_GETFD) & FD_CLOEXEC != 0)
        }
        for end in [client, server] { close(end) }
        #expect(try code { _ = try PrivateSocket.listen("socket", in: folder) } == .inUse)
        // With a queue that is full it is in use too.
        var clients: [Int32] = []
        while clients.count < 16, let client = PrivateSocket.connect(path) { clients.append(client) }
        #expect(clients.count < 16)
        #expect(try code { _ = try PrivateSocket.listen("socket", in: folder) } == .inUse)
        clients.forEach { close($0) }
        end(listener)
        #expect(PrivateSocket.connect(path) == nil)
        end(try PrivateSocket.listen("socket", in: folder))
        _ = try scratch.file("own/file", "mine")
        #expect(try code { _ = try PrivateSocket.listen("file", in: folder) } == .occupied)
        #expect(try scratch.text("own/file") == "mine")
        #expect(try ScratchFolder.open(in: scratch.folder) == [folder.path], "Nothing of all that is open.")
        try folder.setMode(0o2750)
        end(try PrivateSocket.listen("socket", in: folder))
        #expect(try scratch.mode("own/socket") == 0o660)
    }

    @Test
    func `Private socket connection: refused through a link, to anything but a socket, and to a socket of others`()
        throws
    {
        let listener = try PrivateSocket.listen("socket", in: folder)
        defer { close(listener) }
        for path in [
            try scratch.link("own/link", to: "socket"), try scratch.pipe("own/pipe"), try scratch.file("own/file", ""),
            scratch.path("own/none"), folder.path, "/dev/null",
        ] { #expect(PrivateSocket.connect(path) == nil, "\(path)") }
        for (user, isOwn) in [(geteuid(), true), (0, true), (geteuid() + 1, false)] as [(UInt32, Bool)] {
            #expect(PrivateSocket.Peer(process: 1, user: user).isOwnOrRoot == isOwn, "\(user)")
        }
        guard ScratchFolder.isRoot else { return }
        try ScratchFolder.give(scratch.path("own/socket"))
        #expect(PrivateSocket.connect(scratch.path("own/socket")) == nil)
    }

    @Test func `Private socket path: 107 bytes at most, never empty`() throws {
        let room = PrivateSocket.maximumPathLength - folder.path.utf8.count - 1
        let name = String(repeating: "a", count: room)
        close(try PrivateSocket.listen(name, in: folder))
        for name in [name + "a", "", "..", "a/b"] {
            #expect(try code { _ = try PrivateSocket.listen(name, in: folder) } == .denied, "\(name)")
        }
    }

    // MARK: Logs

    @Test func `Private log, new: mode 0600, has what is appended, also what others append`() throws {
        let log = try PrivateLog(scratch.path("log"), replacing: head)
        #expect(!log.isStarted && log.path == scratch.path("log"))
        try log.append(Array("1\n".utf8))
        #expect(try log.isStarted && scratch.mode("log") == 0o600)
        let other = unsafe open(log.path, O_WRONLY | O_APPEND | O_CLOEXEC)
        defer { close(other) }
        #expect(unsafe write(other, "2\n", 2) == 2)
        try log.append(Array("3\n".utf8))
        #expect(try scratch.text("log") == "1\n2\n3\n")
    }

    @Test func `Private log, existing: emptied and closed to others if it is a log or empty, otherwise left`() throws {
        let rows: [(String, mode_t, Bool)] = [
            ("", 0o644, true), ("{\"log\":1}\nold\n", 0o644, true), ("", 0o700, true), ("x", 0o644, false),
            ("{\"lo", 0o644, false), ("{\"lot\"", 0o644, false),
        ]
        for (text, mode, isTaken) in rows {
            let path = try scratch.file("log", text, mode: mode)
            let found = try code { try PrivateLog(path, replacing: head).append(Array("new".utf8)) }
            #expect(found == (isTaken ? nil : .occupied), "\(text)")
            #expect(try scratch.text("log") == (isTaken ? "new" : text))
            #expect(try scratch.mode("log") == (isTaken ? mode & 0o700 : mode), "\(text)")
        }
        #expect(try code { _ = try PrivateLog(scratch.path("none/log"), replacing: head) } == .missing)
        guard ScratchFolder.isRoot else { return }
        let foreign = try scratch.file("foreign", "")
        try ScratchFolder.give(foreign)
        #expect(try code { _ = try PrivateLog(foreign, replacing: head) } == .unsafe)
    }

    @Test(.ownThreads) func `Private log to a device or pipe: a pipe without a reader is refused and ends no process`()
        async throws
    {
        #expect(try PrivateLog("/dev/null", replacing: head).isStarted)
        #expect(try code { try PrivateLog("/dev/full", replacing: head).append(head) } == .failed)
        #expect(try code { _ = try PrivateLog(scratch.folder, replacing: head) } == .notAFile)
        let path = try scratch.pipe("pipe")
        #expect(try code { _ = try PrivateLog(path, replacing: head) } == .failed)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            let log = try PrivateLog(path, replacing: [])
            close(reader)
            #expect(throws: StorageError(.failed, "")) { try log.append([1]) }
        }
    }

    @Test(.ownThreads) func `Private log on a full disk: a new one is removed, another file is left`() async throws {
        _ = try scratch.file("old", "")
        await #expect(processExitsWith: .success) { [folder = scratch.folder as String] in
            let logs = try ["new", "old"].map { try PrivateLog(folder + "/" + $0, replacing: []) }
            ScratchFolder.limitFiles(to: 0)
            for log in logs { #expect(throws: StorageError(.failed, "")) { try log.append([1]) } }
        }
        #expect(try scratch.names == ["old", "own"])
    }
}
