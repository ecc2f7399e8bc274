// SPDX-License-Identifier: Apache-2.0

/// A login session of a user, as described by `org.freedesktop.login1.Session`.
public struct LoginSession: Sendable, Hashable {
    /// The session's identifier.
    public var id: String
    /// `Class`, such as `user`.
    public var sessionClass: String
    /// `Seat`: whether the session has a local screen and keyboard. A network session has none.
    public var hasSeat: Bool
    /// `Active`: whether the session is the one in the foreground.
    public var isActive: Bool
    /// `LockedHint`: whether the session's screen is locked.
    public var isLocked: Bool
    /// `IdleHint`: whether the user has done nothing for some time.
    public var isIdle: Bool

    /// Creates a session.
    public init(
        id: String,
        sessionClass: String = "user",
        hasSeat: Bool = true,
        isActive: Bool,
        isLocked: Bool,
        isIdle: Bool = false
    ) {
        self.id = id
        self.sessionClass = sessionClass
        self.hasSeat = hasSeat
        self.isActive = isActive
        self.isLocked = isLocked
        self.isIdle = isIdle
    }

    /// Returns the session whose screen the user looks at.
    ///
    /// - Parameters:
    ///   - sessions: the user's sessions.
    ///   - own: the session of this process, if it has one.
    /// - Returns: nil when the user has no session.
    public static func shown(_ sessions: [LoginSession], own: String?) -> LoginSession? {
        let all = sessions.filter { $0.sessionClass.hasPrefix("user") }
        // A user in a network session does not look at a screen of this system.
        let seated = all.filter(\.hasSeat)
        let users = seated.isEmpty ? all : seated
        return users.first { $0.id == own } ?? users.first(where: \.isActive) ?? users.min { $0.id < $1.id }
    }
}
