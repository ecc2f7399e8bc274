// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
public import TagLink

/// A contactless reader behind PC/SC.
///
/// The reader finds and activates tags by itself. The driver sends APDUs to cards with ISO-DEP. It sends frames to
/// other tags, if the reader has a way to do so (a PN53x, a transparent session, Traverse). Otherwise it uses the
/// reader's commands for storage cards, which only read and write pages or blocks. The library libpcsclite.so.1 is
/// opened when it is first needed. Tags are opened for this program only.
///
/// Calls wait on the driver's own thread, ``executor``, for 20 seconds at most. Cancelling the task of a call on
/// another thread ends the call. ``interrupt()`` ends any call.
public final class PCSCReader: DiscoveringDriver {
    struct State {
        var connection: CardConnection?
        var route: (any FrameRoute)?
        var name: String?
        /// Whether a reader was connected since the last release. If so, the driver waits until it is connected again.
        var hadReader = false
        var findings: [String: ReaderFindings] = [:]
        var earlierStatistics = LinkStatistics()
        /// How many times the driver tried to open a tag that does not answer, and the number of that tag's arrival.
        var mute: (arrival: UInt64, attempts: Int) = (0, 0)
        /// The service's count when a tag was last in the reader, and how many times the driver has looked for a hidden
        /// tag since then.
        var present: (count: UInt64, attempts: Int)?
        var arrival: UInt64?
        /// How many times a tag arrived or left without being counted by the service.
        var losses: UInt64 = 0
    }

    /// Whether a reader was connected since the last release.
    var hadReader: Bool {
        get { state.withLock { $0.hadReader } }
        set { state.withLock { $0.hadReader = newValue } }
    }

    let choice: ReaderChoice
    let service: ServiceConnection
    let state: Locked<State>
    let thread = QueueExecutor(target: nil, knowsCallers: true)
    let monitor: ReaderMonitor

    /// Creates a driver for one of the system's readers, without opening it.
    ///
    /// - Parameter choice: which reader.
    public convenience init(_ choice: ReaderChoice = .first) {
        self.init(choice, layer: SystemSmartCards.shared)
    }

    /// Creates a driver on a resource manager, with the reader's full name if known.
    package init(_ choice: ReaderChoice, name: String? = nil, layer: any SmartCardLayer, limits: CallTimeouts = .usual)
    {
        self.choice = choice
        state = Locked(State(name: name))
        service = ServiceConnection(layer: layer, limits: limits)
        monitor = ReaderMonitor(layer: layer, absence: limits.absence)
    }

    /// The reader's name. Until a reader is found, the name from the choice.
    public var name: String {
        if let name = state.withLock({ $0.name }) { return name }
        if case .named(let name) = choice { return name }
        return "PC/SC"
    }

    /// All four, but without NFC-V if the reader seems to have a PN53x. Which other tags the reader finds is unknown
    /// until they arrive.
    public var technologies: Set<Technology> {
        let name = name
        return Self.technologies(name, state.withLock { $0.findings[name] })
    }

    static func technologies(_ name: String, _ findings: ReaderFindings?) -> Set<Technology> {
        let hasPN53x = findings?.chip.map { $0 != nil } ?? ReaderChoice.hasPN53x(name)
        return Set(Technology.allCases).subtracting(hasPN53x ? [.nfcV] : [])
    }

    /// Counts exchanges with the reader and their bytes, because PC/SC does not report frames.
    public var statistics: LinkStatistics {
        state.withLock { state in state.earlierStatistics + (state.connection?.statistics ?? .zero) }
    }

    /// False, because PC/SC reports only an identifier and the kind of tag.
    public var reportsActivationData: Bool { false }

    /// The thread on which the driver waits.
    public var executor: (any SerialExecutor & TaskExecutor)? { thread }

    /// Checks that the reader and the service are available.
    ///
    /// - Throws: `LinkError` with `readerUnavailable`, whose reason explains what to do, or with `cancelled`.
    public func prepare() async throws(LinkError) {
        try await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            // A call would again wait for a service that does not answer.
            guard !service.wasSilent else { throw LinkError(SmartCardError(.timeout, "SCardReleaseContext")) }
            guard try reader(among: usableReaders()) != nil else {
                throw LinkError(.readerUnavailable, "The reader is gone. Plug it in again.")
            }
        }
    }

    /// Returns whether another program has opened the card in the reader, so that this program can't use it. Only call
    /// this while no card is open here. Throws `LinkError` with `readerUnavailable`, and a reason that says what to do,
    /// or `cancelled`.
    package func isCardInUse() async throws(LinkError) -> Bool {
        try await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            try reader(among: usableReaders())?.isInUse ?? false
        }
    }

    /// Calls `handler` when a card, a reader or the service appears or disappears.
    public func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        monitor.observe(handler)
    }

    /// Returns the service's count of arrivals and removals in the reader, combined with how often that count was
    /// reset.
    public func arrival(of identifier: [UInt8]) -> UInt64? { state.withLock { $0.arrival } }

    /// Asks the service. The service may ask the reader.
    public func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        let isNear = try? await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            let (connection, last) = state.withLock { ($0.connection, $0.arrival) }
            return last == arrival && connection?.isCardPresent() == true
        }
        return isNear ?? false
    }

    /// Resets and then polls for the tag in the reader. PC/SC reports one tag per reader.
    public func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag] {
        try await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            try look(technologies, systemCodes: systemCodes)
        }
    }

    /// Checks that the tag is still in the reader, which never reports another tag to select.
    public func select(_ tag: DiscoveredTag) async throws(LinkError) {
        try await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            guard state.withLock({ $0.connection?.isOpen }) == true else {
                throw LinkError(.tagRemoved, "The reader lost the tag.")
            }
        }
    }

    /// Ends the current call by closing the connection to the service.
    public func interrupt() {
        setInterrupted(true)
    }

    private func setInterrupted(_ isInterrupted: Bool) {
        service.setInterrupted(isInterrupted)
        monitor.setInterrupted(isInterrupted)
    }

    /// On an ACR122U: green with a short beep, or red with two. Its LED and buzzer have a command that other readers lack
    /// (ACR122U API 2.04, 6.2).
    public func signal(isSuccess: Bool) async -> Bool {
        // Both LEDs change, and end red or green. Blinking begins with that LED on; 200 ms on, 100 ms off, once or twice,
        // with the buzzer in the first part.
        let (state, times): (UInt8, UInt8) = isSuccess ? (0b1010_1110, 1) : (0b0101_1101, 2)
        let (connection, command) = (
            self.state.withLock { $0.connection }, [0xFF, 0x00, 0x40, state, 0x04, 0x02, 0x01, times, 0x01]
        )
        guard let connection, connection.reader.contains("ACR122") else { return false }
        // Without a card, for example after it was lost, the reader takes no command.
        _ = try? await thread.perform(cancelling: service) { () throws(LinkError) in try connection.ask(command) }
        return true
    }

    /// Closes the card and turns its power off.
    public func release() async {
        await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = { [self] in
                setInterrupted(false)
                releaseTag(.unpower)
                hadReader = false
                service.close()
                continuation.resume()
            }
            if thread.isCurrent { work() } else { thread.async(work) }
        }
    }
}
