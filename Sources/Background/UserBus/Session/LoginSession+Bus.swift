// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading

/// The sessions that logind knows (org.freedesktop.login1).
extension BusConnection {
    /// The object of logind's manager.
    public static let loginManager = BusCall.Object(
        "org.freedesktop.login1",
        "/org/freedesktop/login1",
        "org.freedesktop.login1.Manager"
    )
    /// More sessions than that are not looked at.
    private static let maximumSessions = 64

    /// Asks logind for the sessions of a user, over the system's bus.
    ///
    /// - Parameter user: the user's number.
    /// - Returns: nil where there is no logind.
    /// - Throws: ``BusError`` when logind is there and does not answer, or answers with an error: then nothing is known of the
    ///   sessions. Of code `silentBus` when the bus itself does not answer.
    public func loginSessions(of user: UInt32) throws(BusError) -> [LoginSession]? {
        guard let list = try listSessions() else { return nil }
        var sessions: [LoginSession] = []
        for entry in list.prefix(Self.maximumSessions) {
            // Its name, the user's number, the user's name, its seat, its object.
            guard let values = entry.values, values.count == 5, values[1].integer == Int64(user),
                let id = values[0].text, let path = values[4].text
            else {
                continue
            }
            do throws(BusError) {
                sessions.append(try loginSession(id, path, hasSeat: values[3].text?.isEmpty == false))
            } catch {
                // One that has ended meanwhile is not listed any more.
                guard error.code != .noAnswer, let now = try listSessions() else { throw error }
                if now.contains(where: { $0.values?.first?.text == id }) { throw error }
            }
        }
        return sessions
    }

    /// - Returns: nil where nobody is logind.
    private func listSessions() throws(BusError) -> [BusValue]? {
        do throws(BusError) {
            guard let list = try ask(BusCall(Self.loginManager, "ListSessions")).first?.values else {
                throw Self.badAnswer
            }
            return list
        } catch {
            // One that can't be started is none.
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
