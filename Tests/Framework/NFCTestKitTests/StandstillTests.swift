// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCTestKit
import TestThreads
import Testing

/// Runs in other processes, which are stopped or have no free thread.
@Suite(.timeLimit(.minutes(10))) struct `A process that can't go on for a while` {
    @Test(.ownThreads) func `While it is stopped, as in a debugger, no time counts as quiet`() async {
        await #expect(processExitsWith: .success) {
            typealias Stranger = `A session whose test nobody knows`.Stranger
            let stranger = Stranger()
            try stopForSeconds(7, after: 1)
            try await withField(grace: .milliseconds(500)) { field in
                try await field.completion("work") { done in
                    stranger.perform {
                        // So that it isn't already over when the process continues.
                        for _ in 0..<150 { usleep(10_000) }
                        done(())
                    }
                }
            }
        }
    }

    @Test(.ownThreads) func `While other tests have all threads, a flow waits for its turn`() async {
        await #expect(processExitsWith: .success) {
            // libdispatch begins one more thread a second where those that it has sleep.
            let count = ProcessInfo.processInfo.activeProcessorCount + 11
            for _ in 0..<count { DispatchQueue.global().async { Thread.sleep(forTimeInterval: 14) } }
            try await withField("NTAG215") { field in
                _ = try await field.bring("NTAG213")
                guard field.tags.count == 2 else { throw CocoaError(.formatting) }
            }
        }
    }
}

/// Has the process stopped and continued by another one, which is no child of it.
private func stopForSeconds(_ seconds: Int, after delay: Int) throws {
    let own = getpid()
    let status = unsafe system(
        "(sleep \(delay); kill -STOP \(own); sleep \(seconds); kill -CONT \(own)) >/dev/null 2>&1 &"
    )
    guard status == 0 else { throw CocoaError(.executableNotLoadable) }
}
