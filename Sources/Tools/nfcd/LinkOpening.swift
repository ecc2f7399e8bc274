// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import LinuxSupport

/// Opens the links of entries with the installed apps, and gives the machine the current routing of links.
final class LinkOpening {
    private nonisolated let opener: Opener
    private let log: Log
    private let loop: StateMachineDriver
    private let inbox: InboxKeeper
    /// Compiles sites' association files, which may take long. Meanwhile the main queue answers calls and signals.
    private nonisolated let queue = DispatchQueue(label: "org.opencorenfc.links")
    private var refresh: LinkRefresh?

    init(_ opener: Opener, _ log: Log, _ loop: StateMachineDriver, _ inbox: InboxKeeper) {
        self.opener = opener
        self.log = log
        self.loop = loop
        self.inbox = inbox
    }

    // MARK: Routing

    /// Runs work on the main queue, after all that was given here before.
    ///
    /// - Parameters:
    ///   - compilesFirst: whether new association files are compiled first.
    ///   - work: what to do then.
    nonisolated func inOrder(compilesFirst: Bool = true, _ work: @escaping @MainActor @Sendable () -> Void) {
        queue.async { [opener] in
            if compilesFirst { opener.warmUp() }
            DispatchQueue.main.async { MainActor.assumeIsolated(work) }
        }
    }

    /// The routing of links, for the machine; nil if the installed apps can't be read, which the log reports.
    func router() -> BackgroundReader.Input? {
        do {
            return .router(try opener.router())
        } catch {
            log.fail("apps", "The apps can't be read: \(error)")
            return nil
        }
    }

    func reloadRouter() {
        if let input = router() { loop.handle(input) }
    }

    /// Starts to fetch association files when they are due.
    func beginToRefresh() {
        refresh = LinkRefresh(opener.folders, log) { [weak self] in
            self?.inOrder {}
        }
    }

    // MARK: Delivery

    /// Opens an entry.
    ///
    /// - Parameters:
    ///   - id: the entry.
    ///   - delivery: its link, and what opens it.
    ///   - token: the desktop's permission to come to the front; nil for none.
    func deliver(_ id: InboxEntry.ID, _ delivery: Delivery, token: String?) {
        Step.reached("delivering")
        let opener = opener
        let claim: FileClaim?
        do throws(StorageError) {
            claim = try inbox.claim(id)
        } catch {
            return notClaimed(id, error)
        }
        // An app may take long to start, so this uses a separate thread and a separate bus connection.
        Thread.detachNewThread {
            let failure = opener.open(delivery, token: token)
            DispatchQueue.main.async {
                MainActor.assumeIsolated { withExtendedLifetime(claim) { self.delivered(id, failure) } }
            }
        }
    }

    /// Another process is opening the entry, or has opened it, or its file can't be used.
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
            log.write("delivered", "The link is open.", ["id": "\(id)"])
            loop.handle(.delivered(id))
        }
    }
}
