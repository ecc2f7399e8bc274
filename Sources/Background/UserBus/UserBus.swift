// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
import Glibc

/// A connection to the user's bus. Its calls block, and it belongs to one thread at a time.
package final class UserBus {
    let connection: BusConnection

    /// Connects to the bus of the session or of the user.
    ///
    /// - Parameter address: the address of the bus, in the format of `DBUS_SESSION_BUS_ADDRESS`; nil for the one of
    ///   this process.
    /// - Throws: ``BusError``.
    package init(address: String? = nil) throws(BusError) {
        connection = try BusConnection(.user, address: address)
    }

    /// The method to call.
    struct Method {
        /// The unique name of a connection, or the name of the bus itself.
        var destination: String
        var path: String
        var interface: String
        var name: String
        /// The name of the destination for people, if the destination is a unique name.
        var shown: String?
    }

    /// Calls a method and waits for the answer.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - limit: the maximum wait, including the start of the program.
    ///   - arguments: writes the arguments.
    ///   - answer: reads the answer.
    func call<Value>(
        _ method: Method,
        limit: Duration = .seconds(5),
        arguments: (inout BusMessageWriter) -> Void = { _ in },
        answer: (BusMessageReader) -> Value?
    ) throws(BusError) -> Value {
        let name = method.shown ?? method.destination
        let reply = try connection.call(
            BusCall.Object(method.destination, method.path, method.interface),
            method.name,
            shownAs: name,
            within: limit,
            arguments: arguments
        )
        guard let value = answer(unsafe BusMessageReader(message: reply.message)) else {
            throw BusError(.badMessage, "\(name) answers with other values than it should.")
        }
        return value
    }
}

/// Passing links to apps that own their name on the bus.
///
/// A link is sent to the unique name of the connection that was checked. So a program that takes the name meanwhile
/// does not receive it.
extension UserBus {
    /// The result of a delivery.
    package enum Outcome: Sendable, Hashable {
        /// The app received the link with its message.
        case message
        /// The app lacks `DeliveryInterface` and received only the link.
        case link
        /// The app is not running, or does not receive links over the bus.
        case none
    }

    /// Passes a link with its message to an app. An app without the interface receives only the link, through
    /// `org.freedesktop.Application`.
    ///
    /// - Parameters:
    ///   - payload: the link with its message.
    ///   - desktopID: the name of the app's desktop entry.
    ///   - starts: whether the bus starts the app when it is not running.
    ///   - token: lets the app come to the front, if the desktop provided one.
    ///   - limit: how long the app may take to start, and then to answer.
    /// - Throws: ``BusError``.
    package func deliver(
        _ payload: UserActivityPayload,
        to desktopID: String,
        starts: Bool,
        token: String? = nil,
        limit: Duration
    ) throws(BusError) -> Outcome {
        guard let app = try app(desktopID, starts, limit) else { return .none }
        let isHandled: Bool
        do throws(BusError) {
            isHandled = try call(app.method(DeliveryInterface.name, DeliveryInterface.method), limit: limit) { writer in
                writer.string(payload.activityType)
                writer.string(payload.webpageURL)
                writer.bytes(payload.message)
                writer.platformData(token)
            } answer: { reader in
                reader.hasSignature(DeliveryInterface.answerSignature) ? reader.boolean() : nil
            }
        } catch  where error.code == .noMethod {
            return try open(payload.webpageURL, app, token, limit) ? .link : .none
        }
        guard isHandled else { throw BusError(.refused, "\(desktopID) does not take the link.") }
        return .message
    }

    /// Passes a URI to an app, through `org.freedesktop.Application`.
    ///
    /// - Returns: ``Outcome/link`` or ``Outcome/none``.
    /// - Throws: ``BusError``.
    package func open(
        _ uri: String,
        in desktopID: String,
        starts: Bool,
        token: String? = nil,
        limit: Duration
    ) throws(BusError) -> Outcome {
        guard let app = try app(desktopID, starts, limit) else { return .none }
        return try open(uri, app, token, limit) ? .link : .none
    }

    /// Opens a URI with the desktop's portal (`org.freedesktop.portal.OpenURI`).
    ///
    /// - Throws: ``BusError``; with `nobody` when there is no portal.
    package func openWithPortal(_ uri: String, limit: Duration) throws(BusError) {
        let name = "org.freedesktop.portal.Desktop"
        var owner = try owner(of: name)
        if owner == nil { owner = try start(name, limit: limit) }
        guard let owner else { return }
        let portal = App(name: name, owner: owner, path: "/org/freedesktop/portal/desktop")
        try call(portal.method("org.freedesktop.portal.OpenURI", "OpenURI"), limit: limit) { writer in
            writer.string("")
            writer.string(uri)
            writer.array(of: "{sv}")
        } answer: { _ in
            ()
        }
    }

    /// Returns whether a program of the user owns an app's name.
    ///
    /// - Throws: ``BusError``.
    package func isRunning(_ desktopID: String) throws(BusError) -> Bool { try owner(of: desktopID) != nil }

    private struct App {
        var name: String
        var owner: String
        var path: String

        func method(_ interface: String, _ name: String) -> Method {
            Method(destination: owner, path: path, interface: interface, name: name, shown: self.name)
        }
    }

    private func app(_ desktopID: String, _ starts: Bool, _ limit: Duration) throws(BusError) -> App? {
        guard let path = DeliveryInterface.objectPath(of: desktopID) else {
            guard starts else { return nil }
            throw BusError(.nobody, "\(desktopID) can't be the name of an app on the bus.")
        }
        if let owner = try owner(of: desktopID) { return App(name: desktopID, owner: owner, path: path) }
        return starts ? App(name: desktopID, owner: try start(desktopID, limit: limit), path: path) : nil
    }

    /// - Returns: whether the app has the method.
    private func open(_ uri: String, _ app: App, _ token: String?, _ limit: Duration) throws(BusError) -> Bool {
        let fallback = DeliveryInterface.fallback
        do throws(BusError) {
            try call(app.method(fallback.interface, fallback.method), limit: limit) { writer in
                writer.array(of: "s") { $0.string(uri) }
                writer.platformData(token)
            } answer: { _ in
                ()
            }
        } catch  where error.code == .noMethod {
            return false
        }
        return true
    }
}

extension BusMessageWriter {
    /// Writes the activation data of the Desktop Entry Specification.
    fileprivate mutating func platformData(_ token: String?) {
        if let token {
            texts(["activation-token": token, "desktop-startup-id": token])
        } else {
            array(of: "{sv}")
        }
    }
}

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
