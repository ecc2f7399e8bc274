// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Passes a completion handler's arguments to the task that waits for them.
struct Handover<Value>: Sendable {
    fileprivate let complete: @Sendable (UncheckedSendableBox<Result<Value, any Error>>) -> Void

    func resume(returning value: Value) {
        complete(UncheckedSendableBox(.success(value)))
    }

    func resume(throwing error: any Error) {
        complete(UncheckedSendableBox(.failure(error)))
    }

    /// Resumes like a completion handler that receives a value and an optional error.
    func resume(with value: Value, _ error: (any Error)?) {
        if let error {
            resume(throwing: error)
        } else {
            resume(returning: value)
        }
    }

    /// Resumes like a completion handler that receives an optional error.
    func resume(with error: (any Error)?) where Value == Void {
        resume(with: (), error)
    }
}

/// Waits for a completion handler.
///
/// - Parameter start: starts the operation; its completion handler resumes the handover exactly once.
/// - Returns: what the handover was resumed with.
/// - Throws: the error that the handover was resumed with.
func withCompletion<Value>(_ start: (Handover<Value>) -> Void) async throws -> Value {
    let result: UncheckedSendableBox<Result<Value, any Error>> = await TagLink.withCompletion { start(Handover(complete: $0)) }
    return try result.value.get()
}
