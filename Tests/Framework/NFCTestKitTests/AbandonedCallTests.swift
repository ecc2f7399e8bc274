// SPDX-License-Identifier: Apache-2.0
import NFCTestKit
import Testing

/// A task that a test leaves in a call of its field goes on when the field ends, so that what it holds is freed.
@Suite(.timeLimit(.minutes(5))) struct `A call that waits when its field ends` {
    @Test func `A handler that was never called ends its wait with an error`() async throws {
        let waiting = try await withField { field in
            let task = Task { try await field.completion("never") { (_: @escaping @Sendable (Int) -> Void) in } }
            await field.settle()
            return task
        }
        await #expect(throws: FieldError(.fieldIsGone, "")) { try await waiting.value }
    }

    @Test func `A wait for a time that does not come any more ends`() async throws {
        let waiting = try await withField { field in
            let task = Task {
                await field.wait(for: .seconds(3600))
                return field.now
            }
            // The wait begins when the first of the two calls that wait for rest returns.
            for _ in 0..<2 { await field.settle() }
            return task
        }
        #expect(await waiting.value == .zero)
    }

    @Test func `A caller that is cancelled cancels its test, and gets what the test returns`() async throws {
        typealias Gate = `A session whose test nobody knows`.Gate
        let (begun, never) = (Gate(), Gate())
        let caller = Task {
            try await withField(grace: .seconds(6)) { _ in
                begun.open()
                await never.pass()
                return Task.isCancelled
            }
        }
        await begun.pass()
        caller.cancel()
        #expect(try await caller.value)
    }
}
