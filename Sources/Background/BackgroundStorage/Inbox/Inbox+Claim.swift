// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import PrivateStorage

extension Inbox where Store == DirectoryStore {
    /// Claims an entry before it is opened, so that one process at a time opens it and none after that.
    ///
    /// Hold the claim until the entry is removed, or could not be opened. When the process is killed the claim is gone, and
    /// the entry stays.
    ///
    /// - Parameter id: the entry.
    /// - Throws: ``PrivateStorage/StorageError``, of code `inUse` when it is being opened already, and `missing` when the
    ///   inbox lacks it, since it was opened or removed.
    public func claim(_ id: InboxEntry.ID) throws(StorageError) -> FileClaim {
        do throws(StorageError) {
            return try store.claim(Self.name(id, isAnnounced: false))
        } catch  where error.code == .missing {
            // The first name becomes this one, and never the other way round.
            return try store.claim(Self.name(id, isAnnounced: true))
        }
    }
}
