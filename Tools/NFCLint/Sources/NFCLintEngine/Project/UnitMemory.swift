// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Caches results about a target that several rules share, so that each is computed once.
public final class UnitMemory: @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by `lock`.
    private var values: [String: any Sendable] = [:]

    init() {}

    /// The value of a key, created if missing. If two rules need it at the same moment, both create it.
    public func value<Value: Sendable>(_ key: String, make: () -> Value) -> Value {
        lock.lock()
        let cached = values[key] as? Value
        lock.unlock()
        if let cached { return cached }
        let made = make()
        lock.lock()
        defer { lock.unlock() }
        values[key] = made
        return made
    }
}
