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
        /// The service's count when a tag was in the reader last, and how often one was looked for since with the same count.
        var present: (count: UInt64, attempts: Int)?
        /// Which arrival the tag of the last look was.
        var arrival: UInt64?
        /// How often a tag came or went without being counted by the service.
        var losses: UInt64 = 0
    }

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
    ///   - limits: the longest that calls may take.
    package init(_ choice: ReaderChoice, layer: any SmartCardLayer, limits: CallLimits = .usual) {
        self.choice = choice
        service = ServiceConnection(layer: layer, limits: limits)
        monitor = ReaderMonitor(layer: layer, absence: limits.absence)
    }

    /// The reader's name, or what was asked for until there is one.
    public var name: String {
        if let name = state.withLock({ $0.name }) { return name }
        if case .named(let name) = choice { return name }
        return "PC/SC"
    }

    /// All four, but NFC-V where a PN53x is known to be inside: which other tags a reader finds shows when they come.
    public var technologies: Set<Technology> {
        let name = name
        return Self.technologies(name, state.withLock { $0.findings[name] })
    }

    static func technologies(_ name: String, _ findings: ReaderFindings?) -> Set<Technology> {
        let hasPN53x = findings?.chip.map { $0 != nil } ?? ReaderChoice.hasPN53x(name)
        return Set(Technology.allCases).subtracting(hasPN53x ? [.nfcV] : [])
    }

    /// Exchanges with the reader and their bytes; PC/SC tells nothing of the air.
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
            // It would be waited for once more.
            guard !service.wasSilent else { throw LinkError(SmartCardError(.timeout, "SCardReleaseContext")) }
            guard try reader(among: usableReaders()) != nil else {
                throw LinkError(.readerUnavailable, "The reader is gone. Plug it in again.")
            }
        }
    }

    /// Whether another program has opened the card in the reader, so that it can't be worked with. Ask while no card is
    /// open here.
    ///
    /// - Throws: ``LinkError`` with `readerUnavailable`, whose reason says what to do, or `cancelled`.
    public func isCardInUse() async throws(LinkError) -> Bool {
        try await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            try reader(among: usableReaders())?.isInUse ?? false
        }
    }

    /// Calls `handler` when a card, a reader or the service comes or goes.
    public func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        monitor.observe { _ in handler() }
    }

    /// The service's count of what came and went in the reader, and how often it began to count anew.
    public func arrival(of identifier: [UInt8]) -> UInt64? { state.withLock { $0.arrival } }

    /// Asks the service, and through it the reader.
    public func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        let isNear = try? await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            let (connection, last) = state.withLock { ($0.connection, $0.arrival) }
            return last == arrival && connection?.isCardThere() == true
        }
        return isNear ?? false
    }

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
        monitor.setInterrupted(true)
    }

    /// Closes the card and turns its power off.
    public func release() async {
        await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = { [self] in
                service.resume()
                monitor.setInterrupted(false)
                letGo(.unpower)
                state.withLock { $0.hadReader = false }
                service.close()
                continuation.resume()
            }
            if thread.isCurrent { work() } else { thread.run(work) }
        }
    }
}
