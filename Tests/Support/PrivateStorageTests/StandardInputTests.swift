// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import PrivateStorage

/// A process whose standard input is closed gets its number for the next file that it opens.
@Suite(.timeLimit(.minutes(5))) struct `Descriptor zero is one like any other` {
    private let place: Place

    init() throws { place = try Place() }

    @Test(.ownThreads) func `for files that are opened, made and found`() async throws {
        _ = try place.file("file", "text")
        _ = try place.link("link", to: "made")
        await #expect(processExitsWith: .success) { [path = place.folder as String] in
            let folder = try OpenFolder(path, followsLink: true)
            let found = try #require(try FoundFile.find(path + "/file"))
            close(0)
            #expect(try found.open(O_RDONLY) == 0)
            close(0)
            #expect(try folder.open("file", O_RDONLY) == 0)
            close(0)
            let (name, file) = try folder.makeTemporary(mode: 0o600, for: "it")
            #expect(file == 0)
            close(0)
            try folder.remove(name)
            try OutputFile.write(Array("a".utf8), to: path + "/link", readers: .everyone)
            try PrivateLog(path + "/log", replacing: []).append(Array("b".utf8))
        }
        #expect(try place.text("made") == "a" && place.text("log") == "b")
        #expect(try place.names == ["file", "link", "log", "made"])
    }

    @Test(.ownThreads) func `for folders, whatever went wrong before`() async throws {
        await #expect(processExitsWith: .success) { [path = place.folder as String] in
            close(0)
            errno = EACCES
            let descriptor = try OpenFolder(path, followsLink: true, lists: false).descriptor
            #expect(descriptor == 0)
            let before = try Place.openCount
            for _ in 0..<32 {
                errno = ENOENT
                let opened = try PrivateFolder(path).path
                #expect(opened == path && fcntl(0, F_GETFD) < 0)
            }
            #expect(try Place.openCount < before + 16)
        }
    }

    @Test(.ownThreads) func `for sockets`() async throws {
        await #expect(processExitsWith: .success) { [path = place.path("own") as String] in
            let folder = try PrivateFolder(path)
            let listener = try PrivateSocket.listen("socket", in: folder)
            close(0)
            let client = try #require(PrivateSocket.connect(path + "/socket"))
            #expect(PrivateSocket.accept(listener) == 0)
            close(0)
            #expect(throws: StorageError(.inUse, "")) { try PrivateSocket.listen("socket", in: folder) }
            close(client)
            close(listener)
        }
    }
}
