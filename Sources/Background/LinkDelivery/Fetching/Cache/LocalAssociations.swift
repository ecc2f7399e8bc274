// SPDX-License-Identifier: Apache-2.0
package import LinuxSupport
import UniversalLinks

/// Association files that a developer added on this machine. Each replaces the file of a domain's site, so that an app
/// can be tried before its site exists.
package struct LocalAssociations<Store: FileStore>: Sendable {
    private static var suffix: String { ".association" }

    private let store: Store

    /// Opens the files.
    ///
    /// - Parameter store: their folder.
    package init(_ store: Store) { self.store = store }

    /// The domains that have a local file, sorted.
    package var domains: [String] {
        ((try? store.names()) ?? []).filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }
            .filter { Self.name($0) != nil }
    }

    /// Returns the file of a domain; nil when there is none, or it can't be read.
    ///
    /// - Parameter domain: the domain, in ASCII.
    package func file(of domain: String) -> [UInt8]? {
        Self.name(domain).flatMap { try? store.read($0, limit: AssociationFile.maximumSize) }
    }

    /// Adds or replaces the file of a domain.
    ///
    /// - Parameters:
    ///   - file: the file. It is not checked; if it is invalid, it has no effect on links.
    ///   - domain: the domain, in ASCII.
    /// - Throws: `StorageError` when the domain is not a host name, or the disk fails.
    package func add(_ file: [UInt8], for domain: String) throws(StorageError) {
        guard let name = Self.name(domain) else {
            throw StorageError(.denied, "'\(domain)' is no domain. Give a name such as example.org.")
        }
        try store.replace(name, with: file)
    }

    /// Removes the file of a domain. Then the site's file is used again.
    ///
    /// - Returns: false when there was none.
    /// - Throws: `StorageError` when the disk fails.
    package func remove(_ domain: String) throws(StorageError) -> Bool {
        guard let name = Self.name(domain), domains.contains(domain) else { return false }
        try store.remove(name)
        return true
    }

    private static func name(_ domain: String) -> String? {
        let name = domain + suffix
        // A file's name has 255 bytes at most (NAME_MAX), also while the file is being written.
        guard HostName.ascii(domain) == domain, (name + Store.unfinished).utf8.count <= 255 else { return nil }
        return name
    }
}

extension LocalAssociations where Store == PrivateFolder {
    /// Opens the user's files: `nfc/links` in the configuration folder.
    ///
    /// - Parameter folders: the user's folders.
    /// - Returns: nil when there is no such folder, or it can't be opened.
    package init?(of folders: UserFolders) {
        guard let store = try? PrivateFolder(store: Self.path(folders), creates: false) else { return nil }
        self.init(store)
    }

    /// Opens the user's files, and creates their folder if it is missing.
    ///
    /// - Parameter folders: the user's folders.
    /// - Throws: `StorageError` when the folder can't be created.
    package init(making folders: UserFolders) throws(StorageError) {
        self.init(try PrivateFolder(store: Self.path(folders)))
    }

    private static func path(_ folders: UserFolders) -> String { folders.config + "/nfc/links" }
}
