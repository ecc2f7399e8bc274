// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestThreads
import Testing

@testable import PrivateStorage

@Suite struct `Files that are read up to a limit` {
    private let place: Place

    init() throws { place = try Place() }

    private func read(_ path: String, limit: Int, takesPipes: Bool = false) throws -> String {
        String(decoding: try InputFile(path, limit: limit, takesPipes: takesPipes).readToEnd(), as: UTF8.self)
    }

    @Test func `A file is read up to the limit and not beyond`() throws {
        let path = try place.file("file", "12345")
        #expect(try read(path, limit: 5) == "12345")
        #expect(throws: StorageError(.tooLarge, "")) { try read(path, limit: 4) }
        #expect(throws: StorageError(.missing, "")) { try read(place.path("none"), limit: 5) }
    }

    @Test func `The size is looked at before anything is read`() throws {
        let path = try place.file("huge", "")
        try #require(unsafe truncate(path, 1 << 40) == 0)
        let error = #expect(throws: StorageError.self) { try InputFile(path, limit: 16 << 20) }
        #expect(error?.reason == "\(path) is larger than 16 MiB, and no more is read.")
        for (limit, size) in [(4, "4 bytes"), (1 << 20, "1 MiB"), (3 << 19, "1572864 bytes")] {
            let error = #expect(throws: StorageError.self) { try InputFile(path, limit: limit) }
            #expect(error?.reason == "\(path) is larger than \(size), and no more is read.")
        }
    }

    @Test func `What can't be read is an error with its reason, and a number of before is none`() throws {
        // No memory is at the start of a process.
        let error = #expect(throws: StorageError(.failed, "")) { try read("/proc/self/mem", limit: 1) }
        #expect(error?.reason == "/proc/self/mem can't be read: Input/output error.")
        #expect(throws: StorageError(.failed, "")) { try InputFile(owning: -1, name: "Nothing", limit: 1) }
        let input = try InputFile(place.file("file", "text"), limit: 4)
        errno = EIO
        let bytes = try input.readToEnd()
        #expect(bytes == Array("text".utf8))
    }

    @Test func `A pipe, a device, a folder and a socket are refused at once where a file is wanted`() throws {
        for path in [try place.pipe("pipe"), "/dev/zero", place.folder, try place.socket("socket")] {
            let error = #expect(throws: StorageError(.notAFile, "")) { try InputFile(path, limit: 1 << 20) }
            #expect(error?.reason.hasSuffix("Name a file.") == true)
        }
    }

    @Test(.ownThreads) func `A pipe or a device is read up to the limit where it is taken`() async throws {
        let path = try place.pipe("pipe")
        let writer = Task.detached { try OutputFile.write(Array("through".utf8), waitingFor: path) }
        #expect(try read(path, limit: 7, takesPipes: true) == "through")
        try await writer.value
        #expect(try read("/dev/null", limit: 1, takesPipes: true) == "")
        #expect(throws: StorageError(.tooLarge, "")) { try read("/dev/zero", limit: 1 << 20, takesPipes: true) }
    }

    @Test(.ownThreads) func `A pipe that does not wait is waited for all the same`() throws {
        let path = try place.pipe("pipe")
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writer = unsafe open(path, O_WRONLY | O_CLOEXEC)
        try #require(reader >= 0 && writer >= 0)
        let input = try InputFile(owning: reader, name: "A pipe", limit: 4)
        let thread = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        let isAsleep = Mutex(false)
        // This task blocks its thread, and tasks may have no other one. So the writer needs its own thread.
        Thread {
            // Who tries again and again in place of waiting is never asleep.
            let end = ContinuousClock.now + .seconds(20)
            while !isAsleep.withLock({ $0 }), ContinuousClock.now < end {
                let status = try? String(contentsOfFile: "/proc/\(thread)/stat", encoding: .utf8)
                if status?.split(separator: ")").last?.hasPrefix(" S ") == true { isAsleep.withLock { $0 = true } }
            }
            _ = unsafe Glibc.write(writer, "text", 4)
            close(writer)
        }.start()
        #expect(try input.readToEnd() == Array("text".utf8))
        #expect(isAsleep.withLock { $0 })
    }

    @Test func `A file that is a link to another one is read`() throws {
        _ = try place.file("file", "text")
        #expect(try read(place.link("link", to: "file"), limit: 4) == "text")
        #expect(throws: StorageError.self) { try read(place.link("loop", to: "loop"), limit: 4) }
    }
}

extension OutputFile {
    /// Writes to a pipe whose reader may come a moment later.
    fileprivate static func write(_ bytes: [UInt8], waitingFor path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count)
    }
}
