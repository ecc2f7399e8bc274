// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Keeps what happened, in order.
final class Notes: @unchecked Sendable {
    // Sendable because of the lock.
    private let lock = NSLock()
    private var list: [Int] = []

    var all: [Int] { lock.withLock { list } }

    func add(_ note: Int) { lock.withLock { list.append(note) } }
}
