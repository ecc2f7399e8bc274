// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A mistake in an app's code that is not visible: there is no error, or none that explains it.
package enum APIMisuse: Sendable, Hashable {
    /// `begin()` was called on a session that has ended.
    case beginsAgain
    /// The session waits for another one to end.
    case waitsForTurn
    /// The delegate was released before the session had reported everything to it.
    case delegateReleased
    /// The delegate's methods are isolated to the main actor, but the session calls them on its own queue.
    case delegateOfMainActor
    /// The card has none of the applications that the app lists. It arrives as a MIFARE card, or not at all.
    case noListedApplication(arrives: Bool)
    /// A tag of a session that has ended was used while another session has the reader.
    case tagOfOlderSession

    /// What happened and what to do, as sentences for the app's author.
    package var explanation: String {
        switch self {
        case .beginsAgain:
            "begin() was called on a session that has ended, and does nothing. Make another session."
        case .waitsForTurn:
            "A session waits for its turn, because another one is active. Invalidate that one when it is done."
        case .delegateReleased:
            """
            The delegate of a session was released, so nobody hears what the session has found. Keep a reference to it: \
            the session holds it weakly.
            """
        case .delegateOfMainActor:
            """
            The delegate of a session belongs to the main actor, and the session calls it on another queue than the main \
            one. iOS 26 ends the app there. Give the session DispatchQueue.main as its queue.
            """
        case .noListedApplication(let arrives):
            """
            A card has none of the applications that the app lists, so it \
            \(arrives ? "arrives as .miFare and not as .iso7816" : "is not reported"). Add its application to \
            com.apple.developer.nfc.readersession.iso7816.select-identifiers in the app's Info.plist.
            """
        case .tagOfOlderSession:
            """
            A tag of a session that has ended was used while another session is active. Use the tags that the active \
            session has found.
            """
        }
    }
}

/// Reports an app's mistakes with one session, each only once.
package final class MisuseReporter: Sendable {
    private let environment: NFCEnvironment
    private let reported = Locked<Set<APIMisuse>>([])

    /// Creates a report without mistakes.
    package init(environment: NFCEnvironment) { self.environment = environment }

    /// Writes a line to standard error and to a test's trace, unless the mistake was already reported.
    package func add(_ mistake: APIMisuse) {
        if reported.withLock({ $0.insert(mistake).inserted }) { environment.notice(mistake.explanation) }
    }
}
