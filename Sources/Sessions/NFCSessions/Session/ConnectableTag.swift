// SPDX-License-Identifier: Apache-2.0
import TagLink
public import TagProtocols

/// A tag that a session has found. It is usable until the tag is lost, polling is restarted, or the session ends.
///
/// This object is a handle: commands go to the ``ReaderSession``, which owns the activated tag.
public final class ConnectableTag: Sendable {
    /// The data that the tag sent when it was activated.
    public let target: TagTarget

    /// The session that found the tag.
    public let session: ReaderSession

    /// The application that was selected when the card was found; nil for none. When the card is woken, the session
    /// selects this application again.
    package let selectedApplication: [UInt8]?

    /// Whether the card has refused each of the app's applications.
    package let hasNoApplication: Bool

    /// Whether the card reports PACE support; false if ``PollingPlan/findsPACE`` is false.
    package let supportsPACE: Bool

    /// The card's ATS, if the transport protocol was started when the card was found.
    package let answerToSelect: AnswerToSelect?

    let presence: TagPresenceID

    enum Loss: Sendable {
        /// It left, or polling was restarted, or the session ended.
        case gone
        /// It was connected for as long as a tag may be.
        case limit
    }

    private let loss = Locked<Loss?>(nil)
    private let departure = Locked(false)

    package init(_ tag: ActivatedTag, session: ReaderSession) {
        target = tag.target
        self.session = session
        presence = TagPresenceID(of: target, on: session.driver)
        selectedApplication = tag.selectedApplication
        hasNoApplication = tag.hasNoApplication
        supportsPACE = tag.supportsPACE
        answerToSelect = tag.answerToSelect
        session.environment.testContext?.made(self, as: .tag)
    }

    /// Whether the tag can still be used: the last search found the tag, and it has not been lost since.
    public var isAvailable: Bool { loss.withLock { $0 == nil } }

    /// Whether the tag can still be used and is in the field, as far as known; see ``ReaderSession/isNear(_:)``.
    public var isNear: Bool { session.isNear(self) }

    var unavailable: CommandError? {
        switch loss.withLock({ $0 }) {
        case nil: nil
        case .gone: .tagUnavailable
        case .limit: .connectionExpired(after: session.limits.connectedTag)
        }
    }

    /// Whether the tag is known to have left the field, so that it can't receive commands.
    var hasLeft: Bool { departure.withLock { $0 } }

    func noticeDeparture() { departure.withLock { $0 = true } }

    package func becomeUnavailable() { loseIfAvailable(.gone) }

    func loseIfAvailable(_ loss: Loss) { self.loss.withLock { $0 = $0 ?? loss } }

    /// Returns whether the tag is still in the field according to the reader, without sending anything to the tag.
    /// Returns nil if the reader can't distinguish visits.
    func isKnownPresent(by driver: any ReaderDriver) async -> Bool? {
        guard let arrival = presence.arrival else { return nil }
        return await driver.isStillNear(presence.identifier, since: arrival)
    }
}

/// The identity of one visit of a tag. A tag's return starts a new visit, if the reader can distinguish visits.
///
/// Travel documents and some other cards have a new identifier at each activation. All identifiers of this kind are
/// equal, so that such a card is the same at every search.
struct TagPresenceID: Hashable, Sendable {
    let identifier: [UInt8]
    /// The number of the arrival; nil if the reader can't distinguish arrivals.
    let arrival: UInt64?
    private let isVolatile: Bool

    /// Creates the identity of a tag that the last search found.
    init(of target: TagTarget, on driver: any ReaderDriver) {
        identifier = target.identifier
        arrival = driver.arrival(of: identifier)
        isVolatile =
            switch target {
            // A 4-byte UID that starts with 08 is random (ISO/IEC 14443-3, 6.5.4).
            case .nfcA: identifier.count == 4 && identifier.first == 0x08
            // A PUPI may be random (ISO/IEC 14443-3, 7.9.2).
            case .nfcB: true
            case .nfcF, .nfcV: false
            }
    }

    static func == (lhs: TagPresenceID, rhs: TagPresenceID) -> Bool {
        lhs.arrival == rhs.arrival && lhs.isVolatile == rhs.isVolatile
            && (lhs.isVolatile || lhs.identifier == rhs.identifier)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(arrival)
        if !isVolatile { hasher.combine(identifier) }
    }
}
