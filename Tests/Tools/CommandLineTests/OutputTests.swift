// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PrivateStorage
import SystemLibrary
import TestThreads
import Testing

@testable import nfc

/// How bytes leave a command.
@Suite(.ownThreads) struct `What commands write` {
    @Test func `An end that is slow gets all bytes, in their order`() throws {
        let pipe = try #require(DescriptorPipe(blocks: false))
        defer { close(pipe.reader) }
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        let writer = pipe.writer
        Thread.detachNewThread {
            // The other end sees a failure as an end that comes too early.
            _ = FileDescriptorOutput.write(bytes, to: writer)
            close(writer)
        }
        var received: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(pipe.reader, &block, block.count)
            if count == 0 { break }
            if count > 0 { received += block.prefix(count) } else { usleep(1000) }
        }
        #expect(received == bytes)
    }

    @Test func `What can't be written has the system's reason, and nothing always can`() throws {
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        #expect(FileDescriptorOutput.write([1, 2], to: full) == ENOSPC)
        #expect(FileDescriptorOutput.write([], to: full) == nil)
        #expect(FileDescriptorOutput.write([1], to: -1) == EBADF)
    }

    @Test func `A step follows where a folder is missing, and none where a folder is in the place`() throws {
        let scratch = try ScratchFolder()
        func message(_ path: String) -> String? {
            do throws(CommandFailure) {
                try OutputTarget(path).write([1, 2], readers: .everyone)
                return nil
            } catch {
                return error.name == "unwritable-file" ? error.message : error.name
            }
        }
        let step = " Check the folder and its owner."
        let missing = try #require(message(scratch.path("none/x")))
        #expect(missing.hasSuffix(step) && missing != step, "\(missing)")
        let folder = try #require(message(scratch.path("")))
        #expect(!folder.hasSuffix(step) && !folder.isEmpty, "\(folder)")
        #expect(message(scratch.path("x")) == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("x"))) == Data([1, 2]))
    }

    @Test func `Standard output has several names`() {
        for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            #expect(OutputTarget.isStandardOutput(name), "\(name)")
        }
        for name in [nil, "", "--", "x", "/dev/stderr", "/dev/fd/10"] {
            #expect(!OutputTarget.isStandardOutput(name), "\(name ?? "nothing")")
        }
    }
}
