// SPDX-License-Identifier: Apache-2.0
package import LinuxSupport

/// Stores whether the screen was unlocked since the system started.
package struct UnlockHistory<Store: FileStore>: Sendable {
    private static var name: String { "unlocked" }

    private let store: Store
    private let boot: String?
    /// Whether the screen was unlocked since the system started, in this run or in an earlier one.
    package private(set) var isRemembered: Bool
    private var isStored: Bool

    /// Reads what an earlier run has stored.
    ///
    /// - Parameters:
    ///   - store: the folder.
    ///   - boot: an identifier of this system start; nil if there is none.
    package init(_ store: Store, boot: String?) {
        self.store = store
        self.boot = boot
        let limit = 256
        let known = (try? store.read(Self.name, limit: limit)).map { String(decoding: $0, as: UTF8.self) }
        isStored = boot != nil && known == boot
        isRemembered = isStored
    }

    /// Remembers that the screen is unlocked.
    package mutating func remember() {
        isRemembered = true
        guard !isStored, let boot else { return }
        // If storing fails, the next call stores it again.
        isStored = (try? store.replace(Self.name, with: Array(boot.utf8))) != nil
    }
}
