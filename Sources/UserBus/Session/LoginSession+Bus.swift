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
    /// - Returns: none where there is no logind.
    public func loginSessions(of user: UInt32) -> [LoginSession] {
        let list = (try? ask(BusCall(Self.loginManager, "ListSessions")))?.first?.values ?? []
        return list.prefix(Self.maximumSessions).compactMap { entry in
            // Its name, the user's number, the user's name, its seat, its object.
            guard let values = entry.values, values.count == 5, values[1].integer == Int64(user),
                let id = values[0].text, let path = values[4].text
            else {
                return nil
            }
            return loginSession(id, path, hasSeat: values[3].text?.isEmpty == false)
        }
    }

    private func loginSession(_ id: String, _ path: String, hasSeat: Bool) -> LoginSession? {
        let object = BusCall.Object(Self.loginManager.destination, path, "org.freedesktop.login1.Session")
        guard let values = try? ask(BusCall(object.properties, "GetAll", [.string(object.interface)])),
            let members = values.first?.members
        else {
            return nil
        }
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
