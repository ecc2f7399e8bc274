// SPDX-License-Identifier: Apache-2.0

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
