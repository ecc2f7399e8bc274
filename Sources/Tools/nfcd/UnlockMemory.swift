// SPDX-License-Identifier: Apache-2.0
import Glibc
import PrivateStorage
import SystemLibrary

/// Remembers that the screen was unlocked since the system started.
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
        // What can't be kept is learned again at the next unlock.
        if let boot { try? store.replace(Self.name, with: Array(boot.utf8)) }
    }
}

/// Where a test lets the service die, to see what is left: `NFC_DIE_AT` names one step of an arrival.
enum Step {
    #if DEBUG
        private static let fatal = EnvironmentVariable.value("NFC_DIE_AT")

        static func reached(_ step: String) {
            if step == fatal { kill(getpid(), SIGKILL) }
        }
    #else
        static func reached(_: String) {}
    #endif
}
