// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NFCReaders
import NFCSessions
import TagLink

/// A session in which the app is a card: it answers the APDUs of a reader.
///
/// Iterate ``eventStream``. Call ``startEmulation()``, before or after a reader is detected, and answer every
/// ``CardSession/Event/received(_:)``. The reader can select the applications that the app lists in
/// `com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes` of its entitlements. The framework answers a
/// selection of any other application with status 6A82, and the app does not see it. A session lasts 60 seconds at
/// most.
///
/// The session may be used from any thread.
open class CardSession {
    /// What the user sees when emulation stops.
    public enum EmulationUIStatus: Hashable {
        /// A check mark.
        case success
        /// An error symbol.
        case failure
    }

    let core: CardSessionCore

    /// The session's events, in order. A session has one stream: several iterators share its events.
    public let eventStream: EventStream

    /// Creates a session.
    ///
    /// - Throws: ``CardSession/Error``: `systemNotAvailable` when there is no virtual or linked reader, or another
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

    /// Whether the app can be a card here: there is a virtual reader, or a link to one.
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

    /// Stops answering readers; the session goes on. A command that has no answer yet stays unanswered.
    ///
    /// - Parameter status: what the user sees.
    public func stopEmulation(status: EmulationUIStatus) async { core.stopEmulation(status) }

    /// Ends the session. Its stream ends after ``CardSession/Event/sessionInvalidated(reason:)``.
    public func invalidate() { core.end(.invalidated) }
}

extension CardSession {
    /// What happens in a session.
    public enum Event: Sendable {
        /// The session started. The first event.
        case sessionStarted
        /// A reader's field was detected.
        case readerDetected
        /// A reader sent a command. Answer it with ``CardSession/APDU/respond(response:)``.
        case received(CardSession.APDU)
        /// The reader is gone, or deselected the card.
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
        /// - Throws: ``CardSession/Error``: `transmissionError` when the reader is gone, the command was answered
        ///   before, or the response has no status word; `emulationStopped`; `invalidated`.
        public func respond(response: Data) async throws { try onRespond(response) }

        public static func == (lhs: APDU, rhs: APDU) -> Bool { lhs === rhs }

        public var debugDescription: String { "CardSession.APDU(\(payload.hexText()))" }
    }
}

extension CardSession {
    /// Why emulation failed, or a session ended.
    public enum Error: Swift.Error, Sendable, Hashable {
        /// The user, or the app's entitlements, did not allow it.
        case accessNotAccepted
        /// Emulation stopped before the command was answered.
        case emulationStopped
        /// The app ended the session.
        case invalidated
        /// The session reached its limit of 60 seconds.
        case maxSessionDurationReached
        /// The radio is off.
        case radioDisabled
        /// The device or the user is not eligible.
        case systemEligibilityFailed
        /// No virtual or linked reader can take a card, or it is in use.
        case systemNotAvailable
        /// The response could not be sent: the reader is gone, or the command was answered before.
        case transmissionError
        /// The user ended the session.
        case userInvalidated
    }
}
