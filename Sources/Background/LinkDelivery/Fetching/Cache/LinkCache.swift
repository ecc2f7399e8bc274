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

    /// Opens a cache.
    ///
    /// - Parameters:
    ///   - store: its folder.
    ///   - local: the files that were added on this machine.
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

    /// Returns the compiled files by domain, without missing and invalid ones.
    ///
    /// - Parameters:
    ///   - domains: the domains.
    ///   - compiled: the files that were compiled before. They are used again if they have not changed.
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
    ///   - now: the seconds since 1970.
    ///   - isForced: whether to ask sites whose files are not due. Sites with a local file are still not asked.
    ///   - retriesFailures: whether to ask failed sites before they are due, for example when the network is back.
    ///   - fetch: asks a site, like ``AssociationFetcher/fetch(_:)``.
    /// - Returns: the current entries of the domains in `asked`, in the order of the domains.
    /// - Throws: `StorageError` when the disk fails.
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
    ///
    /// - Parameter folders: the user's folders.
    package init(of folders: UserFolders) throws(StorageError) {
        self.init(try PrivateFolder(store: folders.cache + "/nfc/links"), local: LocalAssociations(of: folders))
    }
}
