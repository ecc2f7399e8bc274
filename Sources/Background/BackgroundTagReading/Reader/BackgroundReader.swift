// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Background tag reading as a state machine: you feed it events and perform the actions it returns.
///
/// It has no side effects, and the only time it uses is the one passed to it.
public struct BackgroundReader: Sendable {
    /// The largest message that is accepted, in bytes.
    public static let maximumMessageSize = UserActivityPayload.maximumMessageSize
    /// The most entries at a time. When there are more, the oldest is dropped and its notification withdrawn.
    public static let maximumEntries = 100

    /// An event.
    public enum Input: Sendable {
        /// The state of an earlier run was loaded. Sent once, at the start.
        case restored(PreviousRun)
        case conditions(ReadingConditions)
        case lock(isLocked: Bool)
        /// The apps, their association files or the switch for custom schemes changed.
        case router(LinkRouter)
        /// A tag was read. The identifier is for a new entry, if the tag has just arrived.
        case read(TagReading, InboxEntry.ID)
        /// The identifiers of all tags that are near. Sent after the first look, and whenever a tag has left.
        case near([[UInt8]])
        /// The identifiers of tags that an app has read.
        case readByApp([[UInt8]])
        case stored(InboxEntry.ID, isKept: Bool)
        case announced(InboxEntry.ID)
        /// A summary of these entries was shown.
        case summarized([InboxEntry.ID])
        /// A notification could not be shown.
        case notShown(NotificationSubject)
        /// A notification was closed: the user dismissed it, or it expired.
        case closed(NotificationSubject, isDismissed: Bool)
        /// The notification service ended, and its notifications are gone.
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
        /// The disk may have room now for entries that could not be saved.
        case storeAgain
    }

    /// An action to perform, in the order of the list.
    public enum Action: Sendable, Hashable {
        /// Start looking for tags, or for the reader. Tags only count once the conditions include a reader.
        case startLooking
        case stopLooking
        /// Save the entry, then send ``Input/stored(_:isKept:)``.
        case store(InboxEntry)
        /// Show the entry's notification, then send ``Input/announced(_:)`` or ``Input/notShown(_:)``.
        case announce(InboxEntry.ID, NotificationContent)
        /// Show the summary, replacing an earlier one, then send ``Input/summarized(_:)`` or ``Input/notShown(_:)``.
        /// Another summary may follow at once.
        case summarize([InboxEntry.ID], NotificationContent)
        /// Save that the notification was shown.
        case markAnnounced(InboxEntry.ID)
        case withdraw(NotificationSubject)
        /// Save a mark of the entry, replacing the last one; nil removes it.
        case mark(InboxEntry.ID, DeliveryFlag?)
        /// Ask the user to unlock the screen. Everything else follows from later events.
        case requestUnlock
        /// Open the link, then send ``Input/delivered(_:)`` or ``Input/deliveryFailed(_:reason:)``.
        case deliver(InboxEntry.ID, Delivery)
        case remove(InboxEntry.ID)
        case note(Note)
    }

    /// A note for the log. It contains nothing of a tag's content.
    public enum Note: Sendable, Hashable {
        /// A tag was read although reading is not allowed.
        case notEligible([ReadingConditions.Obstacle])
        case noMessage
        /// The message is damaged or too large.
        case badMessage
        case noLink
        /// The URI record can't be read.
        case unusableLink
        case refused(LinkRoute.Refusal)
        /// Too many tags arrive. Noted for the first one that is refused.
        case tooManyArrivals
        /// The number of refused tags, noted when the next one was admitted.
        case turnedAway(Int)
        /// The entry could not be saved.
        case notKept(InboxEntry.ID)
        /// The entry, which could not be saved before, was saved.
        case kept(InboxEntry.ID)
        case nothingToOpen(InboxEntry.ID)
        /// The entry could not be opened, and stays in the inbox.
        case notDelivered(InboxEntry.ID)
        /// There were too many entries, so this one was dropped.
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
        /// Nowhere yet. It is shown as soon as possible.
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
        /// The text of its own notification, if that describes what a click does.
        var offer: NotificationContent?
    }

    /// The latest conditions. Nothing is read before the first ones.
    public private(set) var conditions = ReadingConditions(obstacles: [.unsupported])
    /// Whether the service looks for tags or for the reader.
    public private(set) var isLooking = false
    /// Whether the screen is locked.
    public private(set) var isLocked: Bool
    /// Decides where links go.
    public private(set) var router: LinkRouter
    var entries: [Entry] = []
    var hasSummary = false
    var presence = TagPresence()
    var limiter = ArrivalLimiter()
    /// The messages of the entries from an earlier run.
    var restored: Set<[UInt8]> = []
    /// The time when reading started in this run.
    var began: Duration?
    /// How long after the start of reading a tag with a message of an earlier run counts as one that stayed.
    static let restart = Duration.seconds(5)

    /// Creates a state machine that reads nothing before it gets the conditions.
    public init(router: LinkRouter = LinkRouter(), isLocked: Bool = false) {
        self.router = router
        self.isLocked = isLocked
    }

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - input: the event.
    ///   - now: the time since any fixed moment; it never goes back.
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
        // It is tried again after another one was shown, or when notifications are available again.
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
        // Entries that are being opened will then be removed.
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
            began = began ?? now
        } else if wasReading, !new.allowReading {
            presence.pause()
        }
        return isLooking == wasLooking ? [] : [isLooking ? .startLooking : .stopLooking]
    }

    /// The known entries, without those that are being saved.
    public var keptEntries: [InboxEntry.ID] { entries.filter { $0.stage != .storing }.map(\.id) }

    /// The entries that are saved on the disk. If the file of one is gone, someone has removed it.
    public var storedEntries: [InboxEntry.ID] { entries.filter { $0.stage != .storing && $0.isKept }.map(\.id) }

    func index(_ id: InboxEntry.ID) -> Int? { entries.firstIndex { $0.id == id } }
}
