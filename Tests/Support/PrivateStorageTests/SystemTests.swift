// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@testable import PrivateStorage

/// What the system does to a process in between.
@Suite(.timeLimit(.minutes(5))) struct `What the system does meanwhile` {
    private let place: Place

    init() throws { place = try Place() }

    @Test func `A file is not taken for one of its name that came after it`() throws {
        let found = try #require(try FoundFile.find(place.file("file", "old")))
        #expect(found.place()?.name == "file")
        try FileManager.default.removeItem(atPath: place.path("file"))
        // As the system names one that was removed.
        _ = try place.file("file (deleted)", "other")
        #expect(found.place() == nil)
    }

    @Test(.ownThreads) func `A terminal that is not there is no pipe without a reader`() async {
        await #expect(processExitsWith: .success) {
            _ = setsid()
            let error = #expect(throws: StorageError(.failed, "")) {
                try OutputFile.write([0x20], to: "/dev/tty", readers: .everyone)
            }
            #expect(error?.reason == "/dev/tty can't be written: No such device or address.")
        }
    }

    @Test(.ownThreads) func `A socket in a folder that is gone can't be made, and leaves no descriptor`() async {
        await #expect(processExitsWith: .success) { [path = place.path("own") as String] in
            let folder = try PrivateFolder(path)
            folder.removeIfEmpty()
            let before = try Place.openCount
            for _ in 0..<32 {
                let error = #expect(throws: StorageError(.missing, "")) {
                    try PrivateSocket.listen("socket", in: folder)
                }
                #expect(error?.reason == "The socket \(path)/socket can't be made: No such file or directory.")
            }
            #expect(try Place.openCount < before + 16)
        }
    }

    @Test(.ownThreads) func `A process with too many files has no socket`() async {
        await #expect(processExitsWith: .success) { [path = place.path("own") as String] in
            let folder = try PrivateFolder(path)
            // RLIMIT_NOFILE
            let files = __rlimit_resource_t(7)
            var before = rlimit()
            #expect(unsafe getrlimit(files, &before) == 0)
            var none = rlimit(rlim_cur: 0, rlim_max: before.rlim_max)
            #expect(unsafe setrlimit(files, &none) == 0)
            let error = #expect(throws: StorageError(.failed, "")) { try PrivateSocket.listen("socket", in: folder) }
            #expect(unsafe setrlimit(files, &before) == 0)
            #expect(error?.reason == "No socket can be made: Too many open files.")
        }
    }

    @Test func `Whoever gets a folder or a socket has no more open for it`() throws {
        do {
            let folder = try PrivateFolder(place.path("way/new/own"), newMode: 0o2750)
            try folder.setMode(0o2750)
            let listener = try PrivateSocket.listen("socket", in: folder)
            defer { close(listener) }
            close(try #require(PrivateSocket.connect(folder.path + "/socket")))
            #expect(try Place.open(in: place.folder) == [folder.path])
        }
        let wide = place.path("wide")
        try #require(unsafe mkdir(wide, 0o700) == 0 && chmod(wide, 0o777) == 0)
        #expect(throws: StorageError(.unsafe, "")) { try PrivateFolder(wide + "/own") }
        #expect(throws: StorageError(.missing, "")) { try PrivateFolder(place.path("way/none/own"), creates: false) }
        #expect(try Place.open(in: place.folder).isEmpty)
    }
}
