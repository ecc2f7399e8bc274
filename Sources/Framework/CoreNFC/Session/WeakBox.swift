// SPDX-License-Identifier: Apache-2.0

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
