// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import TestThreads
import Testing

/// Files that are written where a person says: replaced in one step, never half written.
@Suite(.timeLimit(.minutes(5))) struct OutputFileTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func write(_ text: String, to path: String, readers: OutputFile.Readers = .everyone) throws {
        try OutputFile.write(Array(text.utf8), to: path, readers: readers)
    }

    @Test func `Output file, new: mode 0644 less the umask, and 0600 for a file with keys`() throws {
        try write("1", to: scratch.path("open"))
        try write("2", to: scratch.path("keys"), readers: .ownerAlone)
        #expect(try scratch.mode("open") == 0o644 & ~ScratchFolder.mask && scratch.mode("keys") == 0o600)
        #expect(try scratch.text("open") + scratch.text("keys") == "12" && scratch.names == ["keys", "open"])
    }

    @Test func `Output file, existing: replaced by a new file of its mode; a program with the old file open reads on`()
        throws
    {
        for mode: mode_t in [0o600, 0o640, 0o604, 0o666, 0o755] {
            let path = try scratch.file("file", "old", mode: mode)
            let (before, file) = (try scratch.status("file").st_ino, unsafe open(path, O_RDONLY | O_CLOEXEC))
            defer { close(file) }
            try write("new", to: path)
            #expect(try scratch.text("file") == "new" && scratch.mode("file") == mode)
            #expect(try scratch.status("file").st_ino != before && scratch.names == ["file"])
            var bytes = [UInt8](repeating: 0, count: 4)
            #expect(unsafe read(file, &bytes, 4) == 3 && bytes == Array("old\0".utf8))
        }
        guard ScratchFolder.isRoot else { return }
        let foreign = try scratch.file("foreign", "old", mode: 0o666)
        try ScratchFolder.give(foreign)
        #expect(throws: StorageError(.unsafe, "")) { try write("keys", to: foreign, readers: .ownerAlone) }
        #expect(try scratch.text("foreign") == "old")
        let pipe = try scratch.pipe("pipe")
        let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try ScratchFolder.give(pipe)
        #expect(throws: StorageError(.unsafe, "")) { try write("keys", to: pipe, readers: .ownerAlone) }
        #expect(throws: StorageError(.unsafe, "")) { try PrivateLog(pipe, replacing: []) }
    }

    @Test func `Output file that is a link: its target is written; a link with a temporary name is not followed`()
        throws
    {
        _ = try scratch.file("target", "old", mode: 0o600)
        _ = try scratch.link("link", to: "target")
        try write("new", to: scratch.link("longer", to: scratch.path("link")))
        #expect(try scratch.text("target") == "new" && scratch.mode("target") == 0o600)
        try write("made", to: scratch.link("other", to: "made"), readers: .ownerAlone)
        #expect(try scratch.text("made") == "made" && scratch.mode("made") == 0o600)
        for name in ["longer", "link", "other"] { #expect(try scratch.status(name).st_mode & S_IFMT == S_IFLNK) }
        #expect(throws: StorageError.self) { try write("x", to: scratch.link("nowhere", to: "none/target")) }
        _ = try scratch.file("victim", "kept")
        for name in ["made.tmp", "made.\(getpid()).tmp", ".made.tmp"] { _ = try scratch.link(name, to: "victim") }
        try write("new", to: scratch.path("made"))
        #expect(try scratch.text("made") == "new" && scratch.text("victim") == "kept")
    }

    @Test(.enabled(if: ScratchFolder.isRoot, "needs root, to give files to another user"))
    func
        `Output through another user's link, or to another user's file in a sticky folder: refused, and nothing changes`()
        throws
    {
        let head = Array("{".utf8)
        let victim = try scratch.file("victim", "{kept")
        for (folder, mode) in [("plain", 0o755), ("sticky", 0o1777)] as [(String, mode_t)] {
            _ = try scratch.makeFolder(folder, mode)
            _ = try scratch.makeFolder(folder + "/in", 0o755)
            _ = try scratch.pipe(folder + "/pipe")
            _ = try scratch.file(folder + "/file", "{kept")
            _ = try scratch.link(folder + "/link", to: victim)
            _ = try scratch.link(folder + "/new", to: scratch.path("made"))
            let over = try scratch.link("over-" + folder, to: folder + "/link")
            for name in ["/pipe", "/file", "/link", "/new", "/in"] {
                try ScratchFolder.give(scratch.path(folder + name))
            }
            let names = ["/link", "/new"] + (folder == "sticky" ? ["/file", "/pipe"] : [])
            for path in names.map({ scratch.path(folder + $0) }) + [over] {
                #expect(try code { try write("x", to: path) } == .unsafe, "\(path)")
                #expect(try code { _ = try PrivateLog(path, replacing: head) } == .unsafe, "\(path)")
            }
            #expect(try scratch.text(folder + "/file") == "{kept")
            // A folder that another user has made can be chosen.
            try write("new", to: scratch.path(folder + "/in/file"))
            #expect(try scratch.text(folder + "/in/file") == "new")
        }
        #expect(try scratch.text("victim") == "{kept" && !scratch.names.contains("made"))
        try write("new", to: scratch.link("sticky/own", to: victim))
        #expect(try scratch.text("victim") == "new")
    }

    @Test(.ownThreads)
    func `Output to a descriptor's path: a pipe is written, a file replaced, one that is gone refused`()
        async throws
    {
        let path = try scratch.file("file", "old")
        let file = unsafe open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        try write("new", to: "/proc/self/fd/\(file)")
        #expect(try scratch.text("file") == "new")
        // The open file is the one that was replaced.
        #expect(throws: StorageError.self) { try write("x", to: "/dev/fd/\(file)") }
        #expect(try scratch.names == ["file"])
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [-1, -1]
            #expect(unsafe pipe(&ends) == 0 && dup2(ends[1], 1) == 1)
            try OutputFile.write(Array("text".utf8), to: "/dev/stdout", readers: .everyone)
            try PrivateLog("/dev/stdout", replacing: []).append(Array("more".utf8))
            var bytes = [UInt8](repeating: 0, count: 9)
            #expect(unsafe read(ends[0], &bytes, 9) == 8 && bytes.starts(with: "textmore".utf8))
        }
    }

    @Test func `Output file, two paths: the same file if links lead to one file, and never if either is missing`()
        throws
    {
        let (one, other) = (try scratch.file("one", "1"), try scratch.file("other", "1"))
        let (link, missing) = (try scratch.link("link", to: "one"), scratch.path("missing"))
        for (first, second, isOne) in [
            (one, one, true), (link, one, true), (one, link, true), (one, other, false), (one, missing, false),
            (missing, one, false), (missing, missing, false),
        ] { #expect(OutputFile.isOneFile(first, second) == isOne, "\(first) \(second)") }
    }

    @Test func `Output to a pipe or device: written if it has a reader; folders, sockets and bad names are refused`()
        throws
    {
        let path = try scratch.pipe("pipe")
        #expect(throws: StorageError(.failed, "")) { try write("x", to: path) }
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try write("through", to: path)
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(unsafe read(reader, &buffer, buffer.count) == 7 && buffer.starts(with: "through".utf8))
        #expect(try scratch.status("pipe").st_mode & S_IFMT == S_IFIFO)
        try write("x", to: "/dev/null")
        let socket = scratch.path("own/socket")
        close(try PrivateSocket.listen("socket", in: PrivateFolder(scratch.path("own"))))
        let refused: [(String, StorageError.Code)] = [
            ("/dev/full", .failed), (scratch.folder, .notAFile), ("/", .notAFile), (socket, .notAFile), ("", .notAFile),
            (scratch.path("none/"), .notAFile), (scratch.path("none/file"), .missing),
        ]
        for (path, wanted) in refused { #expect(try code { try write("x", to: path) } == wanted, "\(path)") }
        #expect(try scratch.names == ["own", "pipe"])
    }

    // MARK: Failures, in processes of their own

    @Test(.ownThreads) func `Output to a full disk: an existing file keeps its text, a new one is not left behind`()
        async throws
    {
        _ = try scratch.file("file", "abcd")
        _ = try scratch.link("link", to: "target")
        await #expect(processExitsWith: .success) { [folder = scratch.folder as String] in
            ScratchFolder.limitFiles(to: 2)
            for name in ["file", "link", "new"] {
                #expect(throws: StorageError(.failed, "")) {
                    try OutputFile.write(Array("012".utf8), to: folder + "/" + name, readers: .everyone)
                }
            }
        }
        #expect(try scratch.text("file") == "abcd" && scratch.names == ["file", "link"])
    }

    @Test(.ownThreads)
    func `Output file without the right to write: denied, and the old file stays`() async throws {
        let (readable, writable) = (
            try scratch.file("readable", "old", mode: 0o444), try scratch.file("writable", "old")
        )
        if ScratchFolder.isRoot { for path in [readable, writable] { try ScratchFolder.give(path) } }
        await #expect(processExitsWith: .success) { [folder = scratch.folder as String] in
            ScratchFolder.becomeOrdinary(with: folder)
            func write(_ name: String) throws {
                try OutputFile.write(Array("new".utf8), to: folder + "/" + name, readers: .everyone)
            }
            #expect(throws: StorageError(.denied, "")) { try write("readable") }
            #expect(unsafe chmod(folder, 0o500) == 0)
            for name in ["writable", "other"] { #expect(throws: StorageError(.denied, "")) { try write(name) } }
            #expect(unsafe chmod(folder, 0o700) == 0)
        }
        #expect(try scratch.text("readable") == "old" && scratch.text("writable") == "old")
        #expect(try scratch.names == ["readable", "writable"])
    }
}
