// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
package import LinuxSupport

/// Removing entries and damaged files.
extension Inbox {
    /// The result of a removal.
    package struct Removal: Sendable, Hashable {
        /// The number of removed entries.
        package var entries = 0
        /// The number of removed files that were damaged or did not belong to the inbox.
        package var damaged = 0
        /// The files that could not be removed, with the reasons.
        package var kept: [Kept] = []

        /// Creates the result of a removal without any files.
        package init() {}
    }

    /// A file that could not be removed.
    package struct Kept: Sendable, Hashable {
        /// Its name in the inbox's folder.
        package var name: String
        /// Why it could not be removed, as a sentence.
        package var reason: String
    }

    /// Removes everything, including damaged files. A file that can't be removed, such as a folder with files, does not
    /// stop the removal of the others.
    ///
    /// - Throws: `StorageError` when the inbox can't be read, or the changes can't be written to the disk.
    package func clear() throws(StorageError) -> Removal {
        let content = try content()
        var removal = Removal()
        for entry in content.entries { take(entry.id, &removal) }
        take(content.damaged, &removal)
        try store.synchronize()
        return removal
    }

    /// Removes the files that are damaged or don't belong to the inbox.
    ///
    /// - Throws: `StorageError`, like ``clear()``.
    package func removeDamaged() throws(StorageError) -> Removal {
        var removal = Removal()
        take(try content().damaged, &removal)
        try store.synchronize()
        return removal
    }

    /// Removes the given entries, including damaged ones.
    ///
    /// - Returns: nil when one of them is not in the inbox. Then nothing is removed.
    /// - Throws: `StorageError`, like ``clear()``.
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
