// SPDX-License-Identifier: Apache-2.0

/// A reader: the thing that makes the field.
///
/// A driver conforms to ``FieldDriver`` when the host sends every frame itself, activation included, and to
/// ``DiscoveringDriver`` when the reader finds and activates tags by itself.
public protocol ReaderDriver: AnyObject, Sendable {
    /// The reader's name as people know it, such as `virtual` or `ACS ACR122U PICC Interface 00 00`.
    var name: String { get }

    /// The technologies that the reader can poll for.
    var technologies: Set<Technology> { get }

    /// What the reader's links have counted since they were made.
    var statistics: LinkStatistics { get }

    /// The thread on which the driver waits for its hardware; nil when it has none, or none that others may use.
    ///
    /// A task that runs there spares two wake-ups in every exchange.
    var executor: (any SerialExecutor & TaskExecutor)? { get }

    /// Opens the reader where that is not done when it is first used, so that its name says what it is.
    ///
    /// - Throws: ``LinkError`` with `readerUnavailable`, whose reason says what to do, or `cancelled`.
    func prepare() async throws(LinkError)

    /// Whether the reader could be used at any time since the driver was made: then it was there, if it is gone now.
    var wasThere: Bool { get }

    /// Calls `handler` whenever a tag may have come or gone, until the returned observation is cancelled or released.
    ///
    /// - Parameter handler: called on any thread, never under the driver's locks.
    /// - Returns: the observation, or nil when the reader can't tell and has to be polled by time.
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation?

    /// Which arrival of a tag the last look has found: another number when the tag was taken away and brought back since
    /// the look before, however short it was away.
    ///
    /// - Parameter identifier: the UID, PUPI or IDm of a tag that was found.
    /// - Returns: the number, or nil when the tag is gone, or the reader can't tell arrivals apart.
    func arrival(of identifier: [UInt8]) -> UInt64?

    /// Whether a tag has stayed near since it arrived, as far as the reader itself knows. Nothing is sent to the tag.
    ///
    /// - Parameters:
    ///   - identifier: the UID, PUPI or IDm of a tag that the last look has found.
    ///   - arrival: the number that ``arrival(of:)`` gave when the tag was found.
    /// - Returns: false when the tag has left, also when it has come back since.
    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool
}

extension ReaderDriver {
    /// Nil, for a reader that can't tell.
    public func arrival(of identifier: [UInt8]) -> UInt64? { nil }

    /// Compares the arrivals, for a reader whose ``arrival(of:)`` always says what is near now.
    public func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        self.arrival(of: identifier) == arrival
    }

    /// Nothing to do, for a reader that is open while it exists.
    public func prepare() async throws(LinkError) {}

    /// True, for a reader whose driver is made when the reader has been found.
    public var wasThere: Bool { true }

    /// None that others may use.
    public var executor: (any SerialExecutor & TaskExecutor)? { nil }
}

/// A reader whose host sends every frame, from the first REQA on.
public protocol FieldDriver: ReaderDriver {
    /// The link to whatever is in the field, in one technology. The same object for the same technology.
    ///
    /// - Returns: the link, or nil when the reader does not have the technology.
    func link(for technology: Technology) -> (any FrameLink)?

    /// Turns the carrier on or off. Tags lose power, and with it their state, when it is off.
    func setCarrier(_ isOn: Bool) async throws(LinkError)
}

extension FieldDriver {
    /// The sum of what the links of all technologies have counted.
    public var statistics: LinkStatistics {
        Technology.allCases.reduce(.zero) { $0 + (link(for: $1)?.statistics ?? .zero) }
    }
}

/// A reader that finds and activates tags by itself, such as one behind PC/SC, or a PN532.
///
/// Calls are made one at a time. A driver that has to wait for its hardware does so on threads of its own.
public protocol DiscoveringDriver: ReaderDriver {
    /// Whether all of a ``DiscoveredTag/Identity`` is what the tag said: true, unless the reader tells an identifier and a
    /// kind of tag, from which ATQA, SAK and DSFID were concluded.
    var tellsActivation: Bool { get }

    /// Looks once for tags. Those that were found before are forgotten; their links throw `tagRemoved`.
    ///
    /// - Parameters:
    ///   - technologies: what to look for; others are left out.
    ///   - systemCodes: the FeliCa systems to look for, each in turn; a tag is found by the first that it has.
    /// - Returns: the tags; none when nothing is there.
    /// - Throws: ``LinkError`` with `readerUnavailable` when the reader is gone, `transmission` for what may go better
    ///   the next time, `inUse` while another program has the tag, or `cancelled`.
    func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag]

    /// Makes a tag the one that is worked with. A card's protocol begins from its start if it was not the last one.
    ///
    /// - Parameter tag: one that the last ``discover(_:systemCodes:)`` gave.
    /// - Throws: ``LinkError`` with `tagRemoved` or `timeout` when it is gone, `readerUnavailable` or `cancelled`.
    func select(_ tag: DiscoveredTag) async throws(LinkError)

    /// Ends what is under way, from any thread: it throws `cancelled`, as all does that is begun until ``release()``.
    ///
    /// A session that ends calls it besides cancelling the task that waits, which a driver may not see while the task runs
    /// on its ``executor``.
    func interrupt()

    /// Lets go of the tags and turns the field off, where the reader can. Others may use the reader afterwards.
    func release() async
}

extension DiscoveringDriver {
    /// True, for a reader that shows what tags answer to it.
    public var tellsActivation: Bool { true }

    /// Nothing to do, for a driver that sees that the task was cancelled.
    public func interrupt() {}
}

/// Keeps a presence handler registered for as long as it lives.
public final class PresenceObservation: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates an observation.
    ///
    /// - Parameter onCancel: takes the handler out again; called when the observation is released.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    deinit {
        onCancel()
    }
}
