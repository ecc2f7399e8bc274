// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PrivateStorage
import ReaderEmulation
import TestThreads
import Testing

@Suite struct `A pcscd of our own` {
    private let folder: PrivateFolder

    init() throws { folder = try .random("ocn-pcscd") }

    /// The last words in a log.
    private func lastWords(_ log: String) throws -> String? {
        try folder.write("log", Array(log.utf8))
        let descriptor = try folder.open("log", O_RDONLY)
        defer { close(descriptor) }
        return PrivatePCSCD.lastWords(in: descriptor)
    }

    @Test func `says last what it wrote last, however long its log is`() throws {
        defer {
            try? folder.remove("log")
            folder.removeIfEmpty()
        }
        let last = "00000001 main.c:10:main() The last.\n00000001 main.c:20:at_exit() cleaning\n"
        #expect(try lastWords(last) == "The last.")
        #expect(
            try lastWords(String(repeating: "00000001 main.c:9:main() Earlier.\n", count: 4000) + last) == "The last."
        )
        #expect(try lastWords("") == nil)
        #expect(try lastWords("Only this.\n\n") == "Only this.")
        #expect(try lastWords("main() a() b\n") == "a() b")
        // As much is read as a long line needs.
        let long = String(repeating: "x", count: 50_000)
        #expect(try lastWords("main() Earlier.\nmain() " + long + "\n") == long)
        // A line without its beginning could be misread.
        #expect(try lastWords(String(repeating: "x", count: 1 << 17)) == nil)
        #expect(try lastWords(String(repeating: "x", count: 1 << 16 + 1)) == nil)
    }

    @Test(.enabled(if: unsafe access("/usr/sbin/pcscd", X_OK) == 0, "pcscd is not installed"))
    func `says why it has ended, and nothing while it runs`() async throws {
        let readers = try folder.folder("readers")
        let pcscd = try PrivatePCSCD(folder: folder, configuration: readers.path)
        #expect(pcscd.failure() == nil)
        // The log is open in pcscd alone.
        let log = pcscd.logPath.split(separator: "/").suffix(2).joined(separator: "/")
        let keeping = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?.hasSuffix(log)
                == true
        }
        #expect(keeping.isEmpty)
        // So is its socket, at which it waits.
        let files = FileManager.default
        let socket = try files.destinationOfSymbolicLink(atPath: "/proc/\(pcscd.processIdentifier)/fd/3")
        let listening = try files.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
            (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == socket
        }
        #expect(socket.hasPrefix("socket:") && listening.isEmpty)
        let about = try String(contentsOfFile: "/proc/\(pcscd.processIdentifier)/fdinfo/3", encoding: .utf8)
        let flags = about.split(separator: "\n").first { $0.hasPrefix("flags:") }?.split(separator: "\t").last
        #expect(try #require(flags.flatMap { Int32($0, radix: 8) }) & O_NONBLOCK == 0)
        #expect(kill(pcscd.processIdentifier, SIGKILL) == 0)
        while pcscd.failure() == nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(
            pcscd.failure()
                == "pcscd was ended by signal 9 (Killed). Look for the program that sent it, and start again."
        )
        await callDriver { pcscd.stop() }
        try folder.remove("pcscd.log")
        readers.removeIfEmpty()
        folder.removeIfEmpty()
        #expect(unsafe access(folder.path, F_OK) != 0)
    }

    @Test(.enabled(if: unsafe access("/usr/sbin/pcscd", X_OK) == 0, "pcscd is not installed"))
    func `is ended by force when it hangs, and is no process of this program any more`() async throws {
        let readers = try folder.folder("readers")
        let pcscd = try PrivatePCSCD(folder: folder, configuration: readers.path)
        #expect(kill(pcscd.processIdentifier, SIGSTOP) == 0)
        await callDriver { pcscd.stop() }
        #expect(waitpid(pcscd.processIdentifier, nil, 0) == -1)
        readers.removeIfEmpty()
        folder.removeIfEmpty()
        #expect(unsafe access(folder.path, F_OK) != 0)
    }

    @Test(.enabled(if: unsafe access("/usr/sbin/pcscd", X_OK) == 0, "pcscd is not installed"))
    func `is asked to end, and cleans up then`() async throws {
        let readers = try folder.folder("readers")
        let pcscd = try PrivatePCSCD(folder: folder, configuration: readers.path)
        let log = FileHandle(fileDescriptor: try folder.open("pcscd.log", O_RDONLY), closeOnDealloc: true)
        func text() throws -> String {
            try log.seek(toOffset: 0)
            return String(decoding: try log.readToEnd() ?? Data(), as: UTF8.self)
        }
        try await waitWhile(!text().contains("daemon ready"))
        await callDriver { pcscd.stop() }
        #expect(try text().contains("at_exit()"))
        readers.removeIfEmpty()
        folder.removeIfEmpty()
        #expect(unsafe access(folder.path, F_OK) != 0)
    }

    @Test(.enabled(if: unsafe access("/usr/sbin/pcscd", X_OK) == 0, "pcscd is not installed"))
    func `says why it can't be started`() throws {
        let error = #expect(throws: EmulationError.self) { try PrivatePCSCD(folder: folder, configuration: "a\0b") }
        #expect(error?.reason == "pcscd can't be started: Invalid argument.")
        for name in ["pcscd.comm", "pcscd.log"] { try folder.remove(name) }
        folder.removeIfEmpty()
    }
}
