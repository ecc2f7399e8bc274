// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Reading tags in the background, as a machine: what happens goes in, what is to be done comes out.
///
/// It does nothing by itself and knows no time but the one it is told.
public struct BackgroundReader: Sendable {
    /// The largest message that is taken, in bytes.
    public static let maximumMessageSize = UserActivityPayload.maximumMessageSize
    /// The most entries that are known at a time; of more the oldest is forgotten, and its notification withdrawn.
    public static let maximumEntries = 100

    /// What happens.
    public enum Input: Sendable {
        /// What is kept from an earlier run, at the start.
        case restored(EarlierRun)
        /// The conditions changed.
        case conditions(ReadingConditions)
        /// The screen was locked, or unlocked.
        case lock(isLocked: Bool)
        /// The apps, their files or the switch changed.
        case router(LinkRouter)
        /// A tag was read; the entry's name is for the case that it is a new arrival.
        case read(TagReading, InboxEntry.ID)
        /// The identifiers of all tags that are near, after the first look and whenever one has left.
        case near([[UInt8]])
        /// The identifiers of tags that an app has read.
        case readByApp([[UInt8]])
        /// An entry is on the disk, or can't be put there.
        case stored(InboxEntry.ID, isKept: Bool)
        /// The entry's notification is shown.
        case announced(InboxEntry.ID)
        /// A summary that counts these entries is shown.
        case summarized([InboxEntry.ID])
        /// A notification could not be shown.
        case notShown(NotificationSubject)
        /// A notification is gone. The person has dismissed it, or it has expired.
        case closed(NotificationSubject, isDismissed: Bool)
        /// What shows notifications has ended, and all of them with it.
        case desktopGone
        /// What shows notifications is there.
        case desktopReady
        /// The person wants the entry opened: by the notification, or from the inbox.
        case activated(InboxEntry.ID)
        /// The person wants to see what the summary counts.
        case summaryActivated
        /// What was to be opened is open.
        case delivered(InboxEntry.ID)
        /// It could not be opened, for a reason that is a sentence for people.
        case deliveryFailed(InboxEntry.ID, reason: String)
        /// It was not opened, since another process is opening it.
        case beingOpened(InboxEntry.ID)
        /// The entry was removed from the inbox.
        case cleared(InboxEntry.ID)
        /// What the disk had is not there any more, as when the inbox's folder is gone or another one.
        case inboxLost
        /// The disk may have room again for what it did not take.
        case storeAgain
    }

    /// What is to be done, in this order.
    public enum Action: Sendable, Hashable {
        /// Begin to look for tags, or for the reader. Tags that are found count once the conditions name a reader.
        case startLooking
        /// Look for tags no longer, and give the reader up.
        case stopLooking
        /// Put the entry on the disk, then say ``Input/stored(_:isKept:)``.
        case store(InboxEntry)
        /// Show the entry's notification, then report ``Input/announced(_:)`` or ``Input/notShown(_:)``.
        case announce(InboxEntry.ID, NotificationContent)
        /// Show the one summary, in place of an earlier one, then report ``Input/summarized(_:)`` or
        /// ``Input/notShown(_:)``. More may follow at once.
        case summarize([InboxEntry.ID], NotificationContent)
        /// Note on the disk that the notification was shown.
        case markAnnounced(InboxEntry.ID)
        /// Take the notification away.
        case withdraw(NotificationSubject)
        /// Keep a mark of the entry on the disk in place of the last one; nil keeps none.
        case mark(InboxEntry.ID, EntryMark?)
        /// Ask for the screen to be unlocked; the rest follows by itself.
        case requestUnlock
        /// Open it, then report ``Input/delivered(_:)`` or ``Input/deliveryFailed(_:reason:)``.
        case deliver(InboxEntry.ID, Delivery)
        /// Remove the entry from the disk.
        case remove(InboxEntry.ID)
        /// Write it to the log.
        case note(Note)
    }

    /// What the log is told. Nothing of a tag's content is in it.
    public enum Note: Sendable, Hashable {
        /// A tag was read although tags are not to be read.
        case notEligible([ReadingConditions.Obstacle])
        /// The tag has no message.
        case noMessage
        /// The message is damaged, or too large.
        case badMessage
        /// The message has no URI record.
        case noLink
        /// The URI record can't be read.
        case unusableLink
        /// The link goes nowhere.
        case refused(LinkRoute.Refusal)
        /// Too many tags arrive. It is said of the first that is turned away.
        case tooManyArrivals
        /// How many were turned away, when the next one was let in.
        case turnedAway(Int)
        /// The entry is not on the disk.
        case notKept(InboxEntry.ID)
        /// The entry, which was not on the disk, is there now.
        case kept(InboxEntry.ID)
        /// The entry's link goes nowhere now.
        case nothingToOpen(InboxEntry.ID)
        /// It could not be opened and stays in the inbox.
        case notDelivered(InboxEntry.ID)
        /// There are too many entries, and this one was forgotten.
        case forgotten(InboxEntry.ID)
    }

    /// What has become of an entry.
    enum Stage: Sendable, Hashable {
        case storing
        case waiting
        case waitingForUnlock
        case delivering
    }

    /// Where the person sees an entry.
    enum Place: Sendable, Hashable {
        /// In the inbox alone.
        case inbox
        /// Nowhere yet: it is shown as soon as that is possible.
        case due
        /// In a notification of its own.
        case own
        /// In the summary.
        case summary
    }

    struct Entry: Sendable, Hashable {
        var id: InboxEntry.ID
        var message: [UInt8]
        var stage: Stage
        var place: Place
        var isAnnounced = false
        /// Whether it is on the disk.
        var isKept = true
        var mark: EntryMark?
        /// What its own notification says, where that says what a click does.
        var offer: NotificationContent?
    }

    /// The conditions as they were last told. There is no reading before they are.
    public private(set) var conditions = ReadingConditions(isSupported: false)
    /// Whether tags, or the reader, are looked for.
    public private(set) var isLooking = false
    /// Whether the screen is locked.
    public private(set) var isLocked: Bool
    /// Where links go.
    public private(set) var router: LinkRouter
    var entries: [Entry] = []
    var hasSummary = false
    var presence = TagPresence()
    var limiter = ArrivalLimiter()
    /// The messages of entries of an earlier run.
    var restored: Set<[UInt8]> = []
    /// When tags were first read in this run.
    var began: Duration?
    /// After the first reading began, how long a tag with a message of an earlier run counts as one that stayed.
    static let restart = Duration.seconds(5)

    /// Creates a machine that reads nothing before it is told the conditions.
    public init(router: LinkRouter = LinkRouter(), isLocked: Bool = false) {
        self.router = router
        self.isLocked = isLocked
    }

    /// Takes what happened.
    ///
    /// - Parameters:
    ///   - input: what happened.
    ///   - now: the time since any moment; it never goes back.
    /// - Returns: what is to be done.
    public mutating func handle(_ input: Input, now: Duration) -> [Action] {
        switch input {
        case .restored(let run): restore(run)
        case .conditions(let conditions): change(conditions, now)
        case .lock(let isLocked): changeLock(isLocked)
        case .router(let router): replaceRouter(router)
        case .read(let reading, let id): read(reading, id, now)
        case .near(let identifiers): notice { $0.near(identifiers, now: now) }
        case .readByApp(let identifiers): notice { $0.readByApp(identifiers) }
        case .stored(let id, let isKept): stored(id, isKept)
        case .announced(let id): announced(id)
        case .summarized(let ids): summarized(ids)
        case .notShown(let subject): notShown(subject)
        case .closed(let subject, let isDismissed): closed(subject, isDismissed)
        case .desktopGone: desktopGone()
        case .desktopReady: showDue()
        case .activated(let id): activate(id)
        case .summaryActivated: openSummary()
        case .delivered(let id): delivered(id)
        case .deliveryFailed(let id, let reason): deliveryFailed(id, reason)
        case .beingOpened(let id): beingOpened(id)
        case .cleared(let id): cleared(id)
        case .inboxLost: inboxLost()
        case .storeAgain: storeAgain()
        }
    }

    private mutating func replaceRouter(_ router: LinkRouter) -> [Action] {
        self.router = router
        return []
    }

    private mutating func notice(_ change: (inout TagPresence) -> Void) -> [Action] {
        change(&presence)
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

    private mutating func changeLock(_ isLocked: Bool) -> [Action] {
        self.isLocked = isLocked
        guard !isLocked else { return [] }
        return entries.filter { $0.stage == .waitingForUnlock }.flatMap { deliver($0.id) }
    }

    /// The entries that are known and on the disk, as far as that succeeded.
    public var keptEntries: [InboxEntry.ID] { entries.filter { $0.stage != .storing }.map(\.id) }

    /// The entries that are on the disk: one of them whose file is gone was removed by somebody.
    public var storedEntries: [InboxEntry.ID] { entries.filter { $0.stage != .storing && $0.isKept }.map(\.id) }

    func index(_ id: InboxEntry.ID) -> Int? { entries.firstIndex { $0.id == id } }
}
