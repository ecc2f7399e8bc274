// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs asynchronous code that never suspends, such as a procedure on a virtual field, and returns its result on the
/// same thread. If the code does suspend, the thread blocks.
func immediately<Value: Sendable, Failure: Error>(
    _ body: sending @escaping () async throws(Failure) -> Value
) throws(Failure) -> Value {
    let box = Locked<Result<Value, Failure>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.immediate {
        let result: Result<Value, Failure>
        do throws(Failure) {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        box.withLock { $0 = result }
        done.signal()
    }
    done.wait()
    guard let result = box.withLock({ $0 }) else { preconditionFailure("The task has set its result.") }
    return try result.get()
}
