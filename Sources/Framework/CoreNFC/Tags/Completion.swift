// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A value that one thread hands to another: to the session's queue, or to a waiting task.
///
/// Sessions, tags, messages and answers are not `Sendable`, as in Apple's SDK. So clients can subclass them, write
/// their own tags, and declare themselves what they share. The framework hands them over nevertheless. That is safe:
/// its own classes lock what changes, and only the receiving thread uses an answer after the thread that made it.
struct UncheckedSendableBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

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
    let result: UncheckedSendableBox<Result<Value, any Error>> = await TagLink.withCompletion {
        start(Handover(complete: $0))
    }
    return try result.value.get()
}

/// A client's handler of a `Result`.
struct ResultHandler<Value>: Sendable {
    private let handler: @Sendable (Result<Value, any Error>) -> Void

    init(_ handler: @escaping @Sendable (Result<Value, any Error>) -> Void) {
        self.handler = handler
    }

    /// Calls the handler with the arguments of a completion handler: a value and an optional error.
    func call(_ value: @autoclosure () -> Value, _ error: (any Error)?) {
        if let error {
            handler(.failure(error))
        } else {
            handler(.success(value()))
        }
    }
}

/// A weak reference that can be kept in a Sendable class.
///
/// Sendable because the reference is set once and Swift reads weak references atomically; what it refers to is only
/// used on the session's queue.
final class WeakBox: @unchecked Sendable {
    weak let object: AnyObject?

    init(_ object: AnyObject?) {
        self.object = object
    }
}
