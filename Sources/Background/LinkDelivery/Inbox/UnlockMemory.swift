// SPDX-License-Identifier: Apache-2.0
package import PrivateStorage

/// Stores whether the screen was unlocked since the system started.
package struct UnlockMemory<Store: FileStore>: Sendable {
    private static var name: String { "unlocked" }

    private let store: Store
    private let boot: String?
    /// Whether the screen was unlocked since the system started, in this run or in an earlier one.
    package private(set) var isRemembered: Bool

    /// Reads what an earlier run has stored.
    ///
    /// - Parameters:
    ///   - store: the folder.
    ///   - boot: an identifier of this system start; nil if there is none.
    package init(_ store: Store, boot: String?) {
        self.store = store
        self.boot = boot
        // mutate: equivalent, because the identifier of a system start has 36 characters.
        let limit = 256
        let known = (try? store.read(Self.name, limit: limit)).map { String(decoding: $0, as: UTF8.self) }
        isRemembered = boot != nil && known == boot
    }

    /// Remembers that the screen is unlocked.
    package mutating func remember() {
        guard !isRemembered else { return }
        isRemembered = true
        // If storing fails, the next unlock stores it again.
        if let boot { try? store.replace(Self.name, with: Array(boot.utf8)) }
    }
}
