// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import LinkDelivery
import LinuxSupport
import NFCReaders
import NFCSessions
import TagLink
import UserBus

/// Decides whether to read tags, depending on system conditions, the reader, and the apps using the reader.
final class ReadingControl {
    private struct LoggedState {
        /// Nil before the first log line.
        var isReading: Bool?
        /// The reader's problem, if the reader is why tags are not read.
        var reason: String?
    }

    private let environment: NFCEnvironment
    private let log: Log
    private let loop: StateMachineDriver
    private let links: LinkOpening
    private let inbox: InboxKeeper
    private var unlocks: UnlockHistory<PrivateFolder>
    private(set) var systemConditions = SystemConditions()
    /// Whether all conditions are known and the state machine has received them.
    private(set) var hasBegun = false
    private var lastLoggedState = LoggedState()
    private var watcher: TagWatcher?
    private lazy var polling = PollingToggle(
        start: { [weak self] in self?.watcher?.start() },
        stop: { [weak self] in await self?.watcher?.stop() }
    )
    private var gate: ReaderGateServer?
    private var session: SessionWatch?
    private var devices: DeviceWatch?
    private var desktop: DesktopWatch?
    /// The current reading, used to measure the time from a tag's arrival to its notification.
    private var reading: TagWatcher.Reading?

    init(
        _ environment: NFCEnvironment,
        _ log: Log,
        _ loop: StateMachineDriver,
        _ links: LinkOpening,
        _ inbox: InboxKeeper,
        _ unlocks: UnlockHistory<PrivateFolder>
    ) {
        self.environment = environment
        self.log = log
        self.loop = loop
        self.links = links
        self.inbox = inbox
        self.unlocks = unlocks
    }

    // MARK: Starting and stopping

    /// Creates the gate for apps that use the reader, and the watcher, which does not poll yet.
    func prepare() throws {
        gate = try ReaderGateServer(.ofUser) { [weak self] identifiers in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.loop.handle(.readByApp(identifiers)) } }
        } onChange: { [weak self] purposes in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.readerIsWanted(for: purposes) } }
        }
        watcher = TagWatcher(environment) { [weak self, links] event in
            let isReading = if case .read = event { true } else { false }
            // Events are handled in order. A read tag waits until the association files it may need are compiled.
            links.inOrder(compilesFirst: isReading) { self?.notice(event) }
        }
        if case .none(let reason) = environment.reader { systemConditions.reader = .missing(reason: reason) }
    }

    /// Starts watching the system conditions. The state machine then polls for tags whenever conditions allow.
    func begin(_ bus: BusConnection) {
        let own = ProcessInfo.processInfo.environment["XDG_SESSION_ID"]
        session = SessionWatch(own: own) { [weak self] in self?.systemConditionsChanged() }
        devices = DeviceWatch { [weak self] in self?.systemConditionsChanged() }
        desktop = DesktopWatch(bus) { [weak self] in self?.systemConditionsChanged() }
        systemConditionsChanged()
    }

    func end() async { await watcher?.stop() }

    // MARK: System conditions

    /// Handles a bus message if it concerns the desktop.
    func take(_ message: ReceivedMessage) { desktop?.take(message) }

    /// Refreshes the login state, because a hanging logind does not report that the screen was locked.
    func refreshLock() { session?.refresh() }

    /// Asks the desktop to show its unlock prompt. Returns the names of the services asked.
    func promptToUnlock() -> [String] { desktop?.promptToUnlock() ?? [] }

    private func systemConditionsChanged() {
        // The state is incomplete until all watches exist.
        guard let session, let devices, let desktop else { return }
        systemConditions.session = session.session
        systemConditions.isLoginSilent = session.isSilent
        systemConditions.isGoingToSleep = session.isGoingToSleep
        systemConditions.isCameraOpen = devices.isCameraOpen
        systemConditions.radios = devices.radios
        systemConditions.powerSaveMode = desktop.powerSaveMode
        systemConditions.isScreenSaverOn = desktop.isScreenSaverOn
        systemConditions.silentSavers = desktop.silentSavers
        systemConditions.isDisplayLit = systemConditions.powerSaveMode == nil ? SystemFiles.isDisplayLit : nil
        if systemConditions.isUnlocked { unlocks.remember() }
        systemConditions.wasUnlocked = unlocks.isRemembered
        if loop.machine.isLocked != systemConditions.isLocked { log.write("lock", lockText) }
        // The first call opens entries that an earlier run was asked to open, unless the screen is locked.
        loop.handle(.lock(isLocked: systemConditions.isLocked))
        conditionsChanged()
    }

    private var lockText: String {
        let silent = (systemConditions.isLoginSilent ? ["logind"] : []) + systemConditions.silentSavers
        guard silent.isEmpty else {
            let names = silent.joined(separator: ", ")
            return "The screen counts as locked: \(names) does not answer."
        }
        return systemConditions.isLocked ? "The screen is locked." : "The screen is unlocked."
    }

    private func conditionsChanged() {
        loop.handle(.conditions(systemConditions.conditions))
        hasBegun = true
        logState()
    }

    private func logState() {
        let conditions = systemConditions.conditions
        if conditions.allowReading {
            guard lastLoggedState.isReading != true else { return }
            lastLoggedState = LoggedState(isReading: true)
            return log.write("reading", "Tags are read.")
        }
        let isForReader = conditions.obstacles == [.unsupported]
        // The reader has not answered yet.
        if isForReader, case .unasked = systemConditions.reader { return }
        let reason = isForReader ? systemConditions.findings.first?.source : nil
        // Logs the start of a pause and changes of the reader's problem, but not changes among other obstacles.
        guard lastLoggedState.isReading != false || reason != nil && reason != lastLoggedState.reason else { return }
        lastLoggedState = LoggedState(isReading: false, reason: reason)
        let reasons = conditions.obstacles.map { obstacle in
            obstacle == .unsupported ? systemConditions.findings.first?.source ?? obstacle.reason : obstacle.reason
        }
        log.write(
            "not-reading",
            "Tags are not read. \(reasons.joined(separator: " "))",
            ["obstacles": conditions.obstacles.map(\.rawValue).joined(separator: " ")]
        )
    }

    // MARK: The reader

    func startLooking() { polling.turnOn() }

    func stopLooking() {
        if case .ready(let name) = systemConditions.reader { systemConditions.reader = .unasked(name: name) }
        polling.turnOff()
    }

    private func readerIsWanted(for purposes: Set<ReaderGate.Purpose>) {
        systemConditions.isReaderSessionActive = purposes.contains(.session)
        systemConditions.isCardActive = purposes.contains(.card)
        systemConditionsChanged()
        guard !purposes.isEmpty else { return }
        Task {
            // If the app has left meanwhile, polling is on again, and apps that arrived since then are served later.
            if await polling.release() { gate?.grant() }
        }
    }

    private func notice(_ event: TagWatcher.Event) {
        switch event {
        case .available:
            // Ignore events that were pending when the reader was released.
            guard loop.machine.isLooking else { return }
            systemConditions.reader = .ready(name: watcher?.readerName ?? "")
            systemConditionsChanged()
        case .unavailable(let reason):
            guard loop.machine.isLooking else { return }
            systemConditions.reader = .missing(reason: reason)
            systemConditionsChanged()
        case .near(let identifiers):
            if loop.machine.conditions.allowReading { loop.handle(.near(identifiers)) }
        case .read(let reading):
            // Some sources can't report changes, so check them now.
            if systemConditions.isDisplayLit != nil { systemConditionsChanged() }
            links.reloadRouter()
            self.reading = reading
            let seconds = max(Date().timeIntervalSince1970, 0)
            let id = InboxEntry.ID(
                received: UInt64(seconds * 1000),
                number: .random(in: 0...UInt32.max)
            ).following(inbox.identifiers)
            loop.handle(.read(TagReading(identifier: reading.identifier, message: reading.message), id))
            self.reading = nil
        }
    }

    /// Logs the time from the tag's arrival until its notification.
    func logDuration(of id: InboxEntry.ID, _ content: NotificationContent) {
        guard let reading else { return }
        let elapsed = environment.clock.now - reading.noticed
        log.write(
            "arrived",
            // Virtual tags answer faster than real radio frames could be sent.
            "A tag was read in \(Self.milliseconds(elapsed)) ms. The airtime is \(Self.milliseconds(reading.airtime)) ms.",
            content: content.body,
            ["id": "\(id)", "ms": Self.milliseconds(elapsed), "air_ms": Self.milliseconds(reading.airtime)]
        )
    }

    /// Formats a duration in milliseconds with three decimals.
    static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst())"
    }
}
