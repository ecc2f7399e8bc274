// SPDX-License-Identifier: Apache-2.0
import Glibc
public import PrivateStorage
import SystemLibrary

/// What the service has kept for a user: the inbox, what it remembers, association files, and the choices for domains.
public struct ServiceData: Sendable, Hashable {
    /// A file or a folder of it.
    public struct Item: Sendable, Hashable {
        /// The path.
        public var path: String
        /// What it is, for people.
        public var content: String
        /// How many files it has; 1 for a file.
        public var count: Int
    }

    /// What there is.
    public let items: [Item]
    private let folders: UserFolders

    /// Looks for it.
    ///
    /// - Parameter folders: the user's folders.
    public init(_ folders: UserFolders) {
        self.folders = folders
        let known = [
            (folders.state + "/nfc/inbox", "the inbox"),
            (folders.state + "/nfc/background", "what the service remembers"),
            (folders.cache + "/nfc/links", "the association files of apps' domains"),
            (folders.config + "/nfc/links", "the association files that were added on this machine"),
            (folders.config + "/nfc/browser-domains", "the domains whose links open in the browser"),
        ]
        items = known.compactMap { path, content in
            Self.names(path).map { Item(path: path, content: content, count: $0?.count ?? 1) }
        }
    }

    /// Removes all of it. A symbolic link in its place is removed, and what it leads to stays.
    ///
    /// - Returns: what went.
    /// - Throws: ``PrivateStorage/StorageError``; what stood before it in ``items`` is gone then.
    public func remove() throws(StorageError) -> [Item] {
        for item in items {
            for name in (Self.names(item.path) ?? nil) ?? [] {
                let file = "\(item.path)/\(name)"
                guard unsafe unlink(file) == 0 || errno == ENOENT else {
                    throw .system("\(file) can't be removed")
                }
            }
            guard unsafe Glibc.remove(item.path) == 0 || errno == ENOENT else {
                throw .system("\(item.path) can't be removed")
            }
        }
        // The folders around it may have something of others.
        for folder in [folders.state, folders.cache, folders.config] { unsafe rmdir(folder + "/nfc") }
        return items
    }

    /// The names in a folder; nil inside for what is no folder, and nil when nothing is there.
    private static func names(_ path: String) -> [String]?? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return .none }
        return .some(status.st_mode & S_IFMT == S_IFDIR ? FolderNames.read(path) : nil)
    }
}
