// SPDX-License-Identifier: Apache-2.0

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
