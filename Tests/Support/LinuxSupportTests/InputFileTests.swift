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

    @Test func `Trusted file: only its owner writes it, and it belongs to this user or root`() throws {
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

    @Test(.ownThreads) func `Trusted file of an ordinary user: own files and those of root`() async throws {
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

    @Test func `Trusted path: the first part that others can change, also of a link's target`() throws {
        let (own, way) = (geteuid(), try scratch.makeFolder("way", 0o755))
        let file = try scratch.file("way/library", "")
        #expect(TrustedPath.partOpenToOthers(file, owner: own) == nil)
        let modes: [(mode_t, mode_t, String)] = [
            (0o664, 0o755, file), (0o646, 0o755, file), (0o644, 0o775, way), (0o644, 0o757, way),
        ]
        for (fileMode, wayMode, part) in modes {
            try #require(unsafe chmod(file, fileMode) == 0 && chmod(way, wayMode) == 0)
            #expect(TrustedPath.partOpenToOthers(file, owner: own) == part)
        }
        #expect(try TrustedPath.partOpenToOthers(scratch.link("link", to: file), owner: own) == way)
        for path in ["way/library", ".", "", scratch.path("gone")] {
            #expect(TrustedPath.partOpenToOthers(path, owner: own) == path)
        }
        guard ScratchFolder.isRoot else { return }
        try #require(unsafe chmod(way, 0o755) == 0)
        #expect(TrustedPath.partOpenToOthers(file) == nil)
        #expect(TrustedPath.partOpenToOthers(existingPartOf: file + "-gone/x") == nil)
        let wide = try scratch.makeFolder("wide", 0o777)
        #expect(TrustedPath.partOpenToOthers(existingPartOf: wide + "/gone/x") == wide)
        try ScratchFolder.give(file)
        #expect(TrustedPath.partOpenToOthers(file) == file)
    }
}
