// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import TestThreads
import Testing

/// Files that are written where a person says: replaced in one step, never half written.
@Suite(.timeLimit(.minutes(5))) struct OutputFileTests {
    private let place: Place

    init() throws { place = try Place() }

    private func write(_ text: String, to path: String, readers: OutputFile.Readers = .everyone) throws {
        try OutputFile.write(Array(text.utf8), to: path, readers: readers)
    }

    @Test func `Output file, new: for everyone whom the mask leaves, one with keys for its owner alone`() throws {
        try write("1", to: place.path("open"))
        try write("2", to: place.path("keys"), readers: .ownerAlone)
        #expect(try place.mode("open") == 0o644 & ~Place.mask && place.mode("keys") == 0o600)
        #expect(try place.text("open") + place.text("keys") == "12" && place.names == ["keys", "open"])
    }

    @Test func `Output file, existing: replaced by a new one with its mode, those who have it open read on`() throws {
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
        guard Place.isRoot else { return }
        let foreign = try place.file("foreign", "old", mode: 0o666)
        try Place.give(foreign)
        #expect(throws: StorageError(.unsafe, "")) { try write("keys", to: foreign, readers: .ownerAlone) }
        #expect(try place.text("foreign") == "old")
    }

    @Test func `Output file links: stay links, their target is written; one of a temporary name is not followed`()
        throws
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

    @Test func `Output file, two paths: one file where links lead there, not if either is missing`() throws {
        let (one, other) = (try place.file("one", "1"), try place.file("other", "1"))
        let (link, missing) = (try place.link("link", to: "one"), place.path("missing"))
        for (first, second, isOne) in [
            (one, one, true), (link, one, true), (one, link, true), (one, other, false), (one, missing, false),
            (missing, one, false), (missing, missing, false),
        ] { #expect(OutputFile.isOneFile(first, second) == isOne, "\(first) \(second)") }
    }

    @Test func `Output to a pipe or device: written if it has a reader; folders, sockets and bad names are refused`()
        throws
    {
        let path = try place.pipe("pipe")
        #expect(throws: StorageError(.failed, "")) { try write("x", to: path) }
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try write("through", to: path)
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(unsafe read(reader, &buffer, buffer.count) == 7 && buffer.starts(with: "through".utf8))
        #expect(try place.status("pipe").st_mode & S_IFMT == S_IFIFO)
        try write("x", to: "/dev/null")
        let socket = place.path("own/socket")
        close(try PrivateSocket.listen("socket", in: PrivateFolder(place.path("own"))))
        let refused: [(String, StorageError.Code)] = [
            ("/dev/full", .failed), (place.folder, .notAFile), ("/", .notAFile), (socket, .notAFile), ("", .notAFile),
            (place.path("none/"), .notAFile), (place.path("none/file"), .missing),
        ]
        for (path, wanted) in refused { #expect(try code { try write("x", to: path) } == wanted, "\(path)") }
        #expect(try place.names == ["own", "pipe"])
    }

    // MARK: Failures, in processes of their own

    @Test(.ownThreads) func `Output to a full disk: an existing file keeps its text, a new one is not left behind`()
        async throws
    {
        _ = try place.file("file", "abcd")
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
    }

    @Test(.ownThreads)
    func `Output without rights: a file that may not be written stays, also in a closed folder`()
        async throws
    {
        let (readable, writable) = (try place.file("readable", "old", mode: 0o444), try place.file("writable", "old"))
        if Place.isRoot { for path in [readable, writable] { try Place.give(path) } }
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            func write(_ name: String) throws {
                try OutputFile.write(Array("new".utf8), to: folder + "/" + name, readers: .everyone)
            }
            #expect(throws: StorageError(.denied, "")) { try write("readable") }
            #expect(unsafe chmod(folder, 0o500) == 0)
            for name in ["writable", "other"] { #expect(throws: StorageError(.denied, "")) { try write(name) } }
            #expect(unsafe chmod(folder, 0o700) == 0)
        }
        #expect(try place.text("readable") == "old" && place.text("writable") == "old")
        #expect(try place.names == ["readable", "writable"])
    }
}
