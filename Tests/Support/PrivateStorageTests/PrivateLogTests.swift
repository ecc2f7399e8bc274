// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import PrivateStorage

@Suite struct `Files that grow and are their owner's alone` {
    private let place: Place
    private let head = Array("{\"log\"".utf8)

    init() throws { place = try Place() }

    @Test func `A new file is its owner's alone, and has what is appended`() throws {
        let log = try PrivateLog(place.path("log"), replacing: head)
        try log.append(Array("{\"log\":1}\n".utf8))
        try log.append(Array("{}\n".utf8))
        #expect(try place.text("log") == "{\"log\":1}\n{}\n")
        #expect(try place.mode("log") == 0o600)
    }

    @Test(arguments: ["", "{\"log\":1}\nold\n"])
    func `One that is there is emptied and closed to others, by all its names`(text: String) throws {
        let path = try place.file("log", text, mode: 0o644)
        try FileManager.default.linkItem(atPath: path, toPath: place.path("name"))
        let log = try PrivateLog(place.link("link", to: "log"), replacing: head)
        try log.append(Array("new".utf8))
        #expect(try place.text("name") == "new")
        #expect(try place.mode("name") == 0o600)
    }

    @Test func `One that is closed to others keeps its mode`() throws {
        let path = try place.file("log", "", mode: 0o700)
        try PrivateLog(path, replacing: head).append(head)
        #expect(try place.mode("log") == 0o700)
    }

    @Test func `A file that somebody else makes at the same time is left alone`() throws {
        let pipe = try place.pipe("pipe")
        let reader = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        var others = [pipe, try place.file("other", "text")]
        if Place.isRoot {
            let foreign = try place.file("foreign", "")
            try #require(unsafe chown(foreign, 12345, 12345) == 0)
            others.append(foreign)
        }
        for path in others {
            let error = #expect(throws: StorageError(.occupied, "")) { try PrivateLog.create(path) }
            #expect(error?.reason == "\(path) was made by somebody else meanwhile. Name another file.")
        }
        close(reader)
        #expect(try place.text("other") == "text")
        #expect(try Place.open(in: place.folder).isEmpty)
    }

    @Test func `A log is closed with its object, and a file that it refuses at once`() throws {
        do {
            let log = try PrivateLog(place.path("log"), replacing: head)
            #expect(try Place.open(in: place.folder) == [log.path])
        }
        let other = try place.file("other", "text")
        #expect(throws: StorageError(.occupied, "")) { try PrivateLog(other, replacing: head) }
        #expect(try Place.open(in: place.folder).isEmpty)
    }

    @Test(arguments: ["x", "{\"lo", "{\"lot\""])
    func `Another file stays as it is`(text: String) throws {
        let path = try place.file("file", text, mode: 0o644)
        #expect(throws: StorageError(.occupied, "")) { try PrivateLog(path, replacing: head) }
        #expect(try place.text("file") == text)
        #expect(try place.mode("file") == 0o644)
    }

    @Test(.enabled(if: Place.isRoot))
    func `Another user's file is refused, because that user could read it`() throws {
        let path = try place.file("file", "", mode: 0o600)
        try #require(unsafe chown(path, 12345, 12345) == 0)
        #expect(throws: StorageError(.unsafe, "")) { try PrivateLog(path, replacing: head) }
    }

    @Test func `A link to a file that is not there makes it`() throws {
        let log = try PrivateLog(place.link("link", to: "log"), replacing: head)
        try log.append(head)
        #expect(try place.mode("log") == 0o600)
        #expect(try place.status("link").st_mode & S_IFMT == S_IFLNK)
    }

    @Test func `A device is written to, and a pipe that nobody reads is refused at once`() throws {
        try PrivateLog("/dev/null", replacing: head).append(head)
        let full = try PrivateLog("/dev/full", replacing: head)
        #expect(throws: StorageError(.failed, "")) { try full.append(head) }
        let pipe = try place.pipe("pipe")
        #expect(throws: StorageError(.failed, "")) { try PrivateLog(pipe, replacing: head) }
        #expect(throws: StorageError(.notAFile, "")) { try PrivateLog(place.folder, replacing: head) }
    }

    @Test func `It has begun when something is in it, and one to which nothing can be written goes again`() throws {
        let log = try PrivateLog(place.path("log"), replacing: head)
        #expect(!log.isStarted && log.path == place.path("log"))
        try log.append([0x61])
        #expect(log.isStarted)
        #expect(try PrivateLog("/dev/null", replacing: head).isStarted)
    }

    @Test(.ownThreads) func `A file to which nothing could be written is not left behind, but one that was there is`()
        async throws
    {
        for (name, isThere) in [("new", false), ("old", true)] {
            let path: String = isThere ? try place.file(name, "") : place.path(name)
            await #expect(processExitsWith: .success) { [path = path as String] in
                signal(SIGXFSZ, SIG_IGN)
                let log = try PrivateLog(path, replacing: [])
                var limit = rlimit(rlim_cur: 0, rlim_max: 0)
                #expect(unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0)
                #expect(throws: StorageError(.failed, "")) { try log.append([1]) }
            }
            #expect(FileManager.default.fileExists(atPath: path) == isThere)
        }
    }
}
