// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
package import LinuxSupport

/// The messages on the disk that were read but not opened yet.
///
/// Each entry has its own file: `NAME.new` until its notification was shown, then `NAME.entry`. A file gets its name
/// once it is completely on the disk, and is renamed in one step. So at any time an entry exists once or not at all.
/// After ``add(_:)`` has returned, the entry exists until it is removed, even after a crash.
package struct Inbox<Store: FileStore>: Sendable {
    /// The maximum number of entries. If there are more, the oldest are removed.
    package static var maximumEntries: Int { BackgroundReader.maximumEntries }

    package struct Content: Sendable, Hashable {
        package var entries: [InboxEntry]
        /// The names of files that are damaged or don't belong to the inbox.
        package var damaged: [String]

        package var damagedEntries: Set<InboxEntry.ID> { Set(damaged.compactMap { Inbox.parse($0)?.id }) }
    }

    private static var header: String { "nfc-inbox 1 " }
    private static var limit: Int { BackgroundReader.maximumMessageSize + 64 }

    let store: Store

    package init(_ store: Store) {
        self.store = store
    }

    /// Removes files that an interrupted run left unfinished. Only the service may call this.
    package func recover() throws(StorageError) {
        try store.removeUnfinished()
        try trim()
    }

    package func content() throws(StorageError) -> Content {
        var content = Content(entries: [], damaged: [])
        var seen: Set<InboxEntry.ID> = []
        for name in try store.names() where !Self.isUnfinished(name) {
            guard let (id, isAnnounced) = Self.parse(name) else {
                content.damaged.append(name)
                continue
            }
            do throws(StorageError) {
                guard let message = Self.message(try store.read(name, limit: Self.limit)) else {
                    content.damaged.append(name)
                    continue
                }
                guard seen.insert(id).inserted else { continue }
                content.entries.append(InboxEntry(id: id, message: message, isAnnounced: isAnnounced))
            } catch  where error.code == .missing {
                // Another process has removed the file since the names were read.
                continue
            } catch  where [.tooLarge, .unsafe, .denied].contains(error.code) {
                content.damaged.append(name)
            }
        }
        content.entries.sort { $0.id < $1.id }
        return content
    }

    package func identifiers() throws(StorageError) -> Set<InboxEntry.ID> {
        Set(try store.names().compactMap { Self.parse($0)?.id })
    }

    /// Adds an entry. When this returns, the entry is on the disk.
    package func add(_ entry: InboxEntry) throws(StorageError) {
        let header = Array("\(Self.header)\(entry.message.count)\n".utf8)
        try store.replace(Self.name(entry.id, isAnnounced: entry.isAnnounced), with: header + entry.message)
        try trim(keeping: entry.id)
    }

    /// Marks the entry's notification as shown. A missing entry is not an error.
    package func markAnnounced(_ id: InboxEntry.ID) throws(StorageError) {
        do throws(StorageError) {
            try store.rename(Self.name(id, isAnnounced: false), to: Self.name(id, isAnnounced: true))
        } catch  where error.code == .missing {
            return
        }
        try store.synchronize()
    }

    /// Removes an entry. A missing entry is not an error.
    package func remove(_ id: InboxEntry.ID) throws(StorageError) {
        try unlink(id)
        try store.synchronize()
    }

    func unlink(_ id: InboxEntry.ID) throws(StorageError) {
        // If one of the two names belongs to something else, such as a folder, the other file is still removed.
        let result = Result { () throws(StorageError) in try store.remove(Self.name(id, isAnnounced: false)) }
        try store.remove(Self.name(id, isAnnounced: true))
        try result.get()
    }

    /// Removes the oldest entries when there are too many. The entry that was just added is kept, even if its name says
    /// that it is old.
    private func trim(keeping added: InboxEntry.ID? = nil) throws(StorageError) {
        var ids = try identifiers()
        let surplus = ids.count - Self.maximumEntries
        guard surplus > 0 else { return }
        if let added { ids.remove(added) }
        // An entry that can't be removed, such as a folder, must not prevent removing or adding other entries.
        for id in ids.sorted().prefix(surplus) { try? unlink(id) }
        try? store.synchronize()
    }

    /// Returns whether a file is an unfinished entry. Other files with this suffix don't belong to the inbox.
    private static func isUnfinished(_ name: String) -> Bool {
        name.hasSuffix(Store.unfinished) && parse(String(name.dropLast(Store.unfinished.count))) != nil
    }

    static func name(_ id: InboxEntry.ID, isAnnounced: Bool) -> String {
        "\(id)\(isAnnounced ? ".entry" : ".new")"
    }

    static func parse(_ name: String) -> (id: InboxEntry.ID, isAnnounced: Bool)? {
        let isAnnounced = name.hasSuffix(".entry")
        guard isAnnounced || name.hasSuffix(".new"), let id = InboxEntry.ID(String(name.dropLast(isAnnounced ? 6 : 4)))
        else { return nil }
        return (id, isAnnounced)
    }

    private static func message(_ bytes: [UInt8]) -> [UInt8]? {
        guard let end = bytes.prefix(32).firstIndex(of: 0x0A), bytes.starts(with: header.utf8),
            let count = Int(String(decoding: bytes[header.utf8.count..<end], as: UTF8.self)),
            bytes.count - end - 1 == count
        else { return nil }
        return Array(bytes[(end + 1)...])
    }
}

extension Inbox where Store == PrivateFolder {
    /// Opens the user's inbox: `nfc/inbox` in the state folder.
    package init(of folders: UserFolders) throws(StorageError) {
        self.init(try PrivateFolder(store: Self.path(in: folders)))
    }

    package static func path(in folders: UserFolders) -> String { folders.state + "/nfc/inbox" }

    /// Whether the inbox's folder is still at its path. Entries in another folder would never be found.
    package var isInPlace: Bool { store.isInPlace }
}

extension Inbox where Store == PrivateFolder {
    /// Claims an entry before it is opened, so that only one process opens it, and only once. Keep the claim until the
    /// entry is removed, or could not be opened. If the process is killed, the claim ends and the entry is kept.
    ///
    /// - Throws: `StorageError` with `inUse` when another process is opening the entry, or `missing` when the entry was
    ///   already opened or removed.
    package func claim(_ id: InboxEntry.ID) throws(StorageError) -> FileClaim {
        do throws(StorageError) {
            return try store.claim(Self.name(id, isAnnounced: false))
        } catch  where error.code == .missing {
            // A file is only ever renamed from the first name to this name, never back.
            return try store.claim(Self.name(id, isAnnounced: true))
        }
    }
}

extension Inbox {
    package struct Removal: Sendable, Hashable {
        package var entries = 0
        /// The number of removed files that were damaged or did not belong to the inbox.
        package var damaged = 0
        package var kept: [Kept] = []

        package init() {}
    }

    package struct Kept: Sendable, Hashable {
        package var name: String
        package var reason: String
    }

    /// Removes everything, including damaged files. A file that can't be removed, such as a folder with files, does not
    /// prevent removing the others. Throws when the inbox can't be read, or the changes can't be written to the disk.
    package func clear() throws(StorageError) -> Removal {
        let content = try content()
        var removal = Removal()
        for entry in content.entries { take(entry.id, &removal) }
        take(content.damaged, &removal)
        try store.synchronize()
        return removal
    }

    /// Removes the files that are damaged or don't belong to the inbox.
    package func removeDamaged() throws(StorageError) -> Removal {
        var removal = Removal()
        take(try content().damaged, &removal)
        try store.synchronize()
        return removal
    }

    /// Removes the given entries, including damaged entries. If one of them is not in the inbox, removes nothing and
    /// returns nil.
    package func remove(_ ids: Set<InboxEntry.ID>) throws(StorageError) -> Removal? {
        let content = try content()
        let whole = Set(content.entries.map(\.id))
        guard ids.isSubset(of: whole.union(content.damagedEntries)) else { return nil }
        var removal = Removal()
        for id in ids.sorted() where whole.contains(id) { take(id, &removal) }
        take(content.damaged.filter { name in Self.parse(name).map { ids.contains($0.id) } ?? false }, &removal)
        try store.synchronize()
        return removal
    }

    private func take(_ id: InboxEntry.ID, _ removal: inout Removal) {
        do throws(StorageError) {
            try unlink(id)
            removal.entries += 1
        } catch {
            removal.kept.append(Kept(name: id.description, reason: error.reason))
        }
    }

    private func take(_ names: [String], _ removal: inout Removal) {
        for name in names {
            do throws(StorageError) {
                try store.remove(name)
                removal.damaged += 1
            } catch {
                removal.kept.append(Kept(name: name, reason: error.reason))
            }
        }
    }
}
