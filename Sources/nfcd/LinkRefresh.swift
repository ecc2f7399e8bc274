// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import Dispatch
import Foundation
import LinkFetching
import PrivateStorage

/// Has the association files of the installed apps' domains fetched when they are due: a week after the site's last answer.
///
/// What a tag says has no part in it.
final class LinkRefresh {
    /// When files are looked at first, and how often then. The session may have no network before.
    private static let delay = DispatchTimeInterval.seconds(60)
    private static let interval = DispatchTimeInterval.seconds(3600)

    private let folders: UserFolders
    private let log: Log
    private let timer = DispatchSource.makeTimerSource(queue: .main)
    private var isBusy = false

    init(_ folders: UserFolders, _ log: Log) {
        self.folders = folders
        self.log = log
        timer.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.refresh() } }
        timer.schedule(deadline: .now() + Self.delay, repeating: Self.interval, leeway: .seconds(300))
        timer.activate()
    }

    private func refresh() {
        guard !isBusy else { return }
        isBusy = true
        Task {
            defer { isBusy = false }
            do {
                let now = Int64(Date().timeIntervalSince1970)
                let cache = try LinkCache(of: folders)
                let domains = InstalledApps(folders).apps.flatMap(\.linkedDomains)
                let due = domains.filter { cache.association(of: $0)?.isDue(at: now) ?? true }
                guard !due.isEmpty else { return }
                let fetcher = AssociationFetcher()
                let results = try await cache.refresh(
                    domains,
                    asking: due,
                    now: now
                ) { domain async throws(FetchError) -> [UInt8] in
                    try await fetcher.fetch(domain)
                }
                for result in results {
                    log.write("links", "The links of \(result.domain): \(result.failure ?? "fetched.")")
                }
            } catch {
                log.write("failed", "The files of the apps' sites can't be kept: \(error)")
            }
        }
    }
}
