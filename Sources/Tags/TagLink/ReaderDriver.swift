// SPDX-License-Identifier: Apache-2.0

/// A reader: the device that generates the field.
///
/// A driver conforms to ``FieldDriver`` when the host sends every frame itself, including activation. It conforms to
/// ``DiscoveringDriver`` when the reader finds and activates tags itself.
public protocol ReaderDriver: AnyObject, Sendable {
    /// The reader's usual name, such as `virtual` or `ACS ACR122U PICC Interface 00 00`.
    var name: String { get }

    /// The technologies that the reader can poll for.
    var technologies: Set<Technology> { get }

    /// The counts of the reader's links since they were created.
    var statistics: LinkStatistics { get }

    /// The thread on which the driver waits for its hardware. Nil when it has no such thread, or doesn't share it.
    ///
    /// A task that runs on it saves two thread switches in every exchange.
    var executor: (any SerialExecutor & TaskExecutor)? { get }

    /// Opens the reader now instead of at its first use. Afterwards `name` is the device's own name.
    ///
    /// - Throws: ``LinkError`` with `readerUnavailable` and a reason that explains what to do, or `cancelled`.
    func prepare() async throws(LinkError)

    /// Whether the reader was usable at any time since the driver was created. If it is missing now, it was unplugged.
    var wasAvailable: Bool { get }

    /// Calls `handler` whenever a tag may have arrived or left, until the returned observation is released.
    ///
    /// - Parameter handler: called on any thread, never while the driver holds a lock.
    /// - Returns: the observation; nil when the reader can't report presence and has to be polled.
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation?

    /// Returns the number of a tag's arrival, as found by the last look. The number changes when the tag was taken away
    /// and brought back since the look before, even for a moment.
    ///
    /// - Parameter identifier: the UID, PUPI or IDm of a tag that was found.
    /// - Returns: the number; nil when the tag is gone, or when the reader can't distinguish arrivals.
    func arrival(of identifier: [UInt8]) -> UInt64?

    /// Returns whether a tag has stayed near since it arrived, as far as the reader knows. Sends nothing to the tag.
    ///
    /// - Parameters:
    ///   - identifier: the UID, PUPI or IDm of a tag that the last look found.
    ///   - arrival: the number that ``arrival(of:)`` returned when the tag was found.
    /// - Returns: false when the tag has left, even if it has come back since.
    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool

    /// The reader behind a recording wrapper, for calls that must not be recorded. It is the reader itself when it is not
    /// being recorded.
    var unrecorded: any ReaderDriver { get }

    /// Whether the handler of ``observePresence(_:)`` is called at the moment when a tag arrives or leaves. False for the
    /// replay of a recording, which may call the handler earlier, as soon as nothing else is left to do.
    var reportsPresenceInTime: Bool { get }
}

extension ReaderDriver {
    /// The reader itself: the default is for a reader that is not a recording wrapper.
    public var unrecorded: any ReaderDriver { self }

    /// True: the default is for a reader of real or virtual tags.
    public var reportsPresenceInTime: Bool { true }

    /// Nil: the default is for a reader that can't distinguish arrivals.
    public func arrival(of identifier: [UInt8]) -> UInt64? { nil }

    /// Compares the arrivals: the default is for a reader whose ``arrival(of:)`` always reflects which tags are near
    /// now.
    public func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        self.arrival(of: identifier) == arrival
    }

    /// Does nothing: the default is for a reader that is open as long as its driver exists.
    public func prepare() async throws(LinkError) {}

    /// True: the default is for a reader whose driver is only created after the reader was found.
    public var wasAvailable: Bool { true }

    /// Nil: the default shares no thread.
    public var executor: (any SerialExecutor & TaskExecutor)? { nil }
}
