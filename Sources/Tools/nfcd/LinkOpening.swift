// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import LinkDelivery
import LinuxSupport
import NFCSessions

/// Opens entries' links with installed apps, and gives the state machine the current router.
final class LinkOpening {
    private nonisolated let deliverer: LinkDeliverer
    private nonisolated let allowsCustomSchemes: Bool
    private let folders: UserFolders
    private let log: Log
    private let loop: StateMachineDriver
    private let inbox: InboxKeeper
    /// Compiles association files, which may take long. Meanwhile, the main queue can handle calls and signals.
    private nonisolated let queue = DispatchQueue(label: "org.opencorenfc.links")
    private var refresh: LinkRefresh?

    init(
        _ environment: [String: String],
        allowsCustomSchemes: Bool,
        _ log: Log,
        _ loop: StateMachineDriver,
        _ inbox: InboxKeeper
    ) {
        folders = UserFolders(environment: environment)
        deliverer = LinkDeliverer(environment: environment)
        self.allowsCustomSchemes = allowsCustomSchemes
        self.log = log
        self.loop = loop
        self.inbox = inbox
    }

    // MARK: Routing

    /// Runs work on the main queue, after all work submitted here before. Compiles new association files first, unless
    /// `compilesFirst` is false.
    nonisolated func inOrder(compilesFirst: Bool = true, _ work: @escaping @MainActor @Sendable () -> Void) {
        queue.async { [deliverer] in
            if compilesFirst { _ = try? deliverer.router() }
            DispatchQueue.main.async { MainActor.assumeIsolated(work) }
        }
    }

    /// Returns the router for the state machine; nil if the installed apps can't be read. The log reports the error.
    func router() -> BackgroundReader.Input? {
        do {
            return .router(try deliverer.router(allowsCustomSchemes: allowsCustomSchemes))
        } catch {
            log.fail("apps", "The list of installed apps can't be read: \(error)")
            return nil
        }
    }

    func reloadRouter() {
        if let input = router() { loop.handle(input) }
    }

    func startRefreshing() { refresh = LinkRefresh(folders, log) { [weak self] in self?.inOrder {} } }

    // MARK: Delivery

    /// Opens an entry. `token` is the activation token that lets the app come to the foreground.
    func deliver(_ id: InboxEntry.ID, _ delivery: Delivery, token: String?) {
        Step.reached("delivering")
        let claim: FileClaim?
        do throws(StorageError) {
            claim = try inbox.claim(id)
        } catch {
            return notClaimed(id, error)
        }
        // An app may take long to start, so use a separate thread and bus connection.
        Thread.detachNewThread { [deliverer] in
            let result = Result { () throws(DeliveryError) in
                try deliverer.deliver(delivery, activationToken: token)
            }
            let failure: String? = if case .failure(let error) = result { error.reason } else { nil }
            DispatchQueue.main.async {
                MainActor.assumeIsolated { withExtendedLifetime(claim) { self.delivered(id, failure) } }
            }
        }
    }

    /// Handles a failed claim: the entry is being opened or was opened by another process, or its file is unusable.
    private func notClaimed(_ id: InboxEntry.ID, _ error: StorageError) {
        switch error.code {
        case .inUse:
            log.write("being-opened", "Another program is opening the link.", ["id": "\(id)"])
            loop.handle(.beingOpened(id))
        case .missing:
            log.write("gone", "The entry is no longer in the inbox.", ["id": "\(id)"])
            loop.handle(.cleared(id))
        default: delivered(id, error.reason)
        }
    }

    private func delivered(_ id: InboxEntry.ID, _ failure: String?) {
        Step.reached("delivered")
        if let failure {
            log.write("not-delivered", "The link could not be opened: \(failure)", ["id": "\(id)"])
            loop.handle(.deliveryFailed(id, reason: failure))
        } else {
            log.write("delivered", "The link was opened.", ["id": "\(id)"])
            loop.handle(.delivered(id))
        }
    }
}

/// Fetches association files when they are due: a week after the site's last answer, or after a failure at the times
/// defined by ``CachedAssociation``. Failed sites are retried early when the network returns or an app is installed.
///
/// The content of tags never triggers or changes these requests.
final class LinkRefresh {
    /// The delay in seconds before the first check, so that it does not slow down startup.
    private static let delay: Int64 = 2
    /// The longest time between two checks, in seconds. It is limited because the clock may be changed.
    private static let longestInterval: Int64 = 3600
    /// The shortest time between two checks, in seconds.
    private static let shortestInterval: Int64 = 2

    private let folders: UserFolders
    private let log: Log
    private let timer = DispatchSource.makeTimerSource(queue: .main)
    private var sources: [any DispatchSourceRead] = []
    /// The changes since the last check. A check after a change also retries failed sites.
    private var settling = ChangeSettling()
    private let began = ContinuousClock.now

    private let onAnswers: () -> Void

    /// Starts the checks. `onAnswers` is called after sites were contacted, because their files may have changed.
    init(_ folders: UserFolders, _ log: Log, onAnswers: @escaping () -> Void) {
        self.folders = folders
        self.onAnswers = onAnswers
        self.log = log
        // A check that becomes due during another check runs after it.
        let (due, checks) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        timer.setEventHandler { checks.yield() }
        schedule(after: .seconds(Self.delay))
        timer.activate()
        let network = DispatchSource.watchingNetwork { [weak self] in self?.change() }
        let apps = folders.allData.map { folder in
            DispatchSource.watchingApps(in: folder + "/nfc/apps") { [weak self] in self?.change() }
        }
        sources = ([network] + apps).compactMap(\.self)
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
            log.fail("links", "The association files can't be saved: \(error)")
        }
        schedule(after: Self.pause(settling, until: next))
    }

    static func pause(_ settling: ChangeSettling, until next: Int64) -> Duration {
        settling.hasChanged ? ChangeSettling.pause : .seconds(next)
    }

    /// Contacts the sites that are due. Returns the number of seconds until the next site is due.
    private func refresh(retriesFailures: Bool) async throws -> Int64 {
        let now = Int64(Date().timeIntervalSince1970)
        let cache = try LinkCache(of: folders)
        let domains = InstalledApps(folders).domains
        let due = domains.filter { Self.isDue(cache.association(of: $0), at: now, retriesFailures: retriesFailures) }
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
            for result in results { log.write("links", Self.text(result, at: now)) }
            onAnswers()
        }
        return Self.pause(until: domains.compactMap { cache.association(of: $0)?.nextTry(at: now) }, at: now)
    }

    /// Whether to contact a site now. A site that was never contacted is due. A failed site is retried early if
    /// `retriesFailures` is true.
    static func isDue(_ association: CachedAssociation?, at now: Int64, retriesFailures: Bool) -> Bool {
        guard let association else { return true }
        return association.isDue(at: now) || (retriesFailures && association.failure != nil)
    }

    static func pause(until times: [Int64], at now: Int64) -> Int64 {
        guard let next = times.min() else { return longestInterval }
        return min(max(next - now, shortestInterval), longestInterval)
    }

    static func text(_ result: CachedAssociation, at now: Int64) -> String {
        guard let failure = result.failure else { return "The links of \(result.domain): fetched." }
        // A failed site always has a next attempt scheduled.
        let minutes = max(1, ((result.nextTry(at: now) ?? now) - now + 59) / 60)
        let next = minutes == 1 ? "a minute" : "\(minutes) minutes"
        return "The links of \(result.domain): \(failure) The next attempt is in \(next), or when the network is back."
    }
}
