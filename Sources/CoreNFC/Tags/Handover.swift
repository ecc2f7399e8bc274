// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Takes what a completion handler is given to the task that waits for it.
///
/// The value goes through a lock besides the continuation: ThreadSanitizer does not see that a task resumes after its
/// continuation was resumed, and would report every object that an app is handed as a race.
struct Handover<Value: Sendable>: Sendable {
    private let box: Locked<Result<Value, any Error>?>
    private let continuation: CheckedContinuation<Void, Never>

    fileprivate init(_ box: Locked<Result<Value, any Error>?>, _ continuation: CheckedContinuation<Void, Never>) {
        self.box = box
        self.continuation = continuation
    }

    private func resume(_ result: Result<Value, any Error>) {
        box.withLock { $0 = result }
        continuation.resume()
    }

    func resume(returning value: Value) {
        resume(.success(value))
    }

    func resume(throwing error: any Error) {
        resume(.failure(error))
    }

    /// Resumes as a completion handler that is given a value and an error or nil.
    func resume(with value: Value, _ error: (any Error)?) {
        if let error {
            resume(throwing: error)
        } else {
            resume(returning: value)
        }
    }

    /// Resumes as a completion handler that is given an error or nil.
    func resume(with error: (any Error)?) where Value == Void {
        resume(with: (), error)
    }
}

/// Waits for a completion handler.
///
/// - Parameter start: starts the operation; its completion handler resumes the handover exactly once.
/// - Returns: what the handover was resumed with.
/// - Throws: the error that the handover was resumed with.
func handedOver<Value: Sendable>(_ start: (Handover<Value>) -> Void) async throws -> Value {
    let box = Locked<Result<Value, any Error>?>(nil)
    await withCheckedContinuation { continuation in
        start(Handover(box, continuation))
    }
    guard let result = box.withLock({ $0.take() }) else {
        // It was resumed, and only a result resumes it.
        throw NFCReaderError(.readerTransceiveErrorSessionInvalidated)
    }
    return try result.get()
}
