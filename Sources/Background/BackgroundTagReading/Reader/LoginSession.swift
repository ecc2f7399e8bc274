// SPDX-License-Identifier: Apache-2.0

/// A session of a user, as `org.freedesktop.login1.Session` describes it.
public struct LoginSession: Sendable, Hashable {
    /// Its name.
    public var id: String
    /// `Class`, such as `user`.
    public var sessionClass: String
    /// `Seat`: whether it has a screen and a keyboard here. One over the network has none.
    public var hasSeat: Bool
    /// `Active`: whether it is the one that is seen.
    public var isActive: Bool
    /// `LockedHint`: whether its screen is locked.
    public var isLocked: Bool
    /// `IdleHint`: whether nobody did anything for some time.
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

    /// The session whose screen the user looks at.
    ///
    /// - Parameters:
    ///   - sessions: the user's sessions.
    ///   - own: the session of this process, where it is in one.
    /// - Returns: nil when the user has none with a screen or a terminal.
    public static func shown(_ sessions: [LoginSession], own: String?) -> LoginSession? {
        let all = sessions.filter { $0.sessionClass.hasPrefix("user") }
        // Somebody who is here over the network looks at no screen of this system.
        let seated = all.filter(\.hasSeat)
        let users = seated.isEmpty ? all : seated
        return users.first { $0.id == own } ?? users.first(where: \.isActive) ?? users.min { $0.id < $1.id }
    }
}
