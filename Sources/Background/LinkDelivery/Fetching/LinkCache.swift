// SPDX-License-Identifier: Apache-2.0
import Foundation
package import LinuxSupport
package import UniversalLinks

/// The association files on the disk, for the domains that installed apps list. A file that was added on this machine
/// replaces the site's file (``LocalAssociations``).
package struct LinkCache<Store: FileStore>: Sendable {
    private static var suffix: String { ".links" }
    private static var limit: Int { AssociationFile.maximumSize + 4096 }

    private let store: Store
    private let local: LocalAssociations<Store>?

    package init(_ store: Store, local: LocalAssociations<Store>? = nil) {
        self.store = store
        self.local = local
    }

    /// Returns the entry of a domain; nil when it is missing or damaged.
    package func association(of domain: String) -> CachedAssociation? {
        if let file = local?.file(of: domain) { return CachedAssociation(domain: domain, local: file) }
        guard let name = Self.name(domain), let bytes = try? store.read(name, limit: Self.limit) else { return nil }
        return CachedAssociation(domain: domain, bytes: bytes)
    }

    /// Returns the compiled files by domain, without missing and invalid files. Unchanged files in `compiled` are
    /// reused.
    package func matchers(
        of domains: some Sequence<String>,
        compiled: CompiledAssociations = CompiledAssociations()
    ) -> [String: LinkMatcher] {
        var files: [String: [UInt8]] = [:]
        for domain in domains where files[domain] == nil { files[domain] = association(of: domain)?.file }
        return compiled.matchers(of: files)
    }

    /// Asks the sites whose files are due, and deletes the files of domains that are not listed.
    ///
    /// - Parameters:
    ///   - domains: the domains that installed apps list. No other domain is asked.
    ///   - asked: the domains to ask; nil for all.
    ///   - isForced: whether to ask sites whose files are not due. Sites with a local file are still not asked.
    ///   - retriesFailures: whether to ask sites that failed before they are due, for example when the network is back.
    ///   - fetch: asks a site, like ``AssociationFetcher/fetch(_:)``.
    /// - Returns: the current entries of the domains in `asked`, in the order of the domains.
    package func refresh(
        _ domains: [String],
        asking asked: [String]? = nil,
        now: Int64,
        isForced: Bool = false,
        retriesFailures: Bool = false,
        fetch: (String) async throws(FetchError) -> [UInt8]
    ) async throws(StorageError) -> [CachedAssociation] {
        try prune(keeping: domains)
        var result: [CachedAssociation] = []
        for domain in domains where asked?.contains(domain) ?? true {
            let existing = association(of: domain)
            let isWanted = isForced || (retriesFailures && existing?.failure != nil)
            if let existing, existing.isLocal || !(isWanted || existing.isDue(at: now)) {
                result.append(existing)
                continue
            }
            var association = existing ?? CachedAssociation(domain: domain, asked: now)
            do throws(FetchError) {
                association.take(.success(try await fetch(domain)), at: now)
            } catch {
                association.take(.failure(error), at: now)
            }
            if let name = Self.name(domain) { try store.replace(name, with: association.bytes) }
            result.append(association)
        }
        return result
    }

    private func prune(keeping domains: [String]) throws(StorageError) {
        let currentNames = Set(domains.compactMap(Self.name))
        // Skips entries that can't be removed, such as a folder with files. They do no harm.
        for name in try store.names() where !currentNames.contains(name) { try? store.remove(name) }
    }

    /// Returns the name of a domain's file; nil if the domain is not ASCII, or is too long for a file name.
    private static func name(_ domain: String) -> String? {
        guard HostName.ascii(domain) == domain, domain.utf8.count <= 240 else { return nil }
        return domain + suffix
    }
}

extension LinkCache where Store == PrivateFolder {
    /// Opens the user's cache: `nfc/links` in the cache folder.
    package init(of folders: UserFolders) throws(StorageError) {
        self.init(try PrivateFolder(store: folders.cache + "/nfc/links"), local: LocalAssociations(of: folders))
    }
}

/// Association files that a developer added on this machine. Each replaces the file from the domain's site, so that an
/// app can be tried before its site exists.
package struct LocalAssociations<Store: FileStore>: Sendable {
    private static var suffix: String { ".association" }

    private let store: Store

    package init(_ store: Store) { self.store = store }

    /// The domains with a local file, sorted.
    package var domains: [String] {
        ((try? store.names()) ?? []).filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }
            .filter { Self.name($0) != nil }
    }

    /// Returns the file of a domain in ASCII; nil when it is missing or can't be read.
    package func file(of domain: String) -> [UInt8]? {
        Self.name(domain).flatMap { try? store.read($0, limit: AssociationFile.maximumSize) }
    }

    /// Adds or replaces the file of a domain in ASCII. The file is not checked. An invalid file has no effect on links.
    package func add(_ file: [UInt8], for domain: String) throws(StorageError) {
        guard let name = Self.name(domain) else {
            throw StorageError(.denied, "'\(domain)' is not a domain. Give a name such as example.org.")
        }
        try store.replace(name, with: file)
    }

    /// Removes the file of a domain, so that the site's file is used again. Returns false if there was no file.
    package func remove(_ domain: String) throws(StorageError) -> Bool {
        guard let name = Self.name(domain), domains.contains(domain) else { return false }
        try store.remove(name)
        return true
    }

    private static func name(_ domain: String) -> String? {
        let name = domain + suffix
        // A file name has at most 255 bytes (NAME_MAX), even while the file is being written.
        guard HostName.ascii(domain) == domain, (name + Store.unfinished).utf8.count <= 255 else { return nil }
        return name
    }
}

extension LocalAssociations where Store == PrivateFolder {
    /// Opens the user's files: `nfc/links` in the configuration folder. Nil when the folder is missing or can't be
    /// opened.
    package init?(of folders: UserFolders) {
        guard let store = try? PrivateFolder(Self.path(folders), creates: false) else { return nil }
        self.init(store)
    }

    /// Opens the user's files, and creates their folder if it is missing.
    package init(making folders: UserFolders) throws(StorageError) {
        self.init(try PrivateFolder(Self.path(folders)))
    }

    private static func path(_ folders: UserFolders) -> String { folders.config + "/nfc/links" }
}

/// Compiled association files by domain. A file is compiled only when it is new or its bytes have changed.
///
/// Share one instance per process. Any thread may use it.
package final class CompiledAssociations: @unchecked Sendable {
    // Sendable because the lock protects all mutable state.
    private struct Entry {
        var file: [UInt8]
        /// The compiled file; nil if the file is invalid.
        var matcher: LinkMatcher?
    }

    private let lock = NSLock()
    private var entries: [String: Entry] = [:]
    private var count = 0

    package init() {}

    /// Returns the compiled files of domains, without invalid files. Drops the files of all other domains.
    package func matchers(of files: [String: [UInt8]]) -> [String: LinkMatcher] {
        let oldEntries = lock.withLock { self.entries }
        var entries: [String: Entry] = [:]
        var compilations = 0
        for (domain, file) in files {
            if let entry = oldEntries[domain], entry.file == file {
                entries[domain] = entry
            } else {
                // Done outside the lock, because compiling takes long.
                let parsed = try? AssociationFile(parsing: Data(file))
                entries[domain] = Entry(file: file, matcher: parsed.map { LinkMatcher($0) })
                compilations += 1
            }
        }
        lock.withLock {
            self.entries = entries
            count += compilations
        }
        return entries.compactMapValues(\.matcher)
    }

    package var compilations: Int { lock.withLock { count } }
}
