// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Background tag reading as a state machine. You feed it events and perform the actions that it returns.
///
/// The state machine has no side effects, and its only clock is the time that you pass.
public struct BackgroundReader: Sendable {
    /// The maximum size of a message in bytes.
    public static let maximumMessageSize = UserActivityPayload.maximumMessageSize
    /// The maximum number of entries. When there are more, the oldest is dropped and its notification is withdrawn.
    public static let maximumEntries = 100

    /// An event.
    public enum Input: Sendable {
        /// The state of an earlier run was loaded. Send this once, at the start.
        case restored(PreviousRun)
        case conditions(ReadingConditions)
        case lock(isLocked: Bool)
        /// The apps, their association files or the setting for custom schemes changed.
        case router(LinkRouter)
        /// A tag was read. The identifier is for a new entry, in case the tag has just arrived.
        case read(TagReading, InboxEntry.ID)
        /// The identifiers of all tags that are near. Send this after the first poll, and whenever a tag has left.
        case near([[UInt8]])
        /// The identifiers of tags that an app has read.
        case readByApp([[UInt8]])
        case stored(InboxEntry.ID, isKept: Bool)
        case announced(InboxEntry.ID)
        /// A summary of these entries was shown.
        case summarized([InboxEntry.ID])
        /// A notification could not be shown.
        case notShown(NotificationSubject)
        /// A notification was closed, because the user dismissed it or it expired.
        case closed(NotificationSubject, isDismissed: Bool)
        /// The notification service has ended, so its notifications are gone.
        case desktopGone
        case desktopReady
        /// The user wants to open the entry, from its notification or from the inbox.
        case activated(InboxEntry.ID)
        /// The user wants to see the entries of the summary.
        case summaryActivated
        case delivered(InboxEntry.ID)
        /// The entry could not be opened. The reason is a sentence.
        case deliveryFailed(InboxEntry.ID, reason: String)
        /// The entry was not opened, because another process is opening it.
        case beingOpened(InboxEntry.ID)
        case cleared(InboxEntry.ID)
        /// The saved entries are gone, for example because the inbox's folder was removed or replaced.
        case inboxLost
        /// Entries that could not be saved may now fit on the disk.
        case storeAgain
    }

    /// An action to perform. The order of the list matters.
    public enum Action: Sendable, Hashable {
        /// Start looking for tags, or for the reader. Tags are ignored until the conditions include a reader.
        case startLooking
        case stopLooking
        /// Save the entry, then send ``Input/stored(_:isKept:)``.
        case store(InboxEntry)
        /// Show the entry's notification, then send ``Input/announced(_:)`` or ``Input/notShown(_:)``.
        case announce(InboxEntry.ID, NotificationContent)
        /// Show the summary in place of an earlier one, then send ``Input/summarized(_:)`` or ``Input/notShown(_:)``.
        /// Another summary may follow at once.
        case summarize([InboxEntry.ID], NotificationContent)
        /// Save that the notification was shown.
        case markAnnounced(InboxEntry.ID)
        case withdraw(NotificationSubject)
        /// Save the flag of the entry in place of the last one; nil removes the flag.
        case mark(InboxEntry.ID, DeliveryFlag?)
        /// Ask the user to unlock the screen. A later event reports that it is unlocked.
        case requestUnlock
        /// Open the link, then send ``Input/delivered(_:)`` or ``Input/deliveryFailed(_:reason:)``.
        case deliver(InboxEntry.ID, Delivery)
        case remove(InboxEntry.ID)
        case note(Note)
    }

    /// A note for the log. It never includes a tag's content.
    public enum Note: Sendable, Hashable {
        /// A tag was read although reading is not allowed.
        case notEligible([ReadingConditions.Obstacle])
        case noMessage
        /// The message is damaged or too large.
        case badMessage
        case noLink
        /// The URI record is invalid.
        case unusableLink
        case refused(LinkRoute.Refusal)
        /// Too many tags arrive. This is noted only for the first refused tag.
        case tooManyArrivals
        /// The number of refused tags. This is noted when the next tag is admitted.
        case turnedAway(Int)
        /// The entry could not be saved.
        case notKept(InboxEntry.ID)
        /// The entry was saved, after an earlier attempt had failed.
        case kept(InboxEntry.ID)
        case nothingToOpen(InboxEntry.ID)
        /// The entry could not be opened. It is kept in the inbox.
        case notDelivered(InboxEntry.ID)
        /// This entry was dropped, because there were too many entries.
        case forgotten(InboxEntry.ID)
    }

    enum Stage: Sendable, Hashable {
        case storing
        case waiting
        case waitingForUnlock
        case delivering
    }

    /// Where the user sees an entry.
    enum Presentation: Sendable, Hashable {
        case inbox
        /// Nowhere yet, but as soon as possible.
        case due
        case own
        case summary
    }

    struct Entry: Sendable, Hashable {
        var id: InboxEntry.ID
        var message: [UInt8]
        var stage: Stage
        var presentation: Presentation
        var isAnnounced = false
        /// Whether the entry is saved on the disk.
        var isKept = true
        var mark: DeliveryFlag?
        /// The text of the entry's own notification, if it describes what a click does.
        var offer: NotificationContent?
    }

    /// The latest conditions. Nothing is read before the first conditions arrive.
    public private(set) var conditions = ReadingConditions(obstacles: [.unsupported])
    /// Whether the service is looking for tags or for the reader.
    public private(set) var isLooking = false
    /// Whether the screen is locked.
    public private(set) var isLocked: Bool
    /// Decides what opens a link.
    public private(set) var router: LinkRouter
    var entries: [Entry] = []
    var hasSummary = false
    var presence = TagPresence()
    var limiter = ArrivalLimiter()
    var restoredMessages: Set<[UInt8]> = []
    var readingStart: Duration?
    /// For how long after the start of reading a tag with a message of an earlier run counts as never removed.
    static let restartTime = Duration.seconds(5)

    /// Creates a state machine that reads nothing until it receives the conditions.
    public init(router: LinkRouter = LinkRouter(), isLocked: Bool = false) {
        self.router = router
        self.isLocked = isLocked
    }

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - input: the event.
    ///   - now: the time since any fixed moment. It must never decrease.
    /// - Returns: the actions to perform.
    public mutating func handle(_ input: Input, now: Duration) -> [Action] {
        switch input {
        case .restored(let run): return restore(run)
        case .conditions(let conditions): return change(conditions, now)
        case .lock(let isLocked):
            self.isLocked = isLocked
            return isLocked ? [] : entries.filter { $0.stage == .waitingForUnlock }.flatMap { deliver($0.id) }
        case .router(let router): self.router = router
        case .read(let reading, let id): return read(reading, id, now)
        case .near(let identifiers): presence.near(identifiers, now: now)
        case .readByApp(let identifiers): presence.readByApp(identifiers)
        case .stored(let id, let isKept): return stored(id, isKept)
        case .announced(let id): return announced(id)
        case .summarized(let ids): return markAnnounced(ids) + showDue()
        // The subject is shown again after another notification was shown, or when notifications are available again.
        case .notShown(let subject): move(subject, to: .due)
        case .closed(let subject, let isDismissed): return closed(subject, isDismissed)
        case .desktopGone: desktopGone()
        case .desktopReady: return showDue()
        case .activated(let id): return activate(id)
        case .summaryActivated: return openSummary()
        case .delivered(let id): return delivered(id)
        case .deliveryFailed(let id, let reason): return deliveryFailed(id, reason)
        case .beingOpened(let id): return beingOpened(id)
        case .cleared(let id): return cleared(id)
        case .inboxLost: for index in entries.indices { entries[index].isKept = false }
        // Entries that are being opened are skipped, because they will be removed.
        case .storeAgain: return entries.flatMap { storeAgain($0) }
        }
        return []
    }

    private mutating func change(_ new: ReadingConditions, _ now: Duration) -> [Action] {
        let (wasReading, wasLooking) = (conditions.allowReading, isLooking)
        conditions = new
        isLooking = new.allowLooking
        if new.allowReading, !wasReading {
            presence.resume(now: now)
            readingStart = readingStart ?? now
        } else if wasReading, !new.allowReading {
            presence.pause()
        }
        return isLooking == wasLooking ? [] : [isLooking ? .startLooking : .stopLooking]
    }

    /// The entries in the inbox, without those that are still being saved.
    public var keptEntries: [InboxEntry.ID] { entries.filter { $0.stage != .storing }.map(\.id) }

    /// The entries that are saved on the disk. If an entry's file is missing, someone has removed it.
    public var storedEntries: [InboxEntry.ID] { entries.filter { $0.stage != .storing && $0.isKept }.map(\.id) }

    func index(_ id: InboxEntry.ID) -> Int? { entries.firstIndex { $0.id == id } }
}
