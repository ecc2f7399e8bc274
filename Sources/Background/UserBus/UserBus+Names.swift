// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Looking up the owners of names on the bus, and starting programs by name.
extension UserBus {
    /// Returns the unique name of the connection that owns a name; nil when no connection owns it.
    ///
    /// - Throws: ``BusError``; with `foreign` when a program of another user owns it.
    package func owner(of name: String) throws(BusError) -> String? {
        do throws(BusError) {
            let owner = try call(Self.daemon("GetNameOwner")) {
                $0.string(name)
            } answer: {
                $0.string()
            }
            guard try isOwn(owner) else {
                throw BusError(.foreign, "\(name) on the bus is another user's, who gets nothing of yours.")
            }
            return owner
        } catch  where error.code == .nobody {
            // No connection owns the name, or its owner has left the bus meanwhile.
            return nil
        }
    }

    /// Lets the bus start the program of a name.
    ///
    /// - Returns: the unique name of the connection that then owns the name.
    /// - Throws: ``BusError``; with `nobody` when the bus knows no program for the name.
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
            // The daemon reports how the program ended.
            throw BusError(.noAnswer, "\(name) was started and ended at once: \(error.reason)")
        }
        guard let owner = try owner(of: name) else {
            throw BusError(.noAnswer, "\(name) was started and ended at once.")
        }
        return owner
    }

    /// Returns whether a connection belongs to a program of the same user.
    ///
    /// - Throws: ``BusError``; with `nobody` when the connection has left the bus.
    func isOwn(_ connection: String) throws(BusError) -> Bool {
        let user = try call(Self.daemon("GetConnectionUnixUser")) {
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
