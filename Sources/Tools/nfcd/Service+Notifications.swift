// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import LinkDelivery
import NFCRuntime
import PrivateStorage

/// Shows notifications, and handles the user's actions.
extension Service {
    /// A summary that is about to be shown, so that several arrivals have a common one.
    struct PendingSummary {
        var entries: [InboxEntry.ID]
        var content: NotificationContent
    }

    /// How long the summary waits for more arrivals.
    private static let settling = DispatchTimeInterval.milliseconds(250)

    func announce(_ id: InboxEntry.ID, _ content: NotificationContent) {
        if let reading {
            let elapsed = environment.clock.now - reading.noticed
            log.write(
                "arrived",
                "A tag was read: \(Self.milliseconds(elapsed)) ms, \(Self.milliseconds(reading.airtime)) ms of it on the air.",
                content: content.body,
                ["id": "\(id)", "ms": Self.milliseconds(elapsed), "air_ms": Self.milliseconds(reading.airtime)]
            )
        }
        Step.reached("before-announcing")
        notifier?.show(.entry(id), of: [id], content)
        Step.reached("announcing")
    }

    func summarize(_ ids: [InboxEntry.ID], _ content: NotificationContent) {
        let isFirst = summary == nil
        summary = PendingSummary(entries: ids, content: content)
        guard isFirst else { return }
        DispatchQueue.main.asyncAfter(deadline: .now() + Self.settling) { [weak self] in
            MainActor.assumeIsolated {
                guard let self, let summary = self.summary.take() else { return }
                self.notifier?.show(.summary, of: summary.entries, summary.content)
            }
        }
    }

    func withdraw(_ subject: NotificationSubject) {
        if subject == .summary { summary = nil }
        notifier?.withdraw(subject)
    }

    func requestUnlock() {
        let asked = desktop?.promptToUnlock() ?? []
        log.write(
            "waits",
            "The link is opened when the screen is unlocked."
                + (asked.isEmpty ? " The desktop can't be asked to unlock it." : ""),
            ["asked": asked.joined(separator: " ")]
        )
        // Messages that arrived during the wait for the answers are queued, and no event would report them.
        DispatchQueue.main.async { [weak self] in MainActor.assumeIsolated { self?.receive() } }
    }

    func take(_ event: Notifier.Event) {
        switch event {
        case .shown(let topic):
            retries.succeeded()
            unshown = []
            switch topic.subject {
            case .entry(let id):
                handle(.announced(id))
                log.write("shown", "The notification is shown.", ["id": "\(id)"])
            case .summary:
                handle(.summarized(topic.entries))
                let count = topic.entries.count
                log.write("summary", "A summary is shown; it counts \(count).", ["count": "\(count)"])
            }
        case .notShown(let subject, let reason):
            let remainder = machine.remainder(of: subject)
            handle(.notShown(subject))
            // Do not log a retry again, whether it is shown alone or counted by the summary.
            let isTold = subject == .summary ? !unshown.isEmpty : unshown.contains(subject)
            unshown.insert(subject)
            if !isTold {
                log.write("not-shown", "No notification can be shown. \(remainder.text) \(reason)")
            }
            tryAgain()
        case .activated(.entry(let id), let token):
            tokens[id] = token
            activate(id)
        case .activated(.summary, _): handle(.summaryActivated)
        case .closed(let subject, let isDismissed): handle(.closed(subject, isDismissed: isDismissed))
        case .gone: handle(.desktopGone)
        case .ready: handle(.desktopReady)
        }
    }

    /// Tries again after a while to show what is due.
    private func tryAgain() {
        guard let delay = retries.failed() else { return }
        DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(Int(delay.components.seconds))) { [weak self] in
            MainActor.assumeIsolated {
                guard let self else { return }
                self.retries.began()
                self.handle(.desktopReady)
            }
        }
    }

    func deliver(_ id: InboxEntry.ID, _ delivery: Delivery) {
        Step.reached("delivering")
        let (opener, token) = (opener, tokens.removeValue(forKey: id))
        let claim: FileClaim?
        do throws(StorageError) {
            // An entry that is not on disk can't be opened by another process; neither can one from a folder that is
            // gone.
            let isOnDisk = inbox.isInPlace && machine.storedEntries.contains(id)
            claim = isOnDisk ? try inbox.claim(id) : nil
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
            handle(.beingOpened(id))
        case .missing:
            log.write("gone", "The entry is no longer in the inbox.", ["id": "\(id)"])
            handle(.cleared(id))
        default: delivered(id, error.reason)
        }
    }

    private func delivered(_ id: InboxEntry.ID, _ failure: String?) {
        Step.reached("delivered")
        if let failure {
            log.write("not-delivered", "The link could not be opened: \(failure)", ["id": "\(id)"])
            handle(.deliveryFailed(id, reason: failure))
        } else {
            log.write("delivered", "The link is open.", ["id": "\(id)"])
            handle(.delivered(id))
        }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst())"
    }
}

extension BackgroundReader.Remainder {
    /// The sentence in the log.
    fileprivate var text: String {
        switch self {
        case .inbox: "The inbox has the link."
        case .memory: "The link is not on the disk, and waits until the service ends."
        case .nothing: "There is nothing to open, and the inbox has nothing of it."
        }
    }
}
