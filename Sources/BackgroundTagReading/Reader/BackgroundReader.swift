// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Reading tags in the background, as a machine: what happens goes in, what is to be done comes out.
///
/// It does nothing by itself and knows no time but the one it is told.
public struct BackgroundReader: Sendable {
    /// The largest message that is taken, in octets.
    public static let maximumMessageSize = UserActivityPayload.maximumMessageSize
    /// The most entries that are known at a time; of more the oldest is forgotten, and its notification withdrawn.
    public static let maximumEntries = 100

    /// What happens.
    public enum Input: Sendable {
        /// What is kept from an earlier run, at the start.
        case restored([InboxEntry])
        /// The conditions changed.
        case conditions(ReadingConditions)
        /// The screen was locked, or unlocked.
        case lock(isLocked: Bool)
        /// The apps, their files or the switch changed.
        case router(LinkRouter)
        /// A tag was read; the entry's name is for the case that it is a new arrival.
        case read(TagReading, InboxEntry.ID)
        /// A tag is gone.
        case left(identifier: [UInt8])
        /// No tag is near.
        case nothingNear
        /// An entry is on the disk, or can't be put there.
        case stored(InboxEntry.ID, isKept: Bool)
        /// The notification is shown.
        case announced(InboxEntry.ID)
        /// The person wants the entry opened: by the notification, or from the inbox.
        case activated(InboxEntry.ID)
        /// What was to be opened is open.
        case delivered(InboxEntry.ID)
        /// It could not be opened.
        case deliveryFailed(InboxEntry.ID)
        /// The entry was removed from the inbox.
        case cleared(InboxEntry.ID)
    }

    /// What is to be done, in this order.
    public enum Action: Sendable, Hashable {
        /// Begin to look for tags.
        case startReading
        /// Look for tags no longer, and give the reader up.
        case stopReading([ReadingConditions.Obstacle])
        /// Put the entry on the disk, then say ``Input/stored(_:isKept:)``.
        case store(InboxEntry)
        /// Show the notification, then say ``Input/announced(_:)``.
        case announce(InboxEntry.ID, NotificationContent)
        /// Note on the disk that the notification was shown.
        case markAnnounced(InboxEntry.ID)
        /// Take the notification away.
        case withdraw(InboxEntry.ID)
        /// Ask for the screen to be unlocked; the rest follows by itself.
        case requestUnlock
        /// Open it, then say ``Input/delivered(_:)`` or ``Input/deliveryFailed(_:)``.
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
        case announcing
        case waiting
        case waitingForUnlock
        case delivering
    }

    struct Entry: Sendable, Hashable {
        var id: InboxEntry.ID
        var message: [UInt8]
        var stage: Stage
    }

    /// The conditions as they were last told. There is no reading before they are.
    public private(set) var conditions = ReadingConditions(isSupported: false)
    /// Whether the screen is locked.
    public private(set) var isLocked: Bool
    /// Where links go.
    public private(set) var router: LinkRouter
    var entries: [Entry] = []
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
        case .restored(let entries): restore(entries)
        case .conditions(let conditions): change(conditions, now)
        case .lock(let isLocked): changeLock(isLocked)
        case .router(let router):
            replaceRouter(router)
        case .read(let reading, let id): read(reading, id, now)
        case .left(let identifier): left(identifier, now)
        case .nothingNear: nothingNear(now)
        case .stored(let id, let isKept): stored(id, isKept)
        case .announced(let id): announced(id)
        case .activated(let id): activate(id)
        case .delivered(let id): delivered(id)
        case .deliveryFailed(let id): deliveryFailed(id)
        case .cleared(let id): cleared(id)
        }
    }

    private mutating func replaceRouter(_ router: LinkRouter) -> [Action] {
        self.router = router
        return []
    }

    private mutating func change(_ new: ReadingConditions, _ now: Duration) -> [Action] {
        let wasReading = conditions.allowReading
        conditions = new
        switch (wasReading, new.allowReading) {
        case (false, true):
            presence.resume(now: now)
            began = began ?? now
            return [.startReading]
        case (true, false):
            presence.pause()
            return [.stopReading(new.obstacles)]
        default: return []
        }
    }

    private mutating func changeLock(_ isLocked: Bool) -> [Action] {
        self.isLocked = isLocked
        guard !isLocked else { return [] }
        return entries.filter { $0.stage == .waitingForUnlock }.flatMap { deliver($0.id) }
    }

    private mutating func left(_ identifier: [UInt8], _ now: Duration) -> [Action] {
        presence.left(identifier, now: now)
        return []
    }

    private mutating func nothingNear(_ now: Duration) -> [Action] {
        presence.nothingNear(now: now)
        return []
    }

    /// The entries that are known and on the disk, as far as that succeeded.
    public var keptEntries: [InboxEntry.ID] { entries.filter { $0.stage != .storing }.map(\.id) }

    func index(_ id: InboxEntry.ID) -> Int? { entries.firstIndex { $0.id == id } }
}
