// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@testable import PCSCDriver

@Suite(.timeLimit(.minutes(1))) struct CallLimitTests {
    @Test func `A call with a shorter limit than the one before is cut in its own time`() async throws {
        let (cuts, continuation) = AsyncStream.makeStream(of: Void.self)
        let limit = CallLimit(milliseconds: 3_600_000) { continuation.yield() }
        defer { limit.finish() }
        var next = cuts.makeAsyncIterator()
        for _ in 0..<20 {
            try limit.begin()
            // The thread that watches sleeps until the first limit, an hour, once it has looked.
            usleep(2000)
            #expect(limit.end() == nil)
            try limit.begin(within: 1)
            _ = await next.next(isolation: nil)
            #expect(limit.end() == .timeout)
        }
    }

    @Test func `A call that came back is not cut, nor one twice`() async throws {
        let (cuts, continuation) = AsyncStream.makeStream(of: Void.self)
        let limit = CallLimit(milliseconds: 3_600_000) { continuation.yield() }
        defer { limit.finish() }
        limit.cancel()
        try limit.begin()
        #expect(limit.end() == nil)
        limit.cancel()
        try limit.begin()
        limit.cancel()
        limit.cancel()
        #expect(limit.end() == .timeout)
        limit.interrupt()
        #expect(throws: SmartCardError.self) { try limit.begin() }
        limit.resume()
        try limit.begin()
        limit.interrupt()
        #expect(limit.end() == .cancelled)
        continuation.finish()
        var count = 0
        for await _ in cuts { count += 1 }
        #expect(count == 2)
    }

    @Test func `Calls have the limits that people wait for a service`() {
        let usual = CallLimits.usual
        #expect(usual.call == 20_000 && usual.look == 10_000 && usual.absence == 4000 && usual.silence == 1000)
        let short = CallLimits.same(5)
        #expect(short.call == 5 && short.look == 5 && short.absence == 4000 && short.silence == 1000)
        #expect(CallLimits.same(3000).silence == 3000)
    }

    @Test func `A limit that is finished keeps no thread, and nothing of itself`() async throws {
        weak var limit: CallLimit?
        do {
            let watched = CallLimit(milliseconds: 3_600_000) {}
            limit = watched
            try watched.begin()
            usleep(2000)
            #expect(watched.end() == nil)
            watched.finish()
        }
        while limit != nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test(.ownThreads) func `One thread watches all calls of a limit`() async {
        await #expect(processExitsWith: .success) {
            let limit = CallLimit(milliseconds: 3_600_000) {}
            defer { limit.finish() }
            func threads() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            try limit.begin()
            #expect(limit.end() == nil)
            let before = try threads()
            for _ in 0..<200 {
                try limit.begin()
                #expect(limit.end() == nil)
            }
            // The process may have started some of its own.
            #expect(try threads() < before + 100)
        }
    }

    @Test(.ownThreads) func `Work of the driver's thread that runs on another one ends the process`() async {
        await #expect(processExitsWith: .failure) { DriverThread().checkIsolated() }
    }

    @Test func `The driver's thread knows its own work from that of others`() async {
        let thread = DriverThread()
        let isCurrent = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            thread.run { continuation.resume(returning: thread.isCurrent) }
        }
        #expect(isCurrent && !thread.isCurrent && !DriverThread().isCurrent)
    }

    @Test func `A table of readers is laid out as pcsc-lite's, whatever is in it`() {
        let states = [
            SmartCardReaderState("A", flags: [.present, .changed]), SmartCardReaderState("B", answerToReset: [1, 2]),
        ]
        // SCARD_READERSTATE of pcsc-lite: five words, 33 bytes of ATR, filled up to whole words.
        let (word, stride) = (MemoryLayout<UInt>.size, 5 * MemoryLayout<UInt>.size + 40)
        let table = ReaderStateTable(states)
        unsafe table.withPointer { memory in
            #expect(
                unsafe memory.load(fromByteOffset: 2 * word, as: UInt.self)
                    == UInt(SmartCardReaderState.Flags.present.rawValue)
            )
            #expect(unsafe memory.load(fromByteOffset: stride + 2 * word, as: UInt.self) == 0)
            let name = unsafe memory.load(fromByteOffset: stride, as: UnsafePointer<CChar>.self)
            #expect(unsafe String(cString: name) == "B")
            unsafe memory.storeBytes(of: 0x0001_0022, toByteOffset: stride + 3 * word, as: UInt.self)
            unsafe memory.storeBytes(of: 2, toByteOffset: stride + 4 * word, as: UInt.self)
            unsafe memory.storeBytes(of: 0x3B, toByteOffset: stride + 5 * word, as: UInt8.self)
            unsafe memory.storeBytes(of: 0x80, toByteOffset: stride + 5 * word + 1, as: UInt8.self)
            unsafe memory.storeBytes(of: 99, toByteOffset: 4 * word, as: UInt.self)
        }
        let read = table.states
        #expect(read.map(\.reader) == ["A", "B"])
        #expect(read[1].flags.rawValue == 0x0001_0022 && read[1].answerToReset == [0x3B, 0x80])
        // More bytes than an ATR has are not taken.
        #expect(read[0].answerToReset.count == 33 && read[0].flags == [])
        #expect(ReaderStateTable([]).states.isEmpty)
    }

    @Test func `What the library writes into its memory is what it says it is, and no more than there is room for`() {
        let buffer = ResponseBuffer()
        let done = unsafe buffer.fill { memory, count in
            #expect(unsafe count.pointee == 65548)
            for index in 0..<3 { unsafe memory[index] = UInt8(index + 1) }
            unsafe count.pointee = 3
            return 0
        }
        #expect(done.status == 0 && done.response == [1, 2, 3])
        let failed = unsafe buffer.fill { _, count in
            unsafe count.pointee = 3
            return 7
        }
        #expect(failed.status == 7 && failed.response == [])
        let lying = unsafe buffer.fill { _, count in
            unsafe count.pointee = 1_000_000
            return 0
        }
        #expect(lying.response.count == 65548)
    }
}
