// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading

/// Passes links to apps that own their name on the bus.
///
/// A link is sent to the unique name of the connection that was checked. So a program that takes over the app's name
/// does not receive the link.
extension BusConnection {
    package enum DeliveryOutcome: Sendable, Hashable {
        /// The app received the link with its message.
        case message
        /// The app lacks `DeliveryInterface` and received only the link.
        case link
        /// The app is not running, or does not receive links over the bus.
        case none
    }

    /// Passes a link and its message to an app. If `starts` is true, the bus starts the app if necessary. An app
    /// without the interface receives only the link, through `org.freedesktop.Application`.
    ///
    /// - Parameters:
    ///   - token: allows the app to come to the front; nil if the desktop did not provide a token.
    ///   - limit: how long the app may take to start, and how long it may then take to answer.
    package func deliver(
        _ payload: UserActivityPayload,
        to desktopID: String,
        starts: Bool,
        token: String? = nil,
        limit: Duration
    ) throws(BusError) -> DeliveryOutcome {
        guard let app = try app(desktopID, starts, limit) else { return .none }
        let answer: [BusValue]
        do throws(BusError) {
            let arguments: [BusValue] = [
                .string(payload.activityType), .string(payload.webpageURL), .bytes(payload.message),
                Self.platformData(token),
            ]
            answer = try ask(BusCall(app, DeliveryInterface.method, arguments), within: limit)
        } catch  where error.code == .noMethod {
            return try open(payload.webpageURL, app, token, limit)
        }
        guard answer.count == 1, let isHandled = answer[0].isTrue else { throw .badAnswer(of: app) }
        guard isHandled else { throw BusError(.refused, "\(desktopID) does not accept the link.") }
        return .message
    }

    /// Passes a URI to an app, through `org.freedesktop.Application`. The result is never `message`.
    package func open(
        _ uri: String,
        in desktopID: String,
        starts: Bool,
        token: String? = nil,
        limit: Duration
    ) throws(BusError) -> DeliveryOutcome {
        guard let app = try app(desktopID, starts, limit) else { return .none }
        return try open(uri, app, token, limit)
    }

    /// Opens a URI with the desktop's portal (`org.freedesktop.portal.OpenURI`). Throws `nobody` when there is no
    /// portal.
    package func openWithPortal(_ uri: String, limit: Duration) throws(BusError) {
        let name = "org.freedesktop.portal.Desktop"
        var owner = try userOwner(of: name)
        if owner == nil { owner = try startProgram(of: name, limit: limit) }
        let path = "/org/freedesktop/portal/desktop"
        let portal = BusCall.Object(owner ?? name, path, "org.freedesktop.portal.OpenURI", program: name)
        _ = try ask(BusCall(portal, "OpenURI", [.string(""), .string(uri), .properties([:])]), within: limit)
    }

    /// Returns whether one of the user's programs owns an app's name.
    package func isRunning(_ desktopID: String) throws(BusError) -> Bool { try userOwner(of: desktopID) != nil }

    /// Returns the object of an app; nil when the app is not running and must not be started.
    private func app(
        _ desktopID: String,
        _ starts: Bool,
        _ limit: Duration
    ) throws(BusError) -> BusCall.Object? {
        guard let path = DeliveryInterface.objectPath(of: desktopID) else {
            guard starts else { return nil }
            throw BusError(.nobody, "\(desktopID) can't be the name of an app on the bus.")
        }
        var owner = try userOwner(of: desktopID)
        if owner == nil, starts { owner = try startProgram(of: desktopID, limit: limit) }
        return owner.map { BusCall.Object($0, path, DeliveryInterface.name, program: desktopID) }
    }

    private func open(
        _ uri: String,
        _ app: BusCall.Object,
        _ token: String?,
        _ limit: Duration
    ) throws(BusError) -> DeliveryOutcome {
        var app = app
        app.interface = DeliveryInterface.fallback.interface
        let arguments: [BusValue] = [.strings([uri]), Self.platformData(token)]
        do throws(BusError) {
            _ = try ask(BusCall(app, DeliveryInterface.fallback.method, arguments), within: limit)
        } catch  where error.code == .noMethod {
            return .none
        }
        return .link
    }

    /// Returns the activation data from the Desktop Entry Specification.
    private static func platformData(_ token: String?) -> BusValue {
        .properties(token.map { ["activation-token": .string($0), "desktop-startup-id": .string($0)] } ?? [:])
    }
}
