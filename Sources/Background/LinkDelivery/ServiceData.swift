// SPDX-License-Identifier: Apache-2.0
import Glibc
package import LinuxSupport

/// The data that the service has stored for a user: the inbox, its marks, association files, and the choices for
/// domains.
package struct ServiceData: Sendable, Hashable {
    /// A file or a folder with data.
    package struct Item: Sendable, Hashable {
        /// The path.
        package var path: String
        /// A description of the content, for people.
        package var content: String
        /// The number of files in it; 1 for a file.
        package var count: Int
    }

    /// The existing files and folders.
    package let items: [Item]
    private let folders: UserFolders

    /// Looks for the data.
    ///
    /// - Parameter folders: the user's folders.
    package init(_ folders: UserFolders) {
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

    /// Removes all of it. If one of the paths is a symbolic link, only the link is removed.
    ///
    /// - Returns: the removed items.
    /// - Throws: `StorageError`. Then the items before the failed one in ``items`` are already removed.
    package func remove() throws(StorageError) -> [Item] {
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
        // The parent folders may contain data of other programs.
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
