// SPDX-License-Identifier: Apache-2.0

/// A value that one thread hands to another: to the session's queue, or to a task that waits.
///
/// Sessions, tags, messages and answers are not `Sendable`, as in Apple's SDK, so that clients can subclass them, write
/// tags of their own, and say themselves what they share. The framework hands them over nevertheless. That is safe: what
/// changes in its own classes is locked, and an answer is made by one thread and used by the one that it is given to.
struct HandedOver<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
