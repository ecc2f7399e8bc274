// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Glibc

/// Whether the user's screen is locked, asked once.
package enum ScreenLock: Sendable, Hashable {
    /// It is not locked, or nothing reports the lock.
    case unlocked
    /// It is locked.
    case locked
    /// A program that knows does not answer, so it counts as locked. The reason is a sentence for people.
    case unknown(reason: String)

    /// Asks logind and the screen savers. If there are none, the screen counts as unlocked.
    package static func ask() -> ScreenLock {
        var surroundings = SystemConditions()
        let login = LoginReport.ask(of: geteuid(), own: nil)
        surroundings.session = login.session
        if surroundings.isLocked { return .locked }
        do throws(BusError) {
            let savers = try BusConnection(.user).screenSavers()
            surroundings.isScreenSaverOn = savers.isOn
            if surroundings.isLocked { return .locked }
            let silent = (login.isSilent ? ["logind"] : []) + savers.silent
            guard !silent.isEmpty else { return .unlocked }
            return .unknown(reason: "\(silent.joined(separator: ", ")) does not answer whether it is locked.")
        } catch  where error.code == .silentBus {
            return .unknown(reason: error.reason)
        } catch {
            return login.isSilent ? .unknown(reason: "logind does not answer whether it is locked.") : .unlocked
        }
    }
}
