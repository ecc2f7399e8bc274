// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import SystemLibrary
import TestThreads
import Testing

/// Each test is in a process of its own, since other tests open descriptors too.
@Suite(.timeLimit(.minutes(5))) struct `What is left open` {
    private static func open() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// Sets how many descriptors the process may have.
    private static func limit(_ count: Int32) {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(7), &limit)
        limit.rlim_cur = rlim_t(count)
        #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
    }

    @Test(.ownThreads) func `An interrupt leaves nothing`() async {
        await #expect(processExitsWith: .success) {
            let before = try Self.open()
            for _ in 0..<16 { #expect(Interrupt().descriptor >= 0) }
            #expect(try Self.open() < before + 16)
            // Also with the numbers that others have for their standard streams.
            close(0)
            close(1)
            do { #expect(Interrupt().descriptor == 0) }
            #expect(fcntl(0, F_GETFD) == -1 && fcntl(1, F_GETFD) == -1)
        }
    }

    @Test(.ownThreads) func `A watch leaves nothing once it has ended`() async {
        await #expect(processExitsWith: .success) {
            let queue = DispatchQueue(label: "watched")
            let pipe = try #require(DescriptorPipe())
            let before = try Self.open()
            for _ in 0..<48 {
                let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
                let watch = ReadWatch(pipe.reader, queue: queue) {
                    true
                } onClose: {
                    continuation.finish()
                }
                watch?.cancel()
                for await _ in ends {}
            }
            #expect(try Self.open() < before + 32)
        }
    }

    @Test(.ownThreads) func `A watch has closed its own descriptors when it says that it has ended`() async {
        await #expect(processExitsWith: .success) {
            @Sendable func pipes() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                    return target?.hasPrefix("pipe:") == true
                }
            }
            let pipe = try #require(DescriptorPipe())
            let before = try pipes()
            let (counts, continuation) = AsyncStream.makeStream(of: Int?.self)
            let watch = ReadWatch(pipe.reader, queue: DispatchQueue(label: "watched")) {
                true
            } onClose: {
                continuation.yield(try? pipes())
                continuation.finish()
            }
            watch?.cancel()
            var seen: [Int?] = []
            for await count in counts { seen.append(count) }
            #expect(seen == [before])
        }
    }

    @Test(.ownThreads) func `A watch that is cancelled twice closes nothing of others`() async {
        await #expect(processExitsWith: .success) {
            let pipe = try #require(DescriptorPipe())
            let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
            var watch = ReadWatch(pipe.reader, queue: DispatchQueue(label: "watched")) {
                true
            } onClose: {
                continuation.finish()
            }
            #expect(watch != nil)
            watch?.cancel()
            for await _ in ends {}
            let others = (0..<16).map { _ in fcntl(2, F_DUPFD_CLOEXEC, 0) }
            watch?.cancel()
            watch = nil
            for other in others { #expect(fcntl(other, F_GETFD) >= 0) }
        }
    }

    @Test(.ownThreads) func `A watch, a pipe and a lifeline are not made where there is no room for them`() async {
        await #expect(processExitsWith: .success) {
            let pipe = try #require(DescriptorPipe())
            Self.limit(0)
            #expect(Lifeline(script: ":", words: []) == nil)
            #expect(FolderWatch("/") == nil && DescriptorPipe() == nil)
            let none = ReadWatch(pipe.reader, queue: .main) {
                true
            } onClose: {
            }
            #expect(none == nil)
            Self.limit(1000)
            try #require(Lifeline(script: ":", words: [])).cut()
            #expect(FolderWatch("/") != nil && DescriptorPipe() != nil)
        }
    }

    @Test(.ownThreads) func `A program that was not started leaves no copies of its descriptors`() async {
        await #expect(processExitsWith: .success) {
            let before = try Self.open()
            for _ in 0..<32 {
                var launch = ProgramLaunch("/bin/true", ["true"])
                for number: Int32 in 3..<8 { launch.descriptors[number] = 2 }
                launch.descriptors[9] = 1_000_000
                let failure = #expect(throws: ProgramLaunch.Failure.self) { try launch.start() }
                #expect(failure?.number == EBADF)
                launch.descriptors[9] = nil
                launch.path = "/nowhere"
                #expect(throws: ProgramLaunch.Failure.self) { try launch.start() }
            }
            #expect(try Self.open() < before + 16)
        }
    }

    @Test(.ownThreads) func `A lifeline holds nothing of this process`() async {
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [-1, -1]
            // Without the mark that closes them in programs.
            #expect(unsafe pipe(&ends) == 0)
            let lifeline = try #require(Lifeline(script: ":", words: []))
            close(ends[1])
            // The other end is closed, unless the lifeline's shell still has it.
            var byte: UInt8 = 0
            #expect(unsafe read(ends[0], &byte, 1) == 0)
            lifeline.cut()
        }
    }
}
