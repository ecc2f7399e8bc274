// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TestThreads
import Testing

/// What becomes of the memory of a lock that nobody needs any more. The test has its own process.
@Suite(.ownThreads) struct `The memory of a lock` {
    @Test func `is used again`() async {
        await #expect(processExitsWith: .success) {
            /// The memory that this process has, in pages of 4 KB.
            func pages() throws -> Int {
                let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
                return try #require(Int(sizes[1]))
            }
            for number in 0..<1000 { _ = Locked(number) }
            let before = try pages()
            // 19 MB, if the mutexes alone were not used again.
            for number in 0..<400_000 { _ = Locked(number) }
            #expect(try pages() - before < 2048)
        }
    }
}
