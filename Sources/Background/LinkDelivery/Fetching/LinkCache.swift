// SPDX-License-Identifier: Apache-2.0
import Foundation
package import LinuxSupport
package import UniversalLinks

/// The association files of the domains that installed apps list, on the disk. A file that was added on this machine
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

    /// Returns the entry of a domain; nil when there is none, or it is damaged.
    package func association(of domain: String) -> CachedAssociation? {
        if let file = local?.file(of: domain) { return CachedAssociation(domain: domain, local: file) }
        guard let name = Self.name(domain), let bytes = try? store.read(name, limit: Self.limit) else { return nil }
        return CachedAssociation(domain: domain, bytes: bytes)
    }

    /// Returns the compiled files by domain, without missing and invalid ones. Those in `compiled` that have not
    /// changed are used again.
    package func matchers(
        of domains: some Sequence<String>,
        compiled: CompiledAssociations = CompiledAssociations()
    ) -> [String: LinkMatcher] {
        var files: [String: [UInt8]] = [:]
        for domain in domains where files[domain] == nil { files[domain] = association(of: domain)?.file }
        return compiled.matchers(of: files)
    }

    /// Asks the sites whose files are due, and deletes the files of all domains that are not listed.
    ///
    /// - Parameters:
    ///   - domains: the domains that installed apps list. No other domain is ever asked.
    ///   - asked: the ones to ask; nil for all.
    ///   - isForced: whether to ask sites whose files are not due. Sites with a local file are still not asked.
    ///   - retriesFailures: whether to ask failed sites before they are due, for example when the network is back.
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
            let known = association(of: domain)
            let isWanted = isForced || (retriesFailures && known?.failure != nil)
            if let known, known.isLocal || !(isWanted || known.isDue(at: now)) {
                result.append(known)
                continue
            }
            var association = known ?? CachedAssociation(domain: domain, asked: now)
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
        let kept = Set(domains.compactMap(Self.name))
        // What can't be removed, such as a folder with files, is left and does no harm.
        for name in try store.names() where !kept.contains(name) { try? store.remove(name) }
    }

    /// Returns the name of a domain's file; nil if the domain is not in ASCII, or too long for a file name.
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

/// Association files that a developer added on this machine. Each replaces the file of a domain's site, so that an app
/// can be tried before its site exists.
package struct LocalAssociations<Store: FileStore>: Sendable {
    private static var suffix: String { ".association" }

    private let store: Store

    package init(_ store: Store) { self.store = store }

    /// The domains that have a local file, sorted.
    package var domains: [String] {
        ((try? store.names()) ?? []).filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }
            .filter { Self.name($0) != nil }
    }

    /// Returns the file of a domain in ASCII; nil when there is none, or it can't be read.
    package func file(of domain: String) -> [UInt8]? {
        Self.name(domain).flatMap { try? store.read($0, limit: AssociationFile.maximumSize) }
    }

    /// Adds or replaces the file of a domain in ASCII. It is not checked; if it is invalid, it has no effect on links.
    package func add(_ file: [UInt8], for domain: String) throws(StorageError) {
        guard let name = Self.name(domain) else {
            throw StorageError(.denied, "'\(domain)' is not a domain. Give a name such as example.org.")
        }
        try store.replace(name, with: file)
    }

    /// Removes the file of a domain, so that the site's file is used again. Returns false when there was none.
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
    /// Opens the user's files: `nfc/links` in the configuration folder. Nil when there is no such folder, or it can't
    /// be opened.
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

/// A store of compiled association files by domain. Each file is compiled once, and again when its bytes change.
///
/// Share one instance in a process. Any thread may use it.
package final class CompiledAssociations: @unchecked Sendable {
    // Sendable because the lock guards everything that changes.
    private struct Entry {
        var file: [UInt8]
        /// nil if the file is invalid.
        var matcher: LinkMatcher?
    }

    private let lock = NSLock()
    private var entries: [String: Entry] = [:]
    private var count = 0

    package init() {}

    /// Returns the compiled files of domains, without the invalid ones, and forgets the files of all other domains.
    package func matchers(of files: [String: [UInt8]]) -> [String: LinkMatcher] {
        let known = lock.withLock { self.entries }
        var entries: [String: Entry] = [:]
        var compilations = 0
        for (domain, file) in files {
            if let entry = known[domain], entry.file == file {
                entries[domain] = entry
            } else {
                // Outside the lock, because compiling takes long.
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
