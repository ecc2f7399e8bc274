// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
package import LinuxSupport

extension Inbox where Store == PrivateFolder {
    /// Claims an entry before it is opened. So only one process at a time opens it, and no process opens it a second
    /// time.
    ///
    /// Hold the claim until the entry is removed, or could not be opened. If the process is killed, the claim ends and
    /// the entry stays.
    ///
    /// - Parameter id: the entry.
    /// - Throws: `StorageError` with `inUse` when another process is opening it, or `missing` when it is not in the
    ///   inbox, because it was opened or removed.
    package func claim(_ id: InboxEntry.ID) throws(StorageError) -> FileClaim {
        do throws(StorageError) {
            return try store.claim(Self.name(id, isAnnounced: false))
        } catch  where error.code == .missing {
            // An entry's first name is only ever changed to this one, never back.
            return try store.claim(Self.name(id, isAnnounced: true))
        }
    }
}
