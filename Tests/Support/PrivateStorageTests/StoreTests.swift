// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing

@testable import PrivateStorage

/// A store that has no files, and logs its changes.
private final class StepLog: FileStore {
    private let log = Mutex<[String]>([])

    var steps: [String] { log.withLock { $0 } }

    private func note(_ step: String) { log.withLock { $0.append(step) } }

    func names() throws(StorageError) -> [String] { [] }

    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] { throw StorageError(.missing, name) }

    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) { note("write \(name)") }

    func rename(_ name: String, to new: String) throws(StorageError) { note("rename \(name) to \(new)") }

    func remove(_ name: String) throws(StorageError) { note("remove \(name)") }

    func synchronize() throws(StorageError) { note("synchronize") }
}

@Suite struct `A folder of files` {
    private let place: Place
    private let store: DirectoryStore

    init() throws {
        place = try Place()
        store = try DirectoryStore(place.path("a/b"))
    }

    private func code(_ body: () throws(StorageError) -> Void) -> StorageError.Code? {
        do throws(StorageError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `is made with the way to it, for its owner alone`() throws {
        for name in ["a", "a/b"] { #expect(try place.mode(name) == 0o700) }
        #expect(code { () throws(StorageError) in _ = try DirectoryStore("relative") } == .denied)
        #expect(
            code { () throws(StorageError) in _ = try DirectoryStore(place.path("none"), creates: false) } == .missing
        )
        #expect(try !place.names.contains("none"))
        let link = try place.link("link", to: "a")
        #expect(code { () throws(StorageError) in _ = try DirectoryStore(link) } == .unsafe)
        let file = try place.file("file", "", mode: 0o640)
        #expect(code { () throws(StorageError) in _ = try DirectoryStore(file + "/b") } == .unsafe)
        #expect(code { () throws(StorageError) in _ = try DirectoryStore(file) } == .unsafe)
        #expect(try place.mode("file") == 0o640)
        #expect(store.path == place.path("a/b"))
    }

    @Test func `writes, lists, reads, renames and removes`() throws {
        try store.write("two", [1, 2])
        try store.write("one", [])
        #expect(try store.names() == ["one", "two"] && place.mode("a/b/two") == 0o600)
        #expect(try store.read("two", limit: 2) == [1, 2] && store.read("one", limit: 0) == [])
        #expect(code { () throws(StorageError) in _ = try store.read("two", limit: 1) } == .tooLarge)
        try store.write("two", [3])
        #expect(try store.read("two", limit: 2) == [3])
        try store.rename("two", to: "three")
        #expect(code { () throws(StorageError) in try store.rename("two", to: "three") } == .missing)
        #expect(code { () throws(StorageError) in _ = try store.read("two", limit: 1) } == .missing)
        try store.remove("three")
        try store.remove("three")
        #expect(try store.names() == ["one"])
        try store.synchronize()
    }

    @Test func `lists its files, unless there are too many`() throws {
        for name in ["one", "two"] { try store.write(name, []) }
        #expect(try store.names(limit: 2) == ["one", "two"])
        #expect(code { () throws(StorageError) in _ = try store.names(limit: 1) } == .tooLarge)
    }

    @Test(arguments: ["", ".", "..", "a/b", "a\0b"]) func `takes no name that leads elsewhere`(_ name: String) {
        #expect(code { () throws(StorageError) in _ = try store.read(name, limit: 9) } == .denied)
        #expect(code { () throws(StorageError) in try store.write(name, []) } == .denied)
        #expect(code { () throws(StorageError) in try store.remove(name) } == .denied)
        #expect(code { () throws(StorageError) in try store.rename(name, to: "a") } == .denied)
        #expect(code { () throws(StorageError) in try store.rename("a", to: name) } == .denied)
        #expect(PathParts("/tmp/" + name) == nil || name == "a/b")
    }

    @Test func `reads no link, pipe, folder, socket or device, and waits for none`() throws {
        let other = try place.file("other", "secret")
        _ = try place.link("a/b/link", to: other)
        _ = try place.pipe("a/b/pipe")
        try FileManager.default.createDirectory(atPath: place.path("a/b/folder"), withIntermediateDirectories: false)
        let socket = try PrivateSocket.listen("socket", in: try PrivateFolder(store.path))
        defer { close(socket) }
        for name in ["link", "pipe", "folder", "socket"] {
            #expect(code { () throws(StorageError) in _ = try store.read(name, limit: 99) } == .unsafe, "\(name)")
        }
        // A write replaces a link, not its target; it also replaces an empty folder.
        try store.write("link", [1])
        #expect(try place.text("other") == "secret" && place.status("a/b/link").st_mode & S_IFMT == S_IFREG)
        try store.remove("folder")
        try FileManager.default.createDirectory(atPath: place.path("a/b/full/x"), withIntermediateDirectories: true)
        #expect(code { () throws(StorageError) in try store.remove("full") } != nil)
    }

    @Test func `replaces a file in one step, and leaves nothing unfinished`() throws {
        try store.write("file", [1])
        try store.replace("file", with: [2, 3])
        #expect(try store.names() == ["file"] && store.read("file", limit: 9) == [2, 3])
        // The new content can't take the place of a folder that has something in it.
        try FileManager.default.createDirectory(atPath: place.path("a/b/full/x"), withIntermediateDirectories: true)
        #expect(code { () throws(StorageError) in try store.replace("full", with: [4]) } == .failed)
        #expect(try store.names() == ["file", "full"])
        try store.write("left.tmp", [1])
        try store.removeUnfinished()
        #expect(try store.names() == ["file", "full"] && DirectoryStore.unfinished == ".tmp")
    }

    @Test func `waits for the disk after the new file has its name`() throws {
        let log = StepLog()
        try log.replace("file", with: [1])
        #expect(log.steps == ["write file.tmp", "rename file.tmp to file", "synchronize"])
    }

    @Test func `is in its place until another one is there`() throws {
        #expect(store.isInPlace)
        try FileManager.default.moveItem(atPath: store.path, toPath: place.path("elsewhere"))
        #expect(!store.isInPlace)
        try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: false)
        #expect(!store.isInPlace)
        // It still works in the folder that it has open.
        try store.write("file", [1])
        #expect(try place.text("elsewhere/file") == "\u{1}")
    }

    @Test func `is claimed by one at a time, for as long as that one keeps the claim`() throws {
        try store.write("file", [1])
        var claim: FileClaim? = try store.claim("file")
        #expect(code { () throws(StorageError) in _ = try store.claim("file") } == .inUse)
        withExtendedLifetime(claim) {}
        claim = nil
        claim = try store.claim("file")
        #expect(code { () throws(StorageError) in _ = try store.claim("none") } == .missing)
        _ = try place.pipe("a/b/pipe")
        #expect(code { () throws(StorageError) in _ = try store.claim("pipe") } == .unsafe)
        _ = try place.link("a/b/link", to: "file")
        #expect(code { () throws(StorageError) in _ = try store.claim("link") } == .unsafe)
        // Each claim closes its descriptor.
        claim = nil
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        for _ in 0..<64 { _ = try store.claim("file") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 48)
    }

    @Test func `is not claimed when the one before has removed it meanwhile`() throws {
        try store.write("file", [1])
        let file = try store.folder.open("file", O_RDWR)
        try store.remove("file")
        #expect(code { () throws(StorageError) in _ = try store.claim(file, "file") } == .missing)
        #expect(try Place.open(in: place.folder) == [store.path])
    }

    @Test func `keeps nothing open but itself`() throws {
        do {
            let other = try DirectoryStore(place.path("other"))
            try other.write("file", [1])
            try other.replace("file", with: [2])
            #expect(try other.read("file", limit: 1) == [2] && other.names() == ["file"])
            _ = try place.pipe("other/pipe")
            _ = try PrivateFolder(place.path("other/folder"))
            for name in ["pipe", "folder", "none"] {
                #expect(code { () throws(StorageError) in _ = try other.read(name, limit: 1) } != nil)
                #expect(code { () throws(StorageError) in _ = try other.claim(name) } != nil)
            }
            #expect(try Place.open(in: place.path("other")) == [other.path])
        }
        #expect(try Place.open(in: place.folder) == [store.path])
    }

    @Test func `says what could not be made, opened or written`() throws {
        func reason(_ body: () throws(StorageError) -> Void) -> String? {
            do throws(StorageError) {
                try body()
                return nil
            } catch {
                return error.reason
            }
        }
        // Of two wrong names it is the first.
        #expect(
            reason { () throws(StorageError) in try store.rename("a/b", to: "..") } == "'a/b' is not a file name."
        )
        // In proc(5) no folder can be created, and none can be synchronized to a disk.
        #expect(
            reason { () throws(StorageError) in _ = try DirectoryStore("/proc/self/none/b") }?
                .hasPrefix("The folder /proc/self/none can't be made") == true
        )
        let folder = try OpenFolder("/proc/self", followsLink: true)
        #expect(
            reason { () throws(StorageError) in try folder.synchronize() }?
                .hasPrefix("The folder /proc/self can't be written") == true
        )
        #expect(reason { () throws(StorageError) in _ = try PrivateLog(place.path("none/log"), replacing: []) } != nil)
        #expect(
            code { () throws(StorageError) in _ = try PrivateLog(place.path("none/log"), replacing: []) } == .missing
        )
    }

    @Test func `has temporary files with names of one length that nobody foresees`() throws {
        let folder = try OpenFolder(store.path, followsLink: false)
        var names: Set<String> = []
        for _ in 0..<64 {
            let (name, file) = try folder.makeTemporary(mode: 0o600, for: "it")
            close(file)
            names.insert(name)
            let digits = name.dropFirst(5).dropLast(4)
            #expect(name.hasPrefix(".nfc-") && name.hasSuffix(".tmp") && digits.count == 16)
            #expect(digits.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        }
        #expect(try names.count == 64 && Set(store.names()) == names)
    }

    @Test func `is claimed again at once, also where a program has got the descriptor`() throws {
        try store.write("file", [1])
        var claim: FileClaim? = try store.claim("file")
        let held = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.first {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))
                == place.path("a/b/file")
        }
        // As a program has that is started between its opening and its closing.
        let other = dup(try #require(held))
        defer { close(other) }
        withExtendedLifetime(claim) {}
        claim = nil
        claim = try store.claim("file")
        withExtendedLifetime(claim) {}
    }

    // MARK: Names

    @Test func `Names that are no UTF-8 are kept byte by byte, and shown as what they are`() throws {
        for byte: UInt8 in [0x80, 0xC3, 0xFE, 0xFF] {
            let bytes: [UInt8] = [0x61, byte, 0x62]
            let text = FileName.text(bytes)
            #expect(FileName.bytes(text) == bytes)
            #expect(FileName.shown(text) == "a\\x" + String(byte, radix: 16, uppercase: true) + "b")
        }
        for name in ["plain", "ä€🎉", ""] {
            #expect(FileName.text(Array(name.utf8)) == name && FileName.bytes(name) == Array(name.utf8))
            #expect(FileName.shown(name) == name)
        }
        // A name that looks like a kept one is kept byte by byte itself.
        for scalar: UInt32 in [0x10FF7F, 0x10FF80, 0x10FFFF] {
            let bytes = Array(String(try #require(Unicode.Scalar(scalar))).utf8)
            #expect(FileName.bytes(FileName.text(bytes)) == bytes)
            #expect((FileName.text(bytes).unicodeScalars.count == 1) == (scalar < 0x10FF80))
        }
    }

    @Test func `A file whose name is no UTF-8 is listed and removed`() throws {
        let path = Array(store.path.utf8).map(CChar.init(bitPattern:)) + [0x2F, CChar(bitPattern: 0xFF), 0]
        let file = unsafe open(path, O_CREAT | O_WRONLY, 0o600)
        try #require(file >= 0)
        close(file)
        let name = try #require(try store.names().first)
        #expect(FileName.shown(name) == "\\xFF")
        try store.remove(name)
        #expect(try store.names().isEmpty)
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b/c", "a/b", "c"), ("//a", "/", "a"),
    ])
    func `A path is a folder and a name`(path: String, folder: String, name: String) {
        let parts = PathParts(path)
        #expect(parts?.name == name && parts?.folder == folder)
        for wrong in [path + "/", path + "/.", path + "/..", ""] { #expect(PathParts(wrong) == nil) }
    }

    @Test func `An error of the system is a code and a sentence`() {
        for (number, code): (Int32, StorageError.Code) in [
            (ENOENT, .missing), (EACCES, .denied), (EPERM, .denied), (EROFS, .denied), (ELOOP, .unsafe),
            (ENOTDIR, .unsafe),
            (ENOSPC, .failed), (EIO, .failed),
        ] {
            let error = StorageError.system("It fails", number)
            #expect(error.code == code && error.number == number)
            #expect(
                error.reason == "It fails: \(unsafe String(cString: strerror(number)))."
                    && error.description == error.reason
            )
        }
        #expect(StorageError(.missing, "a").number == 0)
        #expect(Set([StorageError(.missing, "a"), StorageError(.missing, "b"), StorageError(.denied, "a")]).count == 2)
    }

    @Test func `No descriptor of a file goes on to programs`() throws {
        try store.write("file", [1])
        let input = try InputFile(place.path("a/b/file"), limit: 9)
        let claim = try store.claim("file")
        let log = try PrivateLog(place.path("log"), replacing: [])
        let old = try PrivateLog(place.file("old", ""), replacing: [])
        var seen = 0
        for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap({ Int32($0) })
        {
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            guard path?.hasPrefix(place.folder) == true else { continue }
            seen += 1
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(path ?? "")")
        }
        // The folder's own among them.
        #expect(seen >= 5)
        withExtendedLifetime((input, claim, log, old)) {}
    }
}
