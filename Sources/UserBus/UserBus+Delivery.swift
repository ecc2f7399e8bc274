// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading

/// Giving links to apps.
extension UserBus {
    /// Gives an app a link with its message, and starts the app when it does not run. An app that lacks the interface gets
    /// the link alone, by `org.freedesktop.Application`.
    ///
    /// - Parameters:
    ///   - payload: the link with its message.
    ///   - app: the app.
    /// - Returns: whether the app got the message too.
    /// - Throws: ``BusError``.
    public func deliver(_ payload: UserActivityPayload, to app: InstalledApp) throws(BusError) -> Bool {
        let (interface, name) = (DeliveryInterface.name, DeliveryInterface.method)
        let isHandled: Bool
        do throws(BusError) {
            isHandled = try call(method(app, interface, name)) { writer in
                writer.string(payload.activityType)
                writer.string(payload.webpageURL)
                writer.octets(payload.message)
                writer.array(of: "{sv}")
            } answer: { reader in
                reader.hasSignature(DeliveryInterface.answerSignature) ? reader.boolean() : nil
            }
        } catch  where error.code == .noMethod {
            try open(payload.webpageURL, in: app)
            return false
        }
        guard isHandled else { throw BusError(.refused, "\(app.name) does not take the link.") }
        return true
    }

    /// Gives an app a URI, by `org.freedesktop.Application`, and starts the app when it does not run.
    ///
    /// - Throws: ``BusError``.
    public func open(_ uri: String, in app: InstalledApp) throws(BusError) {
        let fallback = DeliveryInterface.fallback
        try call(method(app, fallback.interface, fallback.method)) { writer in
            writer.array(of: "s") { $0.string(uri) }
            writer.array(of: "{sv}")
        } answer: { _ in
            ()
        }
    }

    private func method(
        _ app: InstalledApp,
        _ interface: String,
        _ name: String
    ) throws(BusError) -> Method {
        guard let path = DeliveryInterface.objectPath(of: app.desktopID) else {
            throw BusError(.nobody, "\(app.desktopID) can't be the name of an app on the bus.")
        }
        return Method(destination: app.desktopID, path: path, interface: interface, name: name)
    }
}
