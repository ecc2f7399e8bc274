// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import nfcd

/// The service's watch of files, which the main queue calls.
@Suite(.timeLimit(.minutes(3))) struct `The watch of files` {
    @MainActor private final class Count {
        var value = 0

        /// Waits until it has a value.
        func wait(for expected: Int) async throws {
            for _ in 0..<30_000 where value < expected { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    private static func makeFile(_ path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        close(file)
    }

    @MainActor @Test func `reports each change that it was asked for, once`() async throws {
        let folder = try ScratchFolder()
        let count = Count()
        let watch = FileWatch { count.value += 1 }
        watch.add(folder.path(""), Int32(IN_CREATE))
        // What was added before, and what can't be watched, changes nothing.
        watch.add(folder.path(""), Int32(IN_CREATE))
        watch.add(folder.path("missing"), Int32(IN_CREATE))
        for number in 1...3 {
            try Self.makeFile(folder.path("\(number)"))
            try await count.wait(for: number)
            #expect(count.value == number)
        }
        withExtendedLifetime(watch) {}
    }
}
