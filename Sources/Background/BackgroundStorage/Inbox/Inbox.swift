// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import PrivateStorage

/// What was read and not acted on yet, on the disk.
///
/// Each entry is a file of its own, `NAME.new` until its notification was shown and then `NAME.entry`. A file gets its name
/// when all of it is on the disk, and changes its name in one step. So at any time an entry is there once or not at all,
/// and one that ``add(_:)`` came back for is there whatever happens, until it is removed.
public struct Inbox<Store: FileStore>: Sendable {
    /// The most entries; of more the oldest are removed.
    public static var maximumEntries: Int { BackgroundReader.maximumEntries }

    /// What the inbox holds.
    public struct Content: Sendable, Hashable {
        /// The entries, the oldest first.
        public var entries: [InboxEntry]
        /// The names of files that are none of the inbox's, or damaged.
        public var damaged: [String]

        /// The entries whose files are damaged.
        public var damagedEntries: Set<InboxEntry.ID> { Set(damaged.compactMap { Inbox.parse($0)?.id }) }
    }

    private static var header: String { "nfc-inbox 1 " }
    private static var limit: Int { BackgroundReader.maximumMessageSize + 64 }

    let store: Store

    /// Opens an inbox.
    ///
    /// - Parameter store: its folder.
    public init(_ store: Store) {
        self.store = store
    }

    /// Puts right what an interrupted run left: removes files that were never finished. Only for the service.
    public func recover() throws(StorageError) {
        try store.removeUnfinished()
        try trim()
    }

    /// Reads everything.
    public func content() throws(StorageError) -> Content {
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
                // Removed by another process since its name was read.
                continue
            } catch  where [.tooLarge, .unsafe, .denied].contains(error.code) {
                content.damaged.append(name)
            }
        }
        content.entries.sort { $0.id < $1.id }
        return content
    }

    /// The names of the entries that are there.
    public func identifiers() throws(StorageError) -> Set<InboxEntry.ID> {
        Set(try store.names().compactMap { Self.parse($0)?.id })
    }

    /// Adds an entry. When this returns the entry is on the disk.
    public func add(_ entry: InboxEntry) throws(StorageError) {
        let header = Array("\(Self.header)\(entry.message.count)\n".utf8)
        try store.replace(Self.name(entry.id, isAnnounced: entry.isAnnounced), with: header + entry.message)
        try trim(keeping: entry.id)
    }

    /// Notes that the entry's notification was shown. One that is not there is no error.
    public func markAnnounced(_ id: InboxEntry.ID) throws(StorageError) {
        do throws(StorageError) {
            try store.rename(Self.name(id, isAnnounced: false), to: Self.name(id, isAnnounced: true))
        } catch  where error.code == .missing {
            return
        }
        try store.synchronize()
    }

    /// Removes an entry. One that is not there is no error.
    public func remove(_ id: InboxEntry.ID) throws(StorageError) {
        try unlink(id)
        try store.synchronize()
    }

    /// Removes an entry, which is on the disk once the names are synchronized.
    func unlink(_ id: InboxEntry.ID) throws(StorageError) {
        // Should something else have one of the names, such as a folder, the other goes all the same.
        let result = Result { () throws(StorageError) in try store.remove(Self.name(id, isAnnounced: false)) }
        try store.remove(Self.name(id, isAnnounced: true))
        try result.get()
    }

    /// Removes the oldest of too many entries.
    ///
    /// - Parameter added: one that stays, whatever its name says of its age.
    private func trim(keeping added: InboxEntry.ID? = nil) throws(StorageError) {
        var ids = try identifiers()
        let surplus = ids.count - Self.maximumEntries
        guard surplus > 0 else { return }
        if let added { ids.remove(added) }
        // One that can't be removed, such as a folder, keeps no other from being removed or added.
        for id in ids.sorted().prefix(surplus) { try? unlink(id) }
        try? store.synchronize()
    }

    /// Whether a name is that of an entry that is being written. Other files that end like it are none of the inbox's.
    private static func isUnfinished(_ name: String) -> Bool {
        name.hasSuffix(Store.unfinished) && parse(String(name.dropLast(Store.unfinished.count))) != nil
    }

    static func name(_ id: InboxEntry.ID, isAnnounced: Bool) -> String {
        "\(id)\(isAnnounced ? ".entry" : ".new")"
    }

    static func parse(_ name: String) -> (id: InboxEntry.ID, isAnnounced: Bool)? {
        let isAnnounced = name.hasSuffix(".entry")
        guard isAnnounced || name.hasSuffix(".new"), let id = InboxEntry.ID(String(name.dropLast(isAnnounced ? 6 : 4)))
        else {
            return nil
        }
        return (id, isAnnounced)
    }

    /// The message of a file; nil when it is not whole.
    private static func message(_ octets: [UInt8]) -> [UInt8]? {
        guard let end = octets.prefix(32).firstIndex(of: 0x0A), octets.starts(with: header.utf8),
            let count = Int(String(decoding: octets[header.utf8.count..<end], as: UTF8.self)),
            octets.count - end - 1 == count
        else {
            return nil
        }
        return Array(octets[(end + 1)...])
    }
}

extension Inbox where Store == DirectoryStore {
    /// Opens the inbox of a user: `nfc/inbox` in the folder for states.
    ///
    /// - Parameter folders: the user's folders.
    public init(of folders: UserFolders) throws(StorageError) {
        self.init(try DirectoryStore(Self.path(of: folders)))
    }

    /// The folder of a user's inbox.
    public static func path(of folders: UserFolders) -> String { folders.state + "/nfc/inbox" }

    /// Whether the inbox's folder is still the one at its path. What is put into another one nobody finds.
    public var isInPlace: Bool { store.isInPlace }
}
