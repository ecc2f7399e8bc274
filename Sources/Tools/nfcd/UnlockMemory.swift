// SPDX-License-Identifier: Apache-2.0
import Glibc
import PrivateStorage

/// Stores whether the screen was unlocked since the system started.
final class UnlockMemory {
    private static let name = "unlocked"

    private let store: DirectoryStore
    private let boot: String?
    private(set) var isRemembered: Bool

    init(_ store: DirectoryStore) {
        self.store = store
        boot = SystemFiles.boot
        let known = (try? store.read(Self.name, limit: 256)).map { String(decoding: $0, as: UTF8.self) }
        isRemembered = boot != nil && known == boot
    }

    func remember() {
        guard !isRemembered else { return }
        isRemembered = true
        // If storing fails, the next unlock stores it again.
        if let boot { try? store.replace(Self.name, with: Array(boot.utf8)) }
    }
}
