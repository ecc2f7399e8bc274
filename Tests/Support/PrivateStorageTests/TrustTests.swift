// SPDX-License-Identifier: Apache-2.0
import Glibc
import PrivateStorage
import TestThreads
import Testing

/// A file that others can change is not trusted: others are a group, everybody, or another owner.
@Suite struct `What others can change` {
    private static let stranger: uid_t = 12345

    private let place: Place

    init() throws { place = try Place() }

    private func folder(_ name: String, _ mode: mode_t) throws -> String {
        let path = place.path(name)
        try #require(unsafe mkdir(path, 0o700) == 0 && chmod(path, mode) == 0)
        return path
    }

    private func give(_ path: String) throws { try #require(unsafe lchown(path, Self.stranger, Self.stranger) == 0) }

    private func code(_ body: () throws(StorageError) -> Void) -> StorageError.Code? {
        do throws(StorageError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: Files that decide

    @Test(arguments: [0o600, 0o644, 0o755, 0o444] as [mode_t])
    func `A file that only its owner writes is trusted`(mode: mode_t) throws {
        let path = try place.file("list", "text", mode: mode)
        #expect(try TrustedFile.read(path, limit: 4) == Array("text".utf8))
    }

    @Test(arguments: [0o620, 0o602, 0o664, 0o646, 0o666] as [mode_t])
    func `A file that a group or everybody writes is not`(mode: mode_t) throws {
        let path = try place.file("list", "text", mode: mode)
        #expect(code { () throws(StorageError) in _ = try TrustedFile.read(path, limit: 4) } == .unsafe)
    }

    @Test func `What is no ordinary file is not, and is not waited for`() throws {
        for path in [place.folder, try place.pipe("pipe"), "/dev/null"] {
            #expect(code { () throws(StorageError) in _ = try TrustedFile.read(path, limit: 4) } == .unsafe)
        }
        #expect(code { () throws(StorageError) in _ = try TrustedFile.read(place.path("none"), limit: 4) } == .missing)
        let path = try place.file("long", "12345")
        #expect(code { () throws(StorageError) in _ = try TrustedFile.read(path, limit: 4) } == .tooLarge)
    }

    @Test(.enabled(if: Place.isRoot)) func `A file of another user is not`() throws {
        let path = try place.file("list", "text")
        try give(path)
        #expect(code { () throws(StorageError) in _ = try TrustedFile.read(path, limit: 4) } == .unsafe)
    }

    @Test(.ownThreads) func `An ordinary user trusts own files and those of root`() async throws {
        let own = try place.file("own", "text")
        _ = try place.file("other", "text")
        if Place.isRoot { try give(own) }
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            for name in ["own", "other"] {
                let text = try TrustedFile.read(folder + "/" + name, limit: 4)
                #expect(text == Array("text".utf8), "\(name)")
            }
        }
    }

    // MARK: Ways

    @Test(arguments: [0o700, 0o755, 0o775, 0o1777, 0o1773] as [mode_t])
    func `A private folder may be behind one where others replace nothing`(mode: mode_t) throws {
        let way = try folder("way", mode)
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(way + "/own") } == nil)
        #expect(try place.mode("way/own") == 0o700)
    }

    @Test(arguments: [0o777, 0o707, 0o702] as [mode_t])
    func `It is not behind one where everybody does`(mode: mode_t) throws {
        let way = try folder("way", mode)
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(way + "/own") } == .unsafe)
    }

    @Test(.enabled(if: Place.isRoot), arguments: [0o700, 0o755, 0o1777] as [mode_t])
    func `It is not behind one of another user, nor one itself`(mode: mode_t) throws {
        let way = try folder("way", mode)
        let own = try PrivateFolder(way + "/own")
        try give(way)
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(own.path) } == .unsafe)
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(way + "/new") } == .unsafe)
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(way) } == .unsafe)
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(way, guests: .mayRead) } == .unsafe)
        #expect(code { () throws(StorageError) in _ = try DirectoryStore(way) } == .unsafe)
    }

    @Test(.ownThreads) func `An ordinary user has private folders behind own ones and those of root`() async throws {
        await #expect(processExitsWith: .success) { [folder = place.folder as String] in
            Place.becomeOrdinary(with: folder)
            _ = try PrivateFolder(folder + "/own/private")
        }
        #expect(try place.mode("own/private") == 0o700)
    }

    @Test func `One that can't be closed to others is refused`() {
        // In proc(5) others may read the folder of a process, and no mode can be changed.
        let path = "/proc/\(getpid())"
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(path, creates: false) } == .unsafe)
        #expect(code { () throws(StorageError) in _ = try DirectoryStore(path, creates: false) } == .unsafe)
    }

    @Test func `One that others read is closed to them, unless they may read it`() throws {
        for (name, mode): (String, mode_t) in [("a", 0o750), ("b", 0o705), ("c", 0o777)] {
            _ = try PrivateFolder(try folder(name, mode))
            #expect(try place.mode(name) == 0o700)
            _ = try DirectoryStore(try folder("store-" + name, mode))
            #expect(try place.mode("store-" + name) == 0o700)
        }
        let shared = try folder("shared", 0o755)
        _ = try PrivateFolder(shared, guests: .mayRead)
        #expect(try place.mode("shared") == 0o755)
        // One that is closed already keeps its mode.
        let closed = try folder("closed", 0o500)
        _ = try PrivateFolder(closed)
        _ = try DirectoryStore(closed)
        #expect(try place.mode("closed") == 0o500)
    }

    @Test(arguments: [0o775, 0o757, 0o720, 0o702] as [mode_t])
    func `One that others may read is refused when they write it`(mode: mode_t) throws {
        let path = try folder("shared", mode)
        #expect(code { () throws(StorageError) in _ = try PrivateFolder(path, guests: .mayRead) } == .unsafe)
    }

    // MARK: What root loads

    @Test func `The part of a path that others change is named`() throws {
        let way = try folder("way", 0o755)
        let file = try place.file("way/library", "", mode: 0o644)
        let own = geteuid()
        #expect(TrustedPath.partOpenToOthers(file, owner: own) == nil)
        for mode: mode_t in [0o664, 0o646] {
            try #require(unsafe chmod(file, mode) == 0)
            #expect(TrustedPath.partOpenToOthers(file, owner: own) == file)
        }
        try #require(unsafe chmod(file, 0o644) == 0)
        for mode: mode_t in [0o775, 0o757, 0o777] {
            try #require(unsafe chmod(way, mode) == 0)
            #expect(TrustedPath.partOpenToOthers(file, owner: own) == way)
        }
        // The path of the link's target counts too.
        let link = try place.link("link", to: file)
        #expect(TrustedPath.partOpenToOthers(link, owner: own) == way)
        // A path that is not absolute is named, whether it leads to something or not.
        for path in ["way/library", ".", ""] {
            #expect(TrustedPath.partOpenToOthers(path, owner: own) == path)
        }
        #expect(TrustedPath.partOpenToOthers(place.path("gone"), owner: own) == place.path("gone"))
    }

    @Test(.enabled(if: Place.isRoot)) func `A part of another user is named, unless it may be theirs`() throws {
        let file = try place.file("library", "")
        #expect(TrustedPath.partOpenToOthers(file) == nil)
        #expect(TrustedPath.partOpenToOthers(existingPartOf: file + "-gone/x") == nil)
        let wide = try folder("wide", 0o777)
        #expect(TrustedPath.partOpenToOthers(existingPartOf: wide + "/gone/x") == wide)
        try give(file)
        #expect(TrustedPath.partOpenToOthers(file) == file)
        #expect(TrustedPath.partOpenToOthers(existingPartOf: file) == file)
        #expect(TrustedPath.partOpenToOthers(file, owner: Self.stranger) == nil)
    }
}
