// SPDX-License-Identifier: Apache-2.0

/// The phone around a reader, where there is one: it can withhold what a session needs, and shows what happens in it.
package protocol SessionHost: AnyObject, Sendable {
    /// What the phone withholds from a session that begins now.
    var withheld: SessionNeeds { get }

    /// Something has happened in an app's session. Returns at once.
    ///
    /// - Parameter session: the number of the session in this process.
    func note(_ event: SessionEvent, of session: Int)
}

/// What a session needs from the phone and from the app's declarations.
package struct SessionNeeds: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The radio, which can be switched off.
    package static let radio = SessionNeeds(rawValue: 1)
    /// A reader that nothing else of the system uses.
    package static let freeReader = SessionNeeds(rawValue: 1 << 1)
    /// The app's entitlement to read tags.
    package static let entitlement = SessionNeeds(rawValue: 1 << 2)
    /// The app's text that says why it reads tags.
    package static let usageText = SessionNeeds(rawValue: 1 << 3)

    /// Why a session that lacks these can't begin; nil when it can. Missing declarations have errors of their own.
    var end: SessionEnd? {
        if contains(.radio) { return .radioDisabled }
        return contains(.freeReader) ? .systemBusy : nil
    }
}

/// What happens in an app's session, for whoever shows it.
package enum SessionEvent: Sendable, Hashable {
    /// The app begins the session; its class.
    case began(String)
    /// The app looks for tags again.
    case restarted
    /// The app's delegate is called.
    case callback(name: String, detail: String)
    /// The session is over; the reason.
    case ended(String)
}
