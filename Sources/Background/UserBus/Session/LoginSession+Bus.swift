// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading

/// The sessions of logind (org.freedesktop.login1).
extension BusConnection {
    /// The object of logind's manager.
    package static let loginManager = BusCall.Object(
        "org.freedesktop.login1",
        "/org/freedesktop/login1",
        "org.freedesktop.login1.Manager"
    )
    /// The maximum number of sessions that are read.
    private static let maximumSessions = 64

    /// Asks logind over the system bus for the sessions of a user.
    ///
    /// - Parameter user: the user ID.
    /// - Returns: nil when there is no logind.
    /// - Throws: ``BusError`` when logind does not answer, or answers with an error. Then nothing is known about the
    ///   sessions. The code is `silentBus` when the bus itself does not answer.
    package func loginSessions(of user: UInt32) throws(BusError) -> [LoginSession]? {
        guard let list = try listSessions() else { return nil }
        var sessions: [LoginSession] = []
        for entry in list.prefix(Self.maximumSessions) {
            // The session's name, the user ID, the user's name, the seat and the object.
            guard let values = entry.values, values.count == 5, values[1].integer == Int64(user),
                let id = values[0].text, let path = values[4].text
            else {
                continue
            }
            do throws(BusError) {
                sessions.append(try loginSession(id, path, hasSeat: values[3].text?.isEmpty == false))
            } catch {
                // A session that has ended since then is not listed any more.
                guard error.code != .noAnswer, let now = try listSessions() else { throw error }
                if now.contains(where: { $0.values?.first?.text == id }) { throw error }
            }
        }
        return sessions
    }

    /// - Returns: nil when there is no logind.
    private func listSessions() throws(BusError) -> [BusValue]? {
        do throws(BusError) {
            guard let list = try ask(BusCall(Self.loginManager, "ListSessions")).first?.values else {
                throw Self.badAnswer
            }
            return list
        } catch {
            // If logind can't be started, there is none.
            guard try isThere(Self.loginManager.destination) else { return nil }
            throw error
        }
    }

    private static var badAnswer: BusError {
        BusError(.badMessage, "\(loginManager.destination) answers with other values than it should.")
    }

    private func loginSession(_ id: String, _ path: String, hasSeat: Bool) throws(BusError) -> LoginSession {
        let object = BusCall.Object(Self.loginManager.destination, path, "org.freedesktop.login1.Session")
        let values = try ask(BusCall(object.properties, "GetAll", [.string(object.interface)]))
        guard let members = values.first?.members else { throw Self.badAnswer }
        return LoginSession(
            id: id,
            sessionClass: members["Class"]?.text ?? "",
            hasSeat: hasSeat,
            isActive: members["Active"]?.isTrue ?? false,
            isLocked: members["LockedHint"]?.isTrue ?? false,
            isIdle: members["IdleHint"]?.isTrue ?? false
        )
    }
}
