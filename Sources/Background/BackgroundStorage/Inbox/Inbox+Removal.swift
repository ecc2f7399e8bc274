// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import PrivateStorage

/// Removing what a person no longer wants.
extension Inbox {
    /// What was removed, and what could not be.
    public struct Removal: Sendable, Hashable {
        /// How many entries were removed.
        public var entries = 0
        /// How many damaged files were removed, and files that are none of the inbox's.
        public var damaged = 0
        /// The files that are still there, each with the reason.
        public var kept: [Kept] = []

        /// Creates the result of removing nothing.
        public init() {}
    }

    /// A file that could not be removed.
    public struct Kept: Sendable, Hashable {
        /// Its name in the inbox's folder.
        public var name: String
        /// Why it is still there, as a sentence.
        public var reason: String
    }

    /// Removes everything, damaged files too. What can't be removed, such as a folder with files, does not stop the rest.
    ///
    /// - Throws: ``PrivateStorage/StorageError`` when the inbox can't be read, or what was done does not reach the disk.
    public func clear() throws(StorageError) -> Removal {
        let content = try content()
        var removal = Removal()
        for entry in content.entries { take(entry.id, &removal) }
        take(content.damaged, &removal)
        try store.synchronize()
        return removal
    }

    /// Removes the files that are damaged, or none of the inbox's.
    ///
    /// - Throws: ``PrivateStorage/StorageError``, as ``clear()``.
    public func removeDamaged() throws(StorageError) -> Removal {
        var removal = Removal()
        take(try content().damaged, &removal)
        try store.synchronize()
        return removal
    }

    /// Removes the given entries, whether they are damaged or not.
    ///
    /// - Returns: nil when the inbox lacks one of them; then nothing is removed.
    /// - Throws: ``PrivateStorage/StorageError``, as ``clear()``.
    public func remove(_ ids: Set<InboxEntry.ID>) throws(StorageError) -> Removal? {
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
