// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import LinkDelivery
import LinkFetching
import NFCRuntime
import PrivateStorage

/// Fetches the association files of the installed apps' domains when they are due: a week after the site's last answer;
/// after a failure, at the times of ``CachedAssociation``. Sites that failed are asked at once when the network comes
/// back or an app is installed.
///
/// The content of tags has no influence on it.
final class LinkRefresh {
    /// How long to wait before the first check, so that it does not slow down the start of the service.
    private static let delay: Int64 = 2
    /// The longest time between two checks, in seconds, because the clock may be changed meanwhile.
    private static let longestInterval: Int64 = 3600
    /// The shortest time between two checks, in seconds.
    private static let shortestInterval: Int64 = 2

    private let folders: UserFolders
    private let log: Log
    private let timer = DispatchSource.makeTimerSource(queue: .main)
    private var network: NetworkWatch?
    private var appFolders: [AppFolderWatch] = []
    /// The changes since the last check. After one, sites that failed are asked even if they are not due.
    private var settling = ChangeSettling()
    private let began = ContinuousClock.now

    private let onAnswers: () -> Void

    /// Starts the checks.
    ///
    /// - Parameters:
    ///   - folders: the user's folders.
    ///   - log: the log for the results.
    ///   - onAnswers: called after sites were asked, because their files may have changed.
    init(_ folders: UserFolders, _ log: Log, onAnswers: @escaping () -> Void) {
        self.folders = folders
        self.onAnswers = onAnswers
        self.log = log
        // A check that is due during another one follows it.
        let (due, checks) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // mutate: equivalent, because the timer does not run yet.
        timer.setEventHandler { checks.yield() }
        schedule(after: .seconds(Self.delay))
        timer.activate()
        network = NetworkWatch { [weak self] in self?.change() }
        appFolders = folders.allData.compactMap { folder in
            AppFolderWatch(folder + "/nfc/apps") { [weak self] in self?.change() }
        }
        Task { [weak self] in
            for await _ in due { await self?.check() }
        }
    }

    isolated deinit { timer.cancel() }

    private func schedule(after time: Duration) {
        let leeway = DispatchTimeInterval.milliseconds(time < .seconds(60) ? 100 : 5000)
        timer.schedule(deadline: .now() + .milliseconds(Int(time / .milliseconds(1))), leeway: leeway)
    }

    private func change() { schedule(after: settling.change(at: ContinuousClock.now - began)) }

    private func check() async {
        let retriesFailures = settling.hasChanged
        settling.settle()
        var next = Self.longestInterval
        do {
            next = try await refresh(retriesFailures: retriesFailures)
        } catch {
            log.fail("links", "The files of the apps' sites can't be saved: \(error)")
        }
        schedule(after: settling.hasChanged ? ChangeSettling.pause : .seconds(next))
    }

    /// Asks the sites that are due.
    ///
    /// - Returns: the number of seconds until the next site is due.
    private func refresh(retriesFailures: Bool) async throws -> Int64 {
        let now = Int64(Date().timeIntervalSince1970)
        let cache = try LinkCache(of: folders)
        var domains: [String] = []
        for domain in InstalledApps(folders).apps.flatMap(\.linkedDomains) where !domains.contains(domain) {
            domains.append(domain)
        }
        let due = domains.filter { domain in
            guard let known = cache.association(of: domain) else { return true }
            return known.isDue(at: now) || (retriesFailures && known.failure != nil)
        }
        if !due.isEmpty {
            let fetcher = AssociationFetcher()
            let results = try await cache.refresh(
                domains,
                asking: due,
                now: now,
                retriesFailures: retriesFailures
            ) { domain async throws(FetchError) -> [UInt8] in
                try await fetcher.fetch(domain)
            }
            for result in results { tell(result, now) }
            onAnswers()
        }
        let times = domains.compactMap { cache.association(of: $0)?.nextTry(at: now) }
        return min(max((times.min() ?? .max) - now, Self.shortestInterval), Self.longestInterval)
    }

    private func tell(_ result: CachedAssociation, _ now: Int64) {
        guard let failure = result.failure else {
            return log.write("links", "The links of \(result.domain): fetched.")
        }
        let next = result.nextTry(at: now).map { max(1, ($0 - now + 59) / 60) } ?? 0
        let step = "The next try is in \(next == 1 ? "a minute" : "\(next) minutes"), or when there is a network again."
        log.write("links", "The links of \(result.domain): \(failure) \(step)")
    }
}
