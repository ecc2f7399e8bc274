// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Who has a name on the bus.
extension UserBus {
    /// Who has a name, as the bus's own name of the connection; nil when nobody has it.
    ///
    /// - Throws: ``BusError``; of code `foreign` when a program of another user has it.
    package func owner(of name: String) throws(BusError) -> String? {
        let owner: String
        do throws(BusError) {
            owner = try call(Self.daemon("GetNameOwner")) {
                $0.string(name)
            } answer: {
                $0.string()
            }
        } catch  where error.code == .nobody {
            return nil
        }
        guard isOwn(owner) else {
            throw BusError(.foreign, "\(name) on the bus is another user's, who gets nothing of yours.")
        }
        return owner
    }

    /// Has the bus start the program of a name.
    ///
    /// - Returns: who has the name then.
    /// - Throws: ``BusError``; of code `nobody` when the bus knows no program for the name.
    func start(_ name: String, limit: Duration) throws(BusError) -> String {
        let method = Self.daemon("StartServiceByName")
        do throws(BusError) {
            _ = try call(method, limit: limit) { writer in
                writer.string(name)
                writer.number(0)
            } answer: {
                $0.number()
            }
        } catch  where error.code == .nobody {
            throw BusError(
                .nobody,
                """
                The bus knows no program for \(name). Install \(name).service in dbus-1/services of a folder for data, \
                or remove DBusActivatable from \(name).desktop.
                """
            )
        } catch  where error.code == .refused {
            // The daemon tells how the program ended.
            throw BusError(.noAnswer, "\(name) was started and ended at once: \(error.reason)")
        }
        guard let owner = try owner(of: name) else {
            throw BusError(.noAnswer, "\(name) was started and ended at once.")
        }
        return owner
    }

    /// Whether a connection is that of a program of the same user.
    func isOwn(_ connection: String) -> Bool {
        let user = try? call(Self.daemon("GetConnectionUnixUser")) {
            $0.string(connection)
        } answer: {
            $0.number()
        }
        return user == geteuid()
    }

    private static func daemon(_ name: String) -> Method {
        Method(
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            name: name
        )
    }
}
