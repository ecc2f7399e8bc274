// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading

/// The answer of logind about a user's session, asked once over the system bus.
package struct LoginReport: Sendable, Hashable {
    /// The session whose screen the user sees; nil when there is none, or nothing reports one.
    package var session: LoginSession?
    /// Whether logind or the system bus is there but does not answer. Then it is unknown whether the screen is locked.
    package var isSilent = false

    /// Asks logind.
    ///
    /// - Parameters:
    ///   - user: the user ID.
    ///   - own: the session of this process; nil if it is not in a session.
    package static func ask(of user: UInt32, own: String?) -> LoginReport {
        do throws(BusError) {
            return try BusConnection(.system).loginReport(of: user, own: own)
        } catch {
            // Without a system bus there is no logind.
            return LoginReport(isSilent: error.code == .silentBus)
        }
    }
}

extension BusConnection {
    /// Asks logind over the system bus for the session whose screen a user sees.
    ///
    /// - Throws: ``BusError`` with `silentBus`, or `noBus` when the bus is gone.
    fileprivate func loginReport(of user: UInt32, own: String?) throws(BusError) -> LoginReport {
        do throws(BusError) {
            return LoginReport(session: LoginSession.shown(try loginSessions(of: user) ?? [], own: own))
        } catch  where error.code != .noBus {
            return LoginReport(isSilent: true)
        }
    }
}
