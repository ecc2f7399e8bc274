// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinuxSupport
import UserBus

/// Shows notifications for entries, and handles the user's actions.
final class Announcer {
    /// A summary about to be shown. The short delay lets several arrivals share one summary.
    private struct PendingSummary {
        var entries: [InboxEntry.ID]
        var content: NotificationContent
    }

    /// How long to wait for more arrivals before showing the summary.
    private static let settling = Duration.milliseconds(250)

    private let log: Log
    private let loop: StateMachineDriver
    var onActivation: (InboxEntry.ID) -> Void = { _ in }
    private let notifier: Notifier
    private var summary: PendingSummary?
    private var retries = NotificationRetryPolicy()
    /// The failed notifications that were already logged.
    private var failedSubjects: Set<NotificationSubject> = []
    /// The activation token for each clicked entry, which lets the app come to the foreground.
    private var activationTokens: [InboxEntry.ID: String] = [:]

    /// Restores the notifications shown by an earlier run.
    init(_ bus: BusConnection, _ store: PrivateFolder?, _ log: Log, _ loop: StateMachineDriver) throws(BusError) {
        self.log = log
        self.loop = loop
        notifier = try Notifier(bus, store)
        notifier.onEvent = { [weak self] event in self?.notice(event) }
    }

    var shownEntries: Set<InboxEntry.ID> { notifier.shownEntries }

    var summarizedEntries: Set<InboxEntry.ID> { notifier.summarizedEntries }

    /// Handles a bus message if it concerns notifications.
    func take(_ message: ReceivedMessage) { notifier.take(message) }

    /// Removes and returns the activation token from the click on an entry's notification.
    func takeToken(of id: InboxEntry.ID) -> String? { activationTokens.removeValue(forKey: id) }

    func announce(_ id: InboxEntry.ID, _ content: NotificationContent) {
        Step.reached("before-announcing")
        notifier.show(.entry(id), of: [id], content)
        Step.reached("announcing")
    }

    func summarize(_ ids: [InboxEntry.ID], _ content: NotificationContent) {
        summary = PendingSummary(entries: ids, content: content)
        // The first scheduled call shows the newest content. Later calls find nothing left to show.
        runOnMain(after: Self.settling) { [weak self] in
            guard let self, let summary = self.summary.take() else { return }
            self.notifier.show(.summary, of: summary.entries, summary.content)
        }
    }

    func withdraw(_ subject: NotificationSubject) {
        if subject == .summary { summary = nil }
        notifier.withdraw(subject)
    }

    private func notice(_ event: Notifier.Event) {
        switch event {
        case .shown(let topic):
            retries.succeeded()
            failedSubjects = []
            switch topic.subject {
            case .entry(let id):
                loop.handle(.announced(id))
                log.write("shown", "The notification is shown.", ["id": "\(id)"])
            case .summary:
                loop.handle(.summarized(topic.entries))
                let count = topic.entries.count
                log.write("summary", "A summary is shown. Number of tags: \(count).", ["count": "\(count)"])
            }
        case .notShown(let subject, let reason):
            let location = loop.machine.location(of: subject)
            loop.handle(.notShown(subject))
            // Log a failed notification only once, whether it is shown separately or counted in the summary.
            let isLogged = subject == .summary ? !failedSubjects.isEmpty : failedSubjects.contains(subject)
            failedSubjects.insert(subject)
            if !isLogged {
                log.write("not-shown", "No notification can be shown. \(location.text) \(reason)")
            }
            retryLater()
        case .activated(.entry(let id), let token):
            activationTokens[id] = token
            onActivation(id)
        case .activated(.summary, _): loop.handle(.summaryActivated)
        case .closed(let subject, let isDismissed): loop.handle(.closed(subject, isDismissed: isDismissed))
        case .gone: loop.handle(.desktopGone)
        case .ready: loop.handle(.desktopReady)
        }
    }

    private func retryLater() {
        guard let delay = retries.failed() else { return }
        runOnMain(after: delay) { [weak self] in
            guard let self else { return }
            self.retries.began()
            self.loop.handle(.desktopReady)
        }
    }
}

extension BackgroundReader.EntryLocation {
    fileprivate var text: String {
        switch self {
        case .inbox: "The inbox has the link."
        case .memoryOnly: "The link could not be saved, and is kept until the service stops."
        case .nothing: "There is nothing to open, and nothing was saved."
        }
    }
}
