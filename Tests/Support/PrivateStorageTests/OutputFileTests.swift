// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivateStorage
import TestThreads
import Testing

/// Files that are written where a person says: replaced in one step, never half written.
@Suite(.timeLimit(.minutes(5))) struct OutputFileTests {
    private let place: Place

    init() throws { place = try Place() }

    private func write(_ text: String, to path: String, readers: OutputFile.Readers = .everyone) throws {
        try OutputFile.write(Array(text.utf8), to: path, readers: readers)
    }

    @Test func `a new file: for everyone whom the mask leaves, one with keys for its owner only`() throws {
        try write("1", to: place.path("open"))
        try write("2", to: place.path("keys"), readers: .ownerAlone)
        #expect(try place.mode("open") == 0o644 & ~Place.mask)
        #expect(try place.mode("keys") == 0o600)
        #expect(try place.text("open") + place.text("keys") == "12" && place.names == ["keys", "open"])
    }

    @Test func `an existing file: replaced by a new one with its mode, those who have it open read on`() throws {
        for mode: mode_t in [0o600, 0o640, 0o604, 0o666, 0o755] {
            let path = try place.file("file", "old", mode: mode)
            let (before, file) = (try place.status("file").st_ino, unsafe open(path, O_RDONLY | O_CLOEXEC))
            defer { close(file) }
            try write("new", to: path)
            #expect(try place.text("file") == "new" && place.mode("file") == mode)
            #expect(try place.status("file").st_ino != before && place.names == ["file"])
            var bytes = [UInt8](repeating: 0, count: 4)
            #expect(unsafe read(file, &bytes, 4) == 3 && bytes == Array("old\0".utf8))
        }
    }

    @Test func `concurrent readers see the old file or the new one`() async throws {
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

    @Test func `links: stay links, their target is replaced or made; links to temporary names are not followed`() throws
    {
        _ = try place.file("target", "old", mode: 0o600)
        _ = try place.link("link", to: "target")
        try write("new", to: place.link("longer", to: place.path("link")))
        #expect(try place.text("target") == "new" && place.mode("target") == 0o600)
        try write("made", to: place.link("other", to: "made"), readers: .ownerAlone)
        #expect(try place.text("made") == "made" && place.mode("made") == 0o600)
        for name in ["longer", "link", "other"] { #expect(try place.status(name).st_mode & S_IFMT == S_IFLNK) }
        #expect(throws: StorageError.self) { try write("x", to: place.link("nowhere", to: "none/target")) }
        _ = try place.file("victim", "kept")
        for name in ["made.tmp", "made.\(getpid()).tmp", ".made.tmp"] { _ = try place.link(name, to: "victim") }
        try write("new", to: place.path("made"))
        #expect(try place.text("made") == "new" && place.text("victim") == "kept")
    }

    @Test func `two paths: one file if links lead there, not if either is missing`() throws {
        let (one, other) = (try place.file("one", "1"), try place.file("other", "1"))
        let (link, missing) = (try place.link("link", to: "one"), place.path("missing"))
        for (first, second, isOne) in [
            (one, one, true), (link, one, true), (one, link, true), (one, other, false), (one, missing, false),
            (missing, one, false), (missing, missing, false),
        ] { #expect(OutputFile.isOneFile(first, second) == isOne, "\(first) \(second)") }
    }

    @Test(.enabled(if: Place.isRoot)) func `owner and group are kept, keys are not written to another user's file`()
        throws
    {
        for (owner, group) in [(12345, 54321), (12345, getegid()), (geteuid(), 54321)] as [(uid_t, gid_t)] {
            let path = try place.file("file", "old", mode: 0o640)
            try #require(unsafe chown(path, owner, group) == 0)
            let before = try place.status("file").st_ino
            try write("new", to: path)
            let status = try place.status("file")
            #expect(status.st_ino != before && status.st_uid == owner && status.st_gid == group)
            #expect(try place.text("file") == "new" && place.mode("file") == 0o640)
        }
        let foreign = try place.file("foreign", "old", mode: 0o666)
        try Place.give(foreign)
        #expect(throws: StorageError(.unsafe, "")) { try write("keys", to: foreign, readers: .ownerAlone) }
        #expect(try place.text("foreign") == "old")
    }

    @Test(.enabled(if: Place.isRoot))
    func `another user's link: followed in one's own folder, not where all may write`()
        throws
    {
        let mine = try place.file("mine", "old")
        let (link, dangling) = (try place.link("link", to: "mine"), try place.link("dangling", to: "nothing"))
        for path in [link, dangling] { try Place.give(path) }
        try write("new", to: link)
        #expect(try place.text("mine") == "new")
        try #require(unsafe chmod(place.folder, 0o1777) == 0)
        for path in [link, dangling] { #expect(throws: StorageError(.unsafe, "")) { try write("newer", to: path) } }
        #expect(try place.text("mine") == "new" && !place.names.contains("nothing"))
        // One's own link, and one of the folder's owner, are followed there.
        try write("newer", to: place.link("own", to: "mine"))
        try #require(unsafe chown(place.folder, Place.stranger, Place.stranger) == 0)
        try write("newest", to: link)
        #expect(FileManager.default.contents(atPath: mine) == Data("newest".utf8))
    }

    // MARK: What is no file

    @Test func `a pipe: written to if it has a reader, refused at once if not, an error when the reader leaves`() throws
    {
        let path = try place.pipe("pipe")
        #expect(throws: StorageError(.failed, "")) { try write("x", to: path) }
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try write("through", to: path)
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(unsafe read(reader, &buffer, buffer.count) == 7 && buffer.starts(with: "through".utf8))
        #expect(try place.status("pipe").st_mode & S_IFMT == S_IFIFO)
        let thread = Thread {
            var poller = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, -1)
            close(reader)
        }
        thread.start()
        #expect(throws: StorageError(.failed, "")) { try write(String(repeating: "a", count: 1 << 20), to: path) }
    }

    @Test func `devices are written to, folders, sockets and invalid names are refused`() throws {
        try write("x", to: "/dev/null")
        let socket = place.path("own/socket")
        close(try PrivateSocket.listen("socket", in: PrivateFolder(place.path("own"))))
        for (path, wanted) in [
            ("/dev/full", .failed), (try place.link("full", to: "/dev/full"), .failed), (place.folder, .notAFile),
            ("/", .notAFile), (socket, .notAFile), ("", .notAFile), (place.path("none/"), .notAFile),
            (place.path("none/file"), .missing),
        ] as [(String, StorageError.Code)] {
            #expect(try code { try write("x", to: path) } == wanted, "\(path)")
        }
        #expect(try place.names == ["full", "own"])
    }

    @Test func `no descriptor stays open`() throws {
        let pipe = try place.pipe("pipe")
        let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        for path in [try place.file("file", "old"), pipe, place.path("new"), try place.link("link", to: "made")] {
            try write("text", to: path)
        }
        for path in [place.folder, place.path("none/file")] { try? write("text", to: path) }
        #expect(try Place.open(in: place.folder) == [pipe])
    }

    // MARK: Failures, in processes of their own

    @Test(.ownThreads) func `a full disk: an existing file keeps its text, a new one is not left behind`() async throws
    {
        let path = try place.file("file", "abcd")
        let past = Date(timeIntervalSince1970: 1000)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
        _ = try place.link("link", to: "target")
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.limitFiles(to: 2)
            for name in ["file", "link", "new"] {
                #expect(throws: StorageError(.failed, "")) {
                    try OutputFile.write(Array("012".utf8), to: folder + "/" + name, readers: .everyone)
                }
            }
        }
        #expect(try place.text("file") == "abcd" && place.names == ["file", "link"])
        #expect(try place.status("file").st_mtim.tv_sec == 1000)
    }

    @Test(.ownThreads)
    func `a user without rights: files that may not be written stay, others are overwritten in place`()
        async throws
    {
        if Place.isRoot { _ = try place.file("roots", "old", mode: 0o666) }
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            func write(_ name: String) throws {
                try OutputFile.write(Array("new".utf8), to: folder + "/" + name, readers: .everyone)
            }
            func text(_ name: String) -> String? {
                FileManager.default.contents(atPath: folder + "/" + name).map { String(decoding: $0, as: UTF8.self) }
            }
            if FileManager.default.fileExists(atPath: folder + "/roots") {
                try write("roots")
                #expect(text("roots") == "new")
            }
            for (name, mode) in [("readable", 0o444), ("writable", 0o644)] as [(String, mode_t)] {
                #expect(FileManager.default.createFile(atPath: folder + "/" + name, contents: Data("old text".utf8)))
                #expect(unsafe chmod(folder + "/" + name, mode) == 0)
            }
            #expect(throws: StorageError(.denied, "")) { try write("readable") }
            #expect(text("readable") == "old text")
            #expect(unsafe mkfifo(folder + "/pipe", 0o400) == 0)
            #expect(throws: StorageError(.denied, "")) { try write("pipe") }
            // In a folder where no file can be made, one that can be written is overwritten.
            #expect(unsafe chmod(folder, 0o500) == 0)
            try write("writable")
            #expect(text("writable") == "new")
            #expect(throws: StorageError(.denied, "")) { try write("other") }
            #expect(unsafe chmod(folder, 0o700) == 0)
        }
    }
}
