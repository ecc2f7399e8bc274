// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime

/// A session in which the app is a card: it answers the APDUs of a reader.
///
/// Iterate ``eventStream``; begin with ``startEmulation()`` when a reader is there or before, and answer every
/// ``CardSession/Event/received(_:)``. The reader may select the applications that the app lists in
/// `com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes` of its entitlements; others are refused with status
/// 6A82, and the app hears nothing of them. A session lasts 60 seconds at most.
///
/// The session may be used from any thread.
open class CardSession {
    /// What the person sees when emulation stops.
    public enum EmulationUIStatus: Hashable {
        /// A check mark.
        case success
        /// An error symbol.
        case failure
    }

    let core: CardSessionCore

    /// What happens, in order. A session has one stream: several iterators share its events.
    public let eventStream: EventStream

    /// Creates a session.
    ///
    /// - Throws: ``CardSession/Error``: `systemNotAvailable` when nothing here can be a card, or another session is one
    ///   already; `accessNotAccepted` when the app has entitlements without `com.apple.developer.nfc.hce`.
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

    /// Whether there is something here that can be a card: a virtual reader, or a link to one.
    public class var isSupported: Bool { NFCEnvironment.current.cardPort != nil }

    /// Whether the app may emulate cards: something here can be a card, and the app's entitlements don't forbid it.
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

    /// Begins to answer readers. Does nothing while emulation is in progress.
    ///
    /// - Throws: ``CardSession/Error``: `invalidated` when the session has ended.
    public func startEmulation() async throws {
        guard core.startEmulation() else { throw Error.invalidated }
    }

    /// Stops answering readers; the session goes on. A command that is not yet answered is answered by nobody.
    ///
    /// - Parameter status: what the person sees.
    public func stopEmulation(status: EmulationUIStatus) async {
        core.stopEmulation(status)
    }

    /// Ends the session. Its stream ends after ``CardSession/Event/sessionInvalidated(reason:)``.
    public func invalidate() {
        core.end(.invalidated)
    }
}
