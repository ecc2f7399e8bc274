// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import Glibc
package import LinuxSupport

package struct ServiceData: Sendable, Hashable {
    package struct Item: Sendable, Hashable {
        package var path: String
        package var content: String
        /// The number of files in a folder; 1 for a file.
        package var count: Int
    }

    package let items: [Item]
    private let folders: UserFolders

    package init(_ folders: UserFolders) {
        self.folders = folders
        let locations = [
            (folders.state + "/nfc/inbox", "the inbox"),
            (folders.state + "/nfc/background", "the state of the service"),
            (folders.cache + "/nfc/links", "the association files of apps' domains"),
            (folders.config + "/nfc/links", "the association files that were added on this machine"),
            (folders.config + "/nfc/browser-domains", "the domains whose links open in the browser"),
        ]
        items = locations.compactMap { path, content in
            Self.names(path).map { Item(path: path, content: content, count: $0?.count ?? 1) }
        }
    }

    /// Removes all items. If an item is a symbolic link, only the link is removed. If this throws, the items before the
    /// failed item are already removed.
    package func remove() throws(StorageError) -> [Item] {
        for item in items {
            for name in (Self.names(item.path) ?? nil) ?? [] {
                let file = "\(item.path)/\(name)"
                guard unsafe unlink(file) == 0 || errno == ENOENT else { throw .system("\(file) can't be removed") }
            }
            guard unsafe Glibc.remove(item.path) == 0 || errno == ENOENT else {
                throw .system("\(item.path) can't be removed")
            }
        }
        // The parent folders may contain data from other programs, so only empty folders are removed.
        for folder in [folders.state, folders.cache, folders.config] { unsafe rmdir(folder + "/nfc") }
        return items
    }

    /// Returns the names in a folder; the inner nil if it is not a folder, the outer nil if it does not exist.
    private static func names(_ path: String) -> [String]?? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return .none }
        return .some(status.st_mode & S_IFMT == S_IFDIR ? FolderNames.read(path) : nil)
    }
}

/// The flags that the service stores for entries: whether the user wants to open the entry after unlocking the screen,
/// and whether the user has dismissed it.
///
/// The first kind is only valid until the system restarts, so that yesterday's link does not open today.
package struct DeliveryFlags<Store: FileStore>: Sendable {
    private static var name: String { "marks" }
    /// A line has fewer than 100 bytes.
    private static var limit: Int { 100 * BackgroundReader.maximumEntries }

    private var store: Store
    private let boot: String
    package private(set) var marks: [InboxEntry.ID: DeliveryFlag]
    /// Whether the flags on the disk are up to date. If not, the next call writes them, even if it changes nothing.
    private var isSaved = true

    /// Reads the flags. A damaged file counts as empty.
    ///
    /// - Parameter boot: an identifier of this start of the system, without spaces; nil if unknown.
    package init(_ store: Store, boot: String?) {
        self.store = store
        self.boot = boot ?? "-"
        marks = [:]
        let text = String(decoding: (try? store.read(Self.name, limit: Self.limit)) ?? [], as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let id = InboxEntry.ID(words[0]), let mark = DeliveryFlag(rawValue: words[1]),
                mark != .wanted || words[2] == self.boot
            else { continue }
            marks[id] = mark
        }
    }

    /// Replaces the entry's flag; nil removes it. When this returns, the change is on the disk.
    package mutating func keep(_ mark: DeliveryFlag?, of id: InboxEntry.ID) throws(StorageError) {
        guard marks[id] != mark || !isSaved else { return }
        marks[id] = mark
        try write()
    }

    package mutating func keepOnly(_ entries: Set<InboxEntry.ID>) throws(StorageError) {
        let remainingMarks = marks.filter { entries.contains($0.key) }
        guard remainingMarks.count < marks.count || !isSaved else { return }
        marks = remainingMarks
        try write()
    }

    /// Writes the flags to another folder, and uses that folder from now on.
    package mutating func move(to store: Store) throws(StorageError) {
        self.store = store
        if !marks.isEmpty { try write() }
    }

    private mutating func write() throws(StorageError) {
        isSaved = false
        let lines = marks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.rawValue) \(boot)\n" }
        try store.replace(Self.name, with: Array(lines.joined().utf8))
        isSaved = true
    }
}

/// Stores whether the screen was unlocked since the system started.
package struct UnlockHistory<Store: FileStore>: Sendable {
    private static var name: String { "unlocked" }

    private let store: Store
    private let boot: String?
    package private(set) var isRemembered: Bool
    private var isStored: Bool

    /// - Parameter boot: an identifier of this start of the system; nil if unknown.
    package init(_ store: Store, boot: String?) {
        self.store = store
        self.boot = boot
        let limit = 256
        let storedBoot = (try? store.read(Self.name, limit: limit)).map { String(decoding: $0, as: UTF8.self) }
        isStored = boot != nil && storedBoot == boot
        isRemembered = isStored
    }

    package mutating func remember() {
        isRemembered = true
        guard !isStored, let boot else { return }
        // If storing fails, the next call tries again.
        isStored = (try? store.replace(Self.name, with: Array(boot.utf8))) != nil
    }
}
