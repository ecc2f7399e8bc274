// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A contactless reader behind PC/SC.
///
/// The reader finds and activates tags by itself. Cards with ISO-DEP are spoken to in APDUs; other tags in frames where
/// the reader has a way for them (a PN53x inside, a transparent session, Traverse), and else in its commands for storage
/// cards, which read and write pages or blocks and nothing else. The library libpcsclite.so.1 is opened when it is first
/// needed. Tags are opened for this program alone.
///
/// Calls wait on a thread of the driver's own, ``executor``, for 20 seconds at the most. Cancelling the task of one that was
/// made elsewhere ends it; ``interrupt()`` ends any.
public final class PCSCReader: DiscoveringDriver {
    struct State {
        var connection: CardConnection?
        var route: (any FrameRoute)?
        var name: String?
        /// Whether a reader was there since the last release: then its going is waited out.
        var hadReader = false
        var findings: [String: ReaderFindings] = [:]
        var counted = LinkStatistics()
        /// How often a tag that does not answer was asked, and which arrival it was.
        var mute: (arrival: UInt64, attempts: Int) = (0, 0)
        /// Which arrival the tag of the last look was.
        var arrival: UInt64?
        /// How often the reader was unplugged while a tag was open: one that comes counts from its start.
        var losses: UInt64 = 0
    }

    /// The longest that one call to the service may take, in milliseconds.
    static let callLimit = 20_000

    let choice: ReaderChoice
    let service: ServiceConnection
    let state = Locked(State())
    let thread = DriverThread()
    let monitor: ReaderMonitor

    /// Creates a driver for one of the system's readers. Nothing is opened yet.
    ///
    /// - Parameter choice: which reader.
    public convenience init(_ choice: ReaderChoice = .first) {
        self.init(choice, layer: SystemSmartCards.shared)
    }

    /// Creates a driver on a resource manager.
    ///
    /// - Parameters:
    ///   - choice: which reader.
    ///   - layer: the resource manager.
    ///   - callLimit: the longest that one call may take, in milliseconds.
    package init(_ choice: ReaderChoice, layer: any SmartCardLayer, callLimit: Int = PCSCReader.callLimit) {
        self.choice = choice
        service = ServiceConnection(layer: layer, callLimit: callLimit)
        monitor = ReaderMonitor(layer: layer)
    }

    /// The reader's name, or what was asked for until there is one.
    public var name: String {
        if let name = state.withLock({ $0.name }) { return name }
        if case .named(let name) = choice { return name }
        return "PC/SC"
    }

    /// All four: which tags a reader finds shows when they come.
    public var technologies: Set<Technology> { Set(Technology.allCases) }

    /// Exchanges with the reader and their octets; PC/SC tells nothing of the air.
    public var statistics: LinkStatistics {
        state.withLock { state in state.counted + (state.connection?.statistics ?? .zero) }
    }

    /// False: PC/SC tells an identifier and the kind of tag.
    public var tellsActivation: Bool { false }

    /// The thread on which the driver waits.
    public var executor: (any SerialExecutor & TaskExecutor)? { thread }

    /// Makes sure that the reader is there, and the service.
    ///
    /// - Throws: ``LinkError`` with `readerUnavailable`, whose reason says what to do, or `cancelled`.
    public func prepare() async throws(LinkError) {
        try await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            guard try reader(among: usableReaders()) != nil else {
                throw LinkError(.readerUnavailable, "The reader is gone. Plug it in again.")
            }
        }
    }

    /// Calls `handler` when a card, a reader or the service comes or goes.
    public func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        monitor.observe { _ in handler() }
    }

    /// The service's count of what came and went in the reader, and how often it began to count anew.
    public func arrival(of identifier: [UInt8]) -> UInt64? { state.withLock { $0.arrival } }

    /// Looks for the tag in the reader, which is reset first. PC/SC gives one tag a reader.
    public func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag] {
        try await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            try look(technologies, systemCodes: systemCodes)
        }
    }

    /// Makes sure that the tag is still the one in the reader. There is no other to take its place.
    public func select(_ tag: DiscoveredTag) async throws(LinkError) {
        try await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            guard state.withLock({ $0.connection?.isOpen }) == true else {
                throw LinkError(.tagRemoved, "The reader has let go of the tag.")
            }
        }
    }

    /// Ends the call to the service that is under way, by cutting the connection to the service.
    public func interrupt() {
        service.interrupt()
    }

    /// Closes the card and turns its power off.
    public func release() async {
        await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = { [self] in
                service.resume()
                letGo(.unpower)
                state.withLock { $0.hadReader = false }
                service.close()
                continuation.resume()
            }
            if thread.isCurrent { work() } else { thread.run(work) }
        }
    }
}
