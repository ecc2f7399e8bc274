// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NFCReaders
import NFCSessions
import TagLink

/// A card emulation session, in which the app answers the APDUs of a reader.
///
/// Iterate ``eventStream``. Call ``startEmulation()``, before or after a reader is detected, and answer every
/// ``CardSession/Event/received(_:)``. The reader can select the applications that the app lists in its entitlement
/// `com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes`. The framework itself answers the selection of any
/// other application with status 6A82. A session lasts at most 60 seconds.
///
/// The session may be used from any thread.
open class CardSession {
    /// The symbol that the user sees when emulation stops.
    public enum EmulationUIStatus: Hashable {
        /// A check mark.
        case success
        /// An error symbol.
        case failure
    }

    let core: CardSessionCore

    /// The session's events, in order. If a session has several iterators, each event is passed to only one of them.
    public let eventStream: EventStream

    /// Creates a session.
    ///
    /// - Throws: ``CardSession/Error``: `systemNotAvailable` when no virtual or linked reader is available or another
    ///   session uses it; `accessNotAccepted` when the app has entitlements without `com.apple.developer.nfc.hce`.
    public init() async throws {
        guard let port = NFCEnvironment.current.cardPort else { throw Error.systemNotAvailable }
        let configuration = AppConfiguration.current
        guard configuration.error(for: .cardEmulation, in: .current) == nil else {
            throw Error.accessNotAccepted
        }
        core = CardSessionCore(port: port, configuration: configuration, environment: .current)
        eventStream = EventStream(core.events)
        guard core.attach() else { throw Error.systemNotAvailable }
        await core.claimReader()
    }

    deinit { core.end(.invalidated) }

    /// Whether card emulation is possible here, with a virtual or linked reader.
    public class var isSupported: Bool { NFCEnvironment.current.cardPort != nil }

    /// Whether the app may emulate cards: ``isSupported`` is true, and the app's entitlements don't forbid it.
    public static var isEligible: Bool {
        get async {
            guard NFCEnvironment.current.cardPort != nil else { return false }
            if case .allowed = AppConfiguration.evaluate(.current, .cardEmulation) { return true }
            return false
        }
    }

    /// The text on the sheet.
    public var alertMessage: String {
        get { core.alertMessage }
        set { core.alertMessage = newValue }
    }

    /// Whether the card answers readers now.
    public var isEmulationInProgress: Bool {
        get async { core.isEmulating }
    }

    /// Starts to answer readers. Does nothing while emulation is in progress.
    ///
    /// - Throws: ``CardSession/Error``: `invalidated` when the session has ended.
    public func startEmulation() async throws {
        guard core.startEmulation() else { throw Error.invalidated }
    }

    /// Stops answering readers, without ending the session. A command that the app has not answered yet fails.
    ///
    /// - Parameter status: the symbol that the user sees.
    public func stopEmulation(status: EmulationUIStatus) async { core.stopEmulation(status) }

    /// Ends the session. Its stream ends after ``CardSession/Event/sessionInvalidated(reason:)``.
    public func invalidate() { core.end(.invalidated) }
}

extension CardSession {
    /// An event of a session.
    public enum Event: Sendable {
        /// The session started. The first event.
        case sessionStarted
        /// A reader's field was detected.
        case readerDetected
        /// A reader sent a command. Answer it with ``CardSession/APDU/respond(response:)``.
        case received(CardSession.APDU)
        /// The reader has left, or has deselected the card.
        case readerDeselected
        /// The session ended. The last event.
        case sessionInvalidated(reason: CardSession.Error)
    }

    /// The events of a session, in order.
    public final class EventStream: AsyncSequence {
        public typealias Element = CardSession.Event
        public typealias AsyncIterator = Iterator

        let events: AsyncStream<Event>

        init(_ events: AsyncStream<Event>) { self.events = events }

        public func makeAsyncIterator() -> Iterator { Iterator(events.makeAsyncIterator()) }

        /// Waits for the events, one after the other.
        public class Iterator: AsyncIteratorProtocol {
            public typealias Element = CardSession.Event

            private var base: AsyncStream<Event>.Iterator

            init(_ base: AsyncStream<Event>.Iterator) { self.base = base }

            /// The next event; nil when the session ended.
            public func next() async throws -> Event? { await base.next(isolation: nil) }
        }
    }
}

extension CardSession {
    /// A command from a reader. A command is equal only to itself.
    public final class APDU: Sendable, Equatable, CustomDebugStringConvertible {
        /// The command's bytes.
        public let payload: Data

        private let onRespond: @Sendable (Data) throws(CardSession.Error) -> Void

        init(payload: Data, onRespond: @escaping @Sendable (Data) throws(CardSession.Error) -> Void) {
            self.payload = payload
            self.onRespond = onRespond
        }

        /// Answers the command.
        ///
        /// - Parameter response: the data and the status word, at least 2 bytes.
        /// - Throws: ``CardSession/Error``: `transmissionError` when the reader has left, the command was already
        ///   answered, or the response has no status word; `emulationStopped`; `invalidated`.
        public func respond(response: Data) async throws { try onRespond(response) }

        public static func == (lhs: APDU, rhs: APDU) -> Bool { lhs === rhs }

        public var debugDescription: String { "CardSession.APDU(\(payload.hexText()))" }
    }
}

extension CardSession {
    /// Why emulation failed, or a session ended.
    public enum Error: Swift.Error, Sendable, Hashable {
        /// The user, or the app's entitlements, did not allow card emulation.
        case accessNotAccepted
        /// Emulation stopped before the command was answered.
        case emulationStopped
        /// The app ended the session.
        case invalidated
        /// The session reached its limit of 60 seconds.
        case maxSessionDurationReached
        /// The NFC radio is switched off.
        case radioDisabled
        /// The device or the user is not eligible.
        case systemEligibilityFailed
        /// No virtual or linked reader is available for card emulation, or the reader is in use.
        case systemNotAvailable
        /// The response could not be sent, because the reader has left or the command was already answered.
        case transmissionError
        /// The user ended the session.
        case userInvalidated
    }
}

/// Prevents the system's default contactless app from opening while this app is about to present a card.
///
/// An assertion is valid for 15 seconds, or until it is released. The next assertion can be acquired 15 seconds later.
/// On Linux, no default app competes for the reader, so an assertion has no other effect. It only follows a phone's
/// times, so that you can test your code.
public final class NFCPresentmentIntentAssertion: Sendable {
    /// Why an assertion was refused.
    public enum Error: Swift.Error, Sendable, Hashable {
        /// The device or the user is not eligible.
        case systemEligibilityFailed
        /// Card emulation is not possible here, or the last assertion ended less than 15 seconds ago.
        case systemNotAvailable
    }

    private static let duration: Duration = .seconds(15)
    private static let pause: Duration = .seconds(15)

    /// The end of each live clock's last assertion.
    private static let lastAssertions = Locked<[LastAssertion]>([])

    private struct LastAssertion {
        weak var clock: (any RuntimeClock)?
        var end: Duration
    }

    private let clock: any RuntimeClock
    private let end: Duration

    private init(clock: any RuntimeClock, end: Duration) {
        self.clock = clock
        self.end = end
    }

    deinit {
        let now = clock.now
        Self.lastAssertions.withLock { lastAssertions in
            // Releasing an assertion early ends it now.
            guard let index = lastAssertions.firstIndex(where: { $0.clock === clock && $0.end == end }) else { return }
            lastAssertions[index].end = min(now, end)
        }
    }

    /// Acquires an assertion.
    ///
    /// - Returns: the assertion; keep it while you need it.
    /// - Throws: ``NFCPresentmentIntentAssertion/Error``.
    public static func acquire() async throws -> NFCPresentmentIntentAssertion {
        guard NFCEnvironment.current.cardPort != nil else { throw Error.systemNotAvailable }
        guard case .allowed = AppConfiguration.evaluate(.current, .cardEmulation) else {
            throw Error.systemEligibilityFailed
        }
        let clock = NFCEnvironment.current.clock
        let now = clock.now
        let isFree = lastAssertions.withLock { lastAssertions in
            lastAssertions.removeAll { $0.clock == nil || $0.clock === clock && now >= $0.end + pause }
            guard !lastAssertions.contains(where: { $0.clock === clock }) else { return false }
            lastAssertions.append(LastAssertion(clock: clock, end: now + duration))
            return true
        }
        guard isFree else { throw Error.systemNotAvailable }
        return NFCPresentmentIntentAssertion(clock: clock, end: now + duration)
    }

    /// Whether the assertion is valid now.
    public var isValid: Bool { clock.now < end }
}

/// The state of a card session, which receives its port's events. At the end, the session is detached from the port.
final class CardSessionCore: EmulatedCard {
    private struct State {
        var hasEnded = false
        var isEmulating = false
        /// Whether the reader has selected one of this app's applications.
        var isSelected = false
        var alertMessage = ""
        /// The number of the command that was not answered yet; nil when no command is waiting.
        var waiting: Int?
        var lastCommand = 0
        var respond: (@Sendable ([UInt8]) -> Void)?
        var timer: ScheduledEvent?
        /// Reserves the reader against the background service.
        var claim: (any ReaderClaim)?
    }

    private let port: any CardReaderPort
    private let configuration: AppConfiguration
    private let environment: NFCEnvironment
    private let continuation: AsyncStream<CardSession.Event>.Continuation
    private let state = Locked(State())
    let events: AsyncStream<CardSession.Event>

    init(port: any CardReaderPort, configuration: AppConfiguration, environment: NFCEnvironment) {
        self.port = port
        self.configuration = configuration
        self.environment = environment
        (events, continuation) = AsyncStream<CardSession.Event>.makeStream()
    }

    /// Attaches to the port and starts the session's time limit.
    func attach() -> Bool {
        continuation.yield(.sessionStarted)
        guard port.attach(self) else { return false }
        let timer = environment.clock.schedule(after: environment.limits.session) { [weak self] in
            self?.end(.maxSessionDurationReached)
        }
        state.withLock { $0.timer = timer }
        return true
    }

    var alertMessage: String {
        get { state.withLock { $0.alertMessage } }
        set { state.withLock { $0.alertMessage = newValue } }
    }

    var isEmulating: Bool { state.withLock { $0.isEmulating } }

    /// - Returns: false when the session has ended.
    func startEmulation() -> Bool {
        let (isOpen, starts) = state.withLock { state in
            let starts = !state.hasEnded && !state.isEmulating
            if starts { state.isEmulating = true }
            return (!state.hasEnded, starts)
        }
        if starts { port.setEmulating(true) }
        return isOpen
    }

    func stopEmulation(_ status: CardSession.EmulationUIStatus) {
        let stops = state.withLock { state in
            guard state.isEmulating else { return false }
            state.isEmulating = false
            state.isSelected = false
            state.respond = nil
            return true
        }
        if stops { port.setEmulating(false) }
    }

    /// Asks the background service to release the reader until the session ends.
    func claimReader() async {
        guard let claim = await environment.gate?.claim(for: .card, clock: environment.clock) else { return }
        state.withLock { if !$0.hasEnded { $0.claim = claim } }
    }

    /// Ends the session. Later calls do nothing.
    func end(_ reason: CardSession.Error) {
        let (isFirst, timer) = state.withLock { state -> (Bool, ScheduledEvent?) in
            defer {
                state.hasEnded = true
                state.isEmulating = false
                state.respond = nil
                state.claim = nil
            }
            return (!state.hasEnded, state.timer.take())
        }
        guard isFirst else { return }
        timer?.cancel()
        port.detach(self)
        continuation.yield(.sessionInvalidated(reason: reason))
        continuation.finish()
    }

    // MARK: EmulatedCard

    func readerDetected() { continuation.yield(.readerDetected) }

    func readerDeselected() {
        state.withLock { state in
            state.isSelected = false
            state.respond = nil
            state.waiting = nil
        }
        continuation.yield(.readerDeselected)
    }

    func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void) {
        if let refusal = refusal(of: apdu) { return respond(refusal) }
        let number = state.withLock { state in
            state.lastCommand += 1
            state.waiting = state.lastCommand
            state.respond = respond
            return state.lastCommand
        }
        let command = CardSession.APDU(payload: Data(apdu)) { [weak self] response throws(CardSession.Error) in
            guard let self else { throw .invalidated }
            try answer(number, with: response)
        }
        continuation.yield(.received(command))
    }

    /// Returns the status word for a command that is not passed to the app; nil for a command that is passed on.
    private func refusal(of apdu: [UInt8]) -> [UInt8]? {
        guard apdu.count >= 4, apdu[1] == 0xA4, apdu[2] == 0x04 else {
            return state.withLock { $0.isSelected } ? nil : [0x6A, 0x82]
        }
        // A phone refuses a SELECT by name whose lengths are wrong with this status.
        guard let body = APDUBody(parsing: apdu) else { return [0x6A, 0x81] }
        return state.withLock { state in
            state.isSelected = configuration.mayEmulate(Array(apdu[body.data]))
            return state.isSelected ? nil : [0x6A, 0x82]
        }
    }

    private func answer(_ number: Int, with response: Data) throws(CardSession.Error) {
        guard response.count >= 2 else { throw .transmissionError }
        let (hasEnded, isEmulating, respond) = state.withLock { state in
            guard state.waiting == number else { return (state.hasEnded, true, nil as (@Sendable ([UInt8]) -> Void)?) }
            return (state.hasEnded, state.isEmulating, state.respond.take())
        }
        if hasEnded { throw .invalidated }
        if !isEmulating { throw .emulationStopped }
        guard let respond else { throw .transmissionError }
        respond([UInt8](response))
    }
}
