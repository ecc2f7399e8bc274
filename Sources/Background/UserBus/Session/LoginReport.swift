// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading

/// What logind reports of a user's session, asked once over the system's bus.
public struct LoginReport: Sendable, Hashable {
    /// The session whose screen the user looks at; nil where the user has none, or nothing reports one.
    public var session: LoginSession?
    /// Whether logind, or the system's bus, is there and does not answer. Then nobody knows whether the screen is locked.
    public var isSilent = false

    /// Asks logind.
    ///
    /// - Parameters:
    ///   - user: the user's number.
    ///   - own: the session of this process, where it is in one.
    public static func ask(of user: UInt32, own: String?) -> LoginReport {
        do throws(BusError) {
            return try BusConnection(.system).loginReport(of: user, own: own)
        } catch {
            // Where there is no bus of the system there is no logind.
            return LoginReport(isSilent: error.code == .silentBus)
        }
    }
}

extension BusConnection {
    /// Asks logind, over the system's bus, for the session whose screen a user looks at.
    ///
    /// - Throws: ``BusError`` of code `silentBus`, or `noBus` when the bus is gone.
    fileprivate func loginReport(of user: UInt32, own: String?) throws(BusError) -> LoginReport {
        do throws(BusError) {
            return LoginReport(session: LoginSession.shown(try loginSessions(of: user) ?? [], own: own))
        } catch  where error.code != .noBus {
            return LoginReport(isSilent: true)
        }
    }
}
