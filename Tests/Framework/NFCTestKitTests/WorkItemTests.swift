// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A work item of a test` {
    @Test func `It runs beside others on a concurrent queue, unless it is a barrier`() async throws {
        let queue = DispatchQueue(label: "app.items", attributes: .concurrent)
        try await withField { field in
            try await field.completion("work") { done in
                let hasBegun = DispatchSemaphore(value: 0)
                queue.async(
                    execute: DispatchWorkItem {
                        hasBegun.wait()
                        done(())
                    }
                )
                queue.async(execute: DispatchWorkItem { hasBegun.signal() })
            }
        }
    }
}
