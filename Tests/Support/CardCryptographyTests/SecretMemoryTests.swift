// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@testable import CardCryptography

/// What becomes of the memory of a key that nobody needs any more. Each test has its own process.
@Suite(.ownThreads) struct `The memory of a key` {
    @Test func `has nothing of it when it is given back`() async {
        await #expect(processExitsWith: .success) {
            let key = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
            var left = [UInt8](repeating: 0, count: key.count)
            let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
            var secret: SecretBytes? = SecretBytes(key)
            let place = unsafe secret?.withBytes { Int(bitPattern: $0) } ?? 0
            #expect(unsafe pread(memory, &left, left.count, place) == key.count)
            #expect(left == key)
            secret = nil
            // As the system sees it, because the memory is nobody's now.
            _ = unsafe pread(memory, &left, left.count, place)
            let equal = zip(left, key).filter { $0 == $1 }.count
            #expect(equal < 256)
        }
    }

    @Test func `is used again`() async {
        await #expect(processExitsWith: .success) {
            /// The memory that this process has, in pages of 4 KB.
            func pages() throws -> Int {
                let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
                return try #require(Int(sizes[1]))
            }
            let key = [UInt8](repeating: 1, count: 1 << 16)
            for _ in 0..<16 { _ = SecretBytes(key) }
            let before = try pages()
            // 128 MB, if none of it were used again.
            for _ in 0..<2000 { _ = SecretBytes(key) }
            #expect(try pages() - before < 8192)
        }
    }
}
