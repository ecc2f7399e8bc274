// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TestThreads
import Testing
import VirtualTags

@testable import NFCTestKit

/// What becomes of a test that does not end when its field has.
@Suite(.timeLimit(.minutes(5))) struct `A test that is given up` {
    @Test func `is cancelled`() async {
        let wasCancelled = Locked(false)
        await #expect(throws: FieldError(.neverEnds, "")) {
            try await withField(grace: .milliseconds(50)) { field in
                try await withTaskCancellationHandler {
                    let _: Int = try await field.completion("never") { _ in }
                } onCancel: {
                    wasCancelled.withLock { $0 = true }
                }
            }
        }
        #expect(wasCancelled.withLock { $0 })
    }

    @Test func `by a block that runs on and on is told for how long that was`() async {
        let error = await #expect(throws: FieldError.self) {
            try await withField { field in
                field.stop(blockedFor: .milliseconds(61_900))
                let _: Int = try await field.completion("never") { _ in }
            }
        }
        #expect(error?.code == .queueIsBlocked && error?.trace != nil)
        let start = "A queue or a thread is blocked: code of the test has run for 61 s of real time, and nothing else "
        #expect(error?.reason.hasPrefix(start) == true, "\(error?.reason ?? "none")")
    }

    @Test func `waits no longer for the code to rest, which nobody looks for any more`() async throws {
        let waiting = try await withField { field in
            let task = Task { for _ in 0..<1000 { await field.settle() } }
            await field.settle()
            return task
        }
        await waiting.value
    }

    @Test(.ownThreads, arguments: [true, false])
    func `ends the process, where it is a function with a trait that goes on`(isVirtual: Bool) async throws {
        let start = ContinuousClock.now
        let said = try CrashTests.said(
            await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
                [isVirtual = isVirtual as Bool] in
                let field = try await TestField.opened(
                    [],
                    app: nil,
                    seed: 0,
                    limit: isVirtual ? .seconds(600) : .milliseconds(20),
                    grace: Grace(duration: .milliseconds(50)),
                    reader: isVirtual ? .virtual : .reader(.field(VirtualField()))
                )
                // Nothing resumes it, not even that it is cancelled.
                try await field.attend(patience: .seconds(2)) {
                    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
                }
            }
        )
        #expect(said.contains("The flow has not ended after "), "\(said)")
        #expect(said.contains("\nNothing else can end this test function.\n"), "\(said)")
        // A machine with much to do has time to cancel it.
        if !isVirtual { #expect(start.duration(to: .now) >= .seconds(2)) }
    }
}
