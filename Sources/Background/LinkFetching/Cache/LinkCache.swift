// SPDX-License-Identifier: Apache-2.0
import Foundation
public import PrivateStorage
public import UniversalLinks

/// The association files of the domains that installed apps list, on the disk. A file that was added on this machine takes
/// the place of the site's (``LocalAssociations``).
public struct LinkCache<Store: FileStore>: Sendable {
    private static var suffix: String { ".links" }
    private static var limit: Int { AssociationFile.maximumSize + 4096 }

    private let store: Store
    private let local: LocalAssociations<Store>?

    /// Opens a cache.
    ///
    /// - Parameters:
    ///   - store: its folder.
    ///   - local: the files that were added on this machine.
    public init(_ store: Store, local: LocalAssociations<Store>? = nil) {
        self.store = store
        self.local = local
    }

    /// What is known of a domain; nil when nothing is, or what is there is damaged.
    public func association(of domain: String) -> CachedAssociation? {
        if let file = local?.file(of: domain) { return CachedAssociation(domain: domain, local: file) }
        guard let name = Self.name(domain), let octets = try? store.read(name, limit: Self.limit) else { return nil }
        return CachedAssociation(domain: domain, octets: octets)
    }

    /// The compiled files of domains, by domain; those that are not there, or are none, are left out.
    ///
    /// - Parameters:
    ///   - domains: the domains.
    ///   - compiled: what was compiled before, and is taken where the file is the same.
    public func matchers(
        of domains: some Sequence<String>,
        compiled: CompiledAssociations = CompiledAssociations()
    ) -> [String: LinkMatcher] {
        var files: [String: [UInt8]] = [:]
        for domain in domains where files[domain] == nil { files[domain] = association(of: domain)?.file }
        return compiled.matchers(of: files)
    }

    /// Asks the sites of domains whose files are due, and forgets the files of all other domains.
    ///
    /// - Parameters:
    ///   - domains: the domains that installed apps list. No other is ever asked.
    ///   - asked: those of them that are asked; nil for all.
    ///   - now: the seconds since 1970.
    ///   - isForced: whether sites are asked whose files are not due. Those of local files are not asked.
    ///   - retriesFailures: whether sites that failed are asked although they are not due: when there is a network again.
    ///   - fetch: asks a site, as ``AssociationFetcher/fetch(_:)`` does.
    /// - Returns: what is known now of each domain that was to be asked, in the order of the domains.
    /// - Throws: ``PrivateStorage/StorageError`` when the disk fails.
    public func refresh(
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
            if let name = Self.name(domain) { try store.replace(name, with: association.octets) }
            result.append(association)
        }
        return result
    }

    private func prune(keeping domains: [String]) throws(StorageError) {
        let kept = Set(domains.compactMap(Self.name))
        for name in try store.names() where !kept.contains(name) { try store.remove(name) }
    }

    /// The name of a domain's file; nil for what is no domain in ASCII, or too long for a file.
    private static func name(_ domain: String) -> String? {
        guard HostName.ascii(domain) == domain, domain.utf8.count <= 240 else { return nil }
        return domain + suffix
    }
}

extension LinkCache where Store == DirectoryStore {
    /// Opens the cache of a user: `nfc/links` in the folder for caches.
    ///
    /// - Parameter folders: the user's folders.
    public init(of folders: UserFolders) throws(StorageError) {
        self.init(try DirectoryStore(folders.cache + "/nfc/links"), local: LocalAssociations(of: folders))
    }
}
