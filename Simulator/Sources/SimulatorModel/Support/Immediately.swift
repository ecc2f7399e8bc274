// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs code that is declared as asynchronous but has nothing to wait for, such as a procedure over a virtual field, and returns
/// its result on the same thread. Should it wait anyway, the thread waits with it.
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
