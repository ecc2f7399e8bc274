// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import TestThreads
import Testing

/// Files that are read up to a limit, and those that must not be open to others.
@Suite(.timeLimit(.minutes(5))) struct InputFileTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func read(_ path: String, limit: Int, takesPipes: Bool = false) throws -> String {
        String(decoding: try InputFile(path, limit: limit, takesPipes: takesPipes).readToEnd(), as: UTF8.self)
    }

    @Test func `Input file: read up to the limit and through links, refused beyond before anything is read`() throws {
        let path = try scratch.file("file", "12345")
        #expect(try read(path, limit: 5) == "12345")
        #expect(try read(scratch.link("link", to: "file"), limit: 5) == "12345")
        try #require(unsafe truncate(scratch.file("huge", ""), 1 << 40) == 0)
        let refused: [(String, Int, StorageError.Code)] = [
            (path, 4, .tooLarge), (scratch.path("huge"), 16 << 20, .tooLarge), (scratch.path("none"), 5, .missing),
            (try scratch.link("loop", to: "loop"), 4, .unsafe), ("/proc/self/mem", 1, .failed),
        ]
        for (path, limit, wanted) in refused {
            #expect(try code { _ = try read(path, limit: limit) } == wanted, "\(path)")
        }
    }

    @Test func `Input from pipes, devices, folders and sockets: refused at once if a file is wanted`() throws {
        close(try PrivateSocket.listen("socket", in: PrivateFolder(scratch.path("own"))))
        for path in [try scratch.pipe("pipe"), "/dev/zero", scratch.folder, scratch.path("own/socket")] {
            #expect(throws: StorageError(.notAFile, ""), "\(path)") { try InputFile(path, limit: 1 << 20) }
            #expect(throws: StorageError(.unsafe, ""), "\(path)") { try TrustedFile.read(path, limit: 4) }
        }
    }

    @Test(.ownThreads) func `Input from a pipe or device: read up to the limit if they are taken`() async throws {
        #expect(try read("/dev/null", limit: 1, takesPipes: true) == "")
        #expect(throws: StorageError(.tooLarge, "")) { try read("/dev/zero", limit: 1 << 20, takesPipes: true) }
        let path = try scratch.pipe("pipe")
        // A pipe that is open for reading and writing can be opened for either.
        let both = unsafe open(path, O_RDWR | O_CLOEXEC)
        let input = try InputFile(path, limit: 7, takesPipes: true)
        let writer = Thread {
            _ = unsafe Glibc.write(both, "through", 7)
            close(both)
        }
        writer.start()
        #expect(try input.readToEnd() == Array("through".utf8))
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [-1, -1]
            #expect(unsafe pipe(&ends) == 0 && dup2(ends[0], 0) == 0 && write(ends[1], "text", 4) == 4)
            close(ends[1])
            #expect((try? InputFile.standardInput(limit: 4).readToEnd()) == Array("text".utf8))
            #expect(fcntl(0, F_GETFD) >= 0, "Standard input stays open.")
        }
    }

    // MARK: Files that decide

    @Test func `Trusted file: unsafe if others can write the file, or if it belongs to neither this user nor root`()
        throws
    {
        let modes: [(mode_t, Bool)] = [
            (0o600, true), (0o644, true), (0o755, true), (0o444, true), (0o620, false), (0o602, false), (0o664, false),
            (0o646, false),
        ]
        for (mode, isTrusted) in modes {
            let path = try scratch.file("list", "text", mode: mode)
            let found = try code { _ = try TrustedFile.read(path, limit: 4) }
            #expect(found == (isTrusted ? nil : .unsafe), "\(mode)")
        }
        #expect(try code { _ = try TrustedFile.read(scratch.path("none"), limit: 4) } == .missing)
        #expect(try code { _ = try TrustedFile.read(scratch.file("long", "12345"), limit: 4) } == .tooLarge)
        guard ScratchFolder.isRoot else { return }
        let foreign = try scratch.file("foreign", "text")
        try ScratchFolder.give(foreign)
        #expect(try code { _ = try TrustedFile.read(foreign, limit: 4) } == .unsafe)
    }

    @Test(.ownThreads) func `Trusted file: an ordinary user trusts own files and those of root`() async throws {
        let own = try scratch.file("own", "text")
        _ = try scratch.file("other", "text")
        if ScratchFolder.isRoot { try ScratchFolder.give(own) }
        await #expect(processExitsWith: .success) { [folder = scratch.folder as String] in
            ScratchFolder.becomeOrdinary(with: folder)
            for name in ["own", "other"] {
                #expect((try? TrustedFile.read(folder + "/" + name, limit: 4)) == Array("text".utf8), "\(name)")
            }
            #expect(unsafe chmod(folder + "/own", 0o200) == 0)
            #expect(throws: StorageError(.denied, "")) { try InputFile(folder + "/own", limit: 4) }
        }
    }

    @Test func `Trusted path: unsafe if others can write one of its folders, also a folder behind a link`() throws {
        let way = try scratch.makeFolder("way", 0o755)
        let file = try scratch.file("way/list", "text")
        let paths = [
            file, try scratch.link("link", to: file), try scratch.link("relative", to: "way/../way/./list"),
            try scratch.link("longer", to: "link"),
        ]
        for (mode, isTrusted) in [
            (0o755, true), (0o700, true), (0o1777, true), (0o777, false), (0o757, false), (0o702, false),
        ] as [(mode_t, Bool)] {
            try #require(unsafe chmod(way, mode) == 0)
            for path in paths {
                #expect(try code { _ = try TrustedFile.read(path, limit: 4) } == (isTrusted ? nil : .unsafe), "\(mode)")
            }
        }
        // What is missing in a folder of others is missing.
        #expect(try code { _ = try TrustedFile.read(way + "/none", limit: 4) } == .missing)
        #expect(try code { _ = try TrustedFile.read(file + "/", limit: 4) } == .unsafe)
        for path in ["", "a\0b", scratch.path("none/list"), try scratch.link("loop", to: "loop")] {
            #expect(throws: StorageError.self, "\(path)") { try TrustedFile.read(path, limit: 4) }
        }
        #expect(try ScratchFolder.open(in: scratch.folder).isEmpty, "Nothing of all that is open.")
    }

    @Test(.enabled(if: ScratchFolder.isRoot, "needs root, to give files to another user"))
    func `Trusted path with parts of another user: refused, whatever they lead to`() throws {
        let own = try scratch.file("own", "text")
        func isTrusted(_ path: String) throws -> Bool {
            let found = try code { _ = try TrustedFile.read(path, limit: 4) }
            #expect(found == nil || found == .unsafe)
            // The check of root's drivers and of what pcscd loads is the same.
            let rule = ResolvedPath.Rule.trusted(owner: nil, takesOwnGroups: true)
            #expect(try code { _ = try ResolvedPath(path, rule) } == found, "\(path)")
            return found == nil
        }
        for (folder, mode) in [("plain", 0o755), ("sticky", 0o1777)] as [(String, mode_t)] {
            _ = try scratch.makeFolder(folder, mode)
            _ = try scratch.makeFolder(folder + "/in", 0o755)
            let paths = [
                try scratch.file(folder + "/in/list", "text"), try scratch.file(folder + "/list", "text"),
                try scratch.link(folder + "/link", to: own), try scratch.link("to-" + folder, to: folder + "/link"),
            ]
            for path in paths { #expect(try isTrusted(path), "\(path)") }
            for part in ["/in", "/list", "/link"] { try ScratchFolder.give(scratch.path(folder + part)) }
            for path in paths { #expect(try !isTrusted(path), "\(path)") }
        }
        // A folder of another user, whose entries are root's.
        for mode in [0o755, 0o1777] as [mode_t] {
            let folder = try scratch.makeFolder("foreign-\(mode)", mode)
            let path = try scratch.file("foreign-\(mode)/list", "text")
            let link = try scratch.link("foreign-\(mode)/link", to: own)
            try ScratchFolder.give(folder)
            #expect(try !isTrusted(path) && !isTrusted(link) && !isTrusted(scratch.link("to-\(mode)", to: link)))
        }
        // A group that only has its user, and one that may have others.
        let shared = try scratch.makeFolder("shared", 0o775)
        let path = try scratch.file("shared/list", "text")
        #expect(try isTrusted(path) && code { _ = try PrivateFolder(shared + "/own") } == nil)
        try #require(unsafe chown(shared, 0, ScratchFolder.stranger) == 0)
        #expect(try !isTrusted(path) && code { _ = try PrivateFolder(shared + "/own") } == .unsafe)
    }
}
