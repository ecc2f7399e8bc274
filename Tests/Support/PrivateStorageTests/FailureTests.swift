// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import PrivateStorage

/// What files and the process have after something failed. A test that changes its process has one of its own.
@Suite(.timeLimit(.minutes(5))) struct `What a failure leaves` {
    private let place: Place

    init() throws { place = try Place() }

    /// Sets how many bytes a file that this process writes may have.
    private static func limit(_ count: rlim_t) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: count, rlim_max: count)
        // RLIMIT_FSIZE
        #expect(unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0)
    }

    // MARK: Files

    @Test(.ownThreads) func `A file with two names that can't grow has the bytes of before alone`() async throws {
        let path = try place.file("one", "abcd")
        try FileManager.default.linkItem(atPath: path, toPath: place.path("two"))
        await #expect(processExitsWith: .success) { [path = path as String] in
            Self.limit(6)
            #expect(throws: StorageError(.failed, "")) {
                try OutputFile.write(Array("0123456789".utf8), to: path, readers: .everyone)
            }
        }
        #expect(try place.text("one") == "abcd" && place.text("two") == "abcd")
        #expect(try place.names == ["one", "two"])
    }

    @Test(.ownThreads) func `A file with two names that can't be overwritten has its bytes of before`() async throws {
        let path = try place.file("one", "0123456789")
        try FileManager.default.linkItem(atPath: path, toPath: place.path("two"))
        await #expect(processExitsWith: .success) { [path = path as String] in
            Self.limit(6)
            #expect(throws: StorageError(.failed, "")) {
                try OutputFile.write(Array("abcdefgh".utf8), to: path, readers: .everyone)
            }
        }
        #expect(try place.text("one") == "0123456789" && place.text("two") == "0123456789")
    }

    @Test(.ownThreads) func `A file that can't be replaced is not touched, and nothing else is left`() async throws {
        let path = try place.file("file", "abcd")
        let past = Date(timeIntervalSince1970: 1000)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
        await #expect(processExitsWith: .success) { [path = path as String] in
            Self.limit(2)
            #expect(throws: StorageError(.failed, "")) {
                try OutputFile.write(Array("012".utf8), to: path, readers: .everyone)
            }
        }
        #expect(try place.text("file") == "abcd" && place.names == ["file"])
        #expect(try place.status("file").st_mtim.tv_sec == 1000)
    }

    @Test(.ownThreads) func `A file that was made behind a link for nothing is not left empty`() async throws {
        let link = try place.link("link", to: "target")
        await #expect(processExitsWith: .success) { [link = link as String] in
            Self.limit(0)
            #expect(throws: StorageError(.failed, "")) { try OutputFile.write([1], to: link, readers: .everyone) }
        }
        #expect(try place.names == ["link"])
    }

    @Test(.ownThreads) func `A new file that can't be written is not left, not even empty`() async throws {
        await #expect(processExitsWith: .success) { [path = place.path("new") as String] in
            Self.limit(0)
            #expect(throws: StorageError(.failed, "")) { try OutputFile.write([1], to: path, readers: .everyone) }
        }
        #expect(try place.names.isEmpty)
    }

    @Test func `Bytes are written before the disk is waited for`() throws {
        let path = try place.pipe("pipe")
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writer = unsafe open(path, O_WRONLY | O_CLOEXEC)
        defer { for end in [reader, writer] { close(end) } }
        // A pipe takes bytes, but has no disk.
        #expect(throws: StorageError(.failed, "")) { try OpenFile.save(writer, [1, 2], name: "A pipe") }
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(unsafe read(reader, &bytes, 4) == 2 && bytes == [1, 2, 0, 0])
    }

    @Test func `A file that takes no bytes is an error, and one that takes some is written further`() {
        var calls = 0
        let number = OpenFile.inParts(3) { _ in
            calls += 1
            // Ends it in any case.
            return calls < 100 ? 0 : 3
        }
        #expect(number == EIO && calls == 1)
        var starts: [Int] = []
        let end = OpenFile.inParts(5) { start in
            starts.append(start)
            return 2
        }
        #expect(end == 0 && starts == [0, 2, 4])
        var tries = 0
        let interrupted = OpenFile.inParts(3) { _ in
            tries += 1
            errno = EINTR
            return tries < 3 ? -1 : 3
        }
        #expect(interrupted == 0 && tries == 3)
    }

    @Test(.ownThreads) func `A file that took the place of a new log stays when nothing can be written to the log`()
        async throws
    {
        await #expect(processExitsWith: .success) { [path = place.path("log") as String] in
            let log = try PrivateLog(path, replacing: [])
            try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
            #expect(FileManager.default.createFile(atPath: path, contents: Data("other".utf8)))
            Self.limit(0)
            #expect(throws: StorageError(.failed, "")) { try log.append([1]) }
        }
        #expect(try place.text("log") == "other")
    }

    @Test(.ownThreads) func `A file in a folder where none can be made is overwritten`() async throws {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            #expect(FileManager.default.createFile(atPath: folder + "/file", contents: Data("old text".utf8)))
            #expect(unsafe chmod(folder, 0o500) == 0)
            try OutputFile.write(Array("new".utf8), to: folder + "/file", readers: .everyone)
            #expect(FileManager.default.contents(atPath: folder + "/file") == Data("new".utf8))
            #expect(unsafe chmod(folder, 0o700) == 0)
        }
    }

    @Test(.ownThreads) func `In a folder that can't be listed a file is made through a link, and then replaced`()
        async throws
    {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            func number() -> ino_t {
                var status = stat()
                #expect(unsafe lstat(folder + "/in/file", &status) == 0)
                return status.st_ino
            }
            Place.becomeOrdinary(with: folder)
            #expect(unsafe mkdir(folder + "/in", 0o300) == 0 && symlink("in", folder + "/link") == 0)
            try OutputFile.write([1], to: folder + "/link/file", readers: .everyone)
            let first = number()
            try OutputFile.write([2], to: folder + "/in/file", readers: .everyone)
            #expect(FileManager.default.contents(atPath: folder + "/in/file") == Data([2]) && number() != first)
            #expect(unsafe chmod(folder + "/in", 0o700) == 0)
            #expect((try? FileManager.default.contentsOfDirectory(atPath: folder + "/in")) == ["file"])
        }
    }

    @Test(.ownThreads) func `A folder that can't be made is refused, and not said to be missing`() async throws {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            #expect(unsafe chmod(folder, 0o500) == 0)
            #expect(throws: StorageError(.denied, "")) { try PrivateFolder(folder + "/new") }
            #expect(unsafe chmod(folder, 0o700) == 0)
        }
        #expect(try place.names.isEmpty)
    }

    @Test(.ownThreads) func `A file that may not be written is not replaced, although another one could be made`()
        async throws
    {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            let path = folder + "/file"
            #expect(FileManager.default.createFile(atPath: path, contents: Data("old".utf8)))
            #expect(unsafe chmod(path, 0o444) == 0)
            #expect(throws: StorageError(.denied, "")) {
                try OutputFile.write(Array("new".utf8), to: path, readers: .everyone)
            }
            #expect(FileManager.default.contents(atPath: path) == Data("old".utf8))
        }
        #expect(try place.names == ["file"])
    }

    @Test(.ownThreads) func `Folders that are made have their mode, also where standard input is closed`()
        async throws
    {
        await #expect(processExitsWith: .success) { [path = place.path("a/b/c/d") as String] in
            // The next folders that are opened have the number zero.
            close(0)
            _ = try PrivateFolder(path, guests: .mayRead, newMode: 0o755)
        }
        for name in ["a", "a/b", "a/b/c", "a/b/c/d"] { #expect(try place.mode(name) == 0o755, "\(name)") }
    }

    @Test(.ownThreads) func `A file is read also where standard input is closed`() async throws {
        let path = try place.file("file", "text")
        await #expect(processExitsWith: .success) { [path = path as String] in
            // The file that is found next has the number zero.
            close(0)
            #expect((try? InputFile(path, limit: 4).readToEnd()) == Array("text".utf8))
        }
    }

    @Test(.ownThreads) func `A file that its owner may only read can be claimed`() async throws {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            let store = try DirectoryStore(folder, creates: false)
            try store.write("file", [1])
            #expect(unsafe chmod(folder + "/file", 0o400) == 0)
            let claim = try store.claim("file")
            #expect(throws: StorageError(.inUse, "")) { try store.claim("file") }
            withExtendedLifetime(claim) {}
        }
    }

    @Test(arguments: [true, false]) func `What others append to a log is not overwritten by it`(isNew: Bool) throws {
        let path = try isNew ? place.path("log") : place.file("log", "")
        let log = try PrivateLog(path, replacing: [])
        try log.append(Array("1\n".utf8))
        let other = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        defer { close(other) }
        #expect(unsafe write(other, "2\n", 2) == 2)
        try log.append(Array("3\n".utf8))
        #expect(try place.text("log") == "1\n2\n3\n")
    }

    @Test func `A folder is removed with files of its own alone`() throws {
        let folder = try PrivateFolder(place.path("own"))
        _ = try folder.folder("in")
        try folder.write("beside", [0x61])
        let other = try place.file("other", "b")
        #expect(folder.removeFolder("in", with: ["../beside", "../../other", other]))
        #expect(try place.text("own/beside") == "a" && place.text("other") == "b")
    }

    // MARK: The process

    @Test(.ownThreads) func `A pipe without a reader leaves the signals of the thread as they were`() async throws {
        let path = try place.pipe("pipe")
        await #expect(processExitsWith: .success) { [path = path as String] in
            func isBlocked() -> Bool {
                var mask = sigset_t()
                unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
                return unsafe sigismember(&mask, SIGPIPE) == 1
            }
            func isPending() -> Bool {
                var pending = sigset_t()
                unsafe sigpending(&pending)
                return unsafe sigismember(&pending, SIGPIPE) == 1
            }
            let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            let log = try PrivateLog(path, replacing: [])
            close(reader)
            #expect(throws: StorageError(.failed, "")) { try log.append([1]) }
            #expect(!isBlocked() && !isPending())
            // A signal that waited before is another one's, and goes on waiting.
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, SIGPIPE)
            unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
            pthread_kill(pthread_self(), SIGPIPE)
            #expect(throws: StorageError(.failed, "")) { try log.append([1]) }
            #expect(isBlocked() && isPending())
        }
    }

    @Test(.ownThreads) func `Standard input stays open after it was read`() async {
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [-1, -1]
            #expect(unsafe pipe(&ends) == 0)
            #expect(dup2(ends[0], 0) == 0)
            #expect(unsafe write(ends[1], "text", 4) == 4)
            close(ends[1])
            #expect((try? InputFile.standardInput(limit: 4).readToEnd()) == Array("text".utf8))
            #expect(fcntl(0, F_GETFD) >= 0)
        }
    }

    @Test(.ownThreads) func `A socket at which nobody or another one listens leaves no descriptor`() async throws {
        await #expect(processExitsWith: .success) { [path = place.path("own") as String] in
            let folder = try PrivateFolder(path)
            close(try PrivateSocket.listen("left", in: folder))
            let listener = try PrivateSocket.listen("used", in: folder, backlog: 64)
            let before = try Place.openCount
            for _ in 0..<32 { #expect(PrivateSocket.connect(path + "/left") == nil) }
            #expect(try Place.openCount < before + 16)
            for _ in 0..<32 {
                #expect(throws: StorageError(.inUse, "")) { try PrivateSocket.listen("used", in: folder) }
            }
            #expect(try Place.openCount < before + 16)
            close(listener)
        }
    }
}
