// SPDX-License-Identifier: Apache-2.0

/// A client's handler of a `Result`, which need not be Sendable.
///
/// Sendable because a handler is called once, on the session's queue, and by nobody else: what it holds is handed over
/// with it.
struct ResultHandler<Value>: @unchecked Sendable {
    private let handler: (Result<Value, any Error>) -> Void

    init(_ handler: @escaping (Result<Value, any Error>) -> Void) {
        self.handler = handler
    }

    /// Calls the handler as a completion handler that is given a value and an error or nil.
    func call(_ value: @autoclosure () -> Value, _ error: (any Error)?) {
        if let error {
            handler(.failure(error))
        } else {
            handler(.success(value()))
        }
    }
}

/// A client's handler of an error, which need not be Sendable.
///
/// Sendable for the same reason as ``ResultHandler``.
struct ErrorHandler: @unchecked Sendable {
    private let handler: ((any Error)?) -> Void

    init(_ handler: @escaping ((any Error)?) -> Void) {
        self.handler = handler
    }

    func call(_ error: (any Error)?) {
        handler(error)
    }
}
