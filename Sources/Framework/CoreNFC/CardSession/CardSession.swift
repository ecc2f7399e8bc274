// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCSessions

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
        guard ConfigurationGate.error(for: .cardEmulation, in: configuration) == nil else {
            throw Error.accessNotAccepted
        }
        core = CardSessionCore(port: port, configuration: configuration, environment: .current)
        eventStream = EventStream(core.events)
        guard core.attach() else { throw Error.systemNotAvailable }
        await core.claimReader()
    }

    deinit {
        core.end(.invalidated)
    }

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
    public func stopEmulation(status: EmulationUIStatus) async {
        core.stopEmulation(status)
    }

    /// Ends the session. Its stream ends after ``CardSession/Event/sessionInvalidated(reason:)``.
    public func invalidate() {
        core.end(.invalidated)
    }
}
