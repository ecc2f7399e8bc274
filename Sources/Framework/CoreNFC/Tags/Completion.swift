// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Transfers a value to another thread: to the session's queue, or to a waiting task.
///
/// Sessions, tags, messages and answers are not `Sendable`, as in Apple's SDK, so that clients can subclass them, write
/// their own tag classes, and declare `Sendable` conformances. The transfer is still safe, because the framework's
/// classes lock their mutable state, and only the receiving thread uses an answer afterwards.
struct UncheckedSendableBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// A weak reference that can be stored in a Sendable class.
///
/// Sendable because the reference is set once, Swift reads weak references atomically, and the object is only used on
/// the session's queue.
final class WeakBox: @unchecked Sendable {
    weak let object: AnyObject?

    init(_ object: AnyObject?) { self.object = object }
}

extension Result where Failure == any Error {
    init(_ value: Success, _ error: (any Error)?) {
        self = error.map { .failure($0) } ?? .success(value)
    }
}

// MARK: The asynchronous form of a command

private typealias Reply<Value> = UncheckedSendableBox<Result<Value, any Error>>

/// Waits for a command that ends with a result.
///
/// - Parameter start: starts the command with the given handler, which the command calls exactly once.
func withResult<Value>(
    _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
) async throws -> Value {
    let reply: Reply<Value> = await TagLink.withCompletion { done in start { done(Reply($0)) } }
    return try reply.value.get()
}

/// Waits for a command that ends with an optional error. The next functions wait for commands that also return values.
func withCompletion(_ start: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
    let reply: Reply<Void> = await TagLink.withCompletion { done in start { done(Reply(Result((), $0))) } }
    try reply.value.get()
}

func withCompletion<A>(_ start: (@escaping @Sendable (A, (any Error)?) -> Void) -> Void) async throws -> A {
    let reply: Reply<A> = await TagLink.withCompletion { done in start { done(Reply(Result($0, $1))) } }
    return try reply.value.get()
}

func withCompletion<A, B>(_ start: (@escaping @Sendable (A, B, (any Error)?) -> Void) -> Void) async throws -> (A, B) {
    let reply: Reply<(A, B)> = await TagLink.withCompletion { done in start { done(Reply(Result(($0, $1), $2))) } }
    return try reply.value.get()
}

func withCompletion<A, B, C>(
    _ start: (@escaping @Sendable (A, B, C, (any Error)?) -> Void) -> Void
) async throws -> (A, B, C) {
    let reply: Reply<(A, B, C)> = await TagLink.withCompletion { done in start { done(Reply(Result(($0, $1, $2), $3))) }
    }
    return try reply.value.get()
}

func withCompletion<A, B, C, D>(
    _ start: (@escaping @Sendable (A, B, C, D, (any Error)?) -> Void) -> Void
) async throws -> (A, B, C, D) {
    let reply: Reply<(A, B, C, D)> = await TagLink.withCompletion { done in
        start { done(Reply(Result(($0, $1, $2, $3), $4))) }
    }
    return try reply.value.get()
}

func withCompletion<A, B, C, D, E>(
    _ start: (@escaping @Sendable (A, B, C, D, E, (any Error)?) -> Void) -> Void
) async throws -> (A, B, C, D, E) {
    let reply: Reply<(A, B, C, D, E)> = await TagLink.withCompletion { done in
        start { done(Reply(Result(($0, $1, $2, $3, $4), $5))) }
    }
    return try reply.value.get()
}
