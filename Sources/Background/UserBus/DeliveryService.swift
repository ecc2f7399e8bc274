// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading

/// The app's side on the bus: owns the app's name, and receives its links from the user's programs.
///
/// One instance of the app owns the name at a time. A visible instance keeps it while it runs. An instance in the
/// background gives it to the first visible instance.
///
/// One thread creates it; then one thread runs it.
package final class DeliveryService: @unchecked Sendable {
    // Sendable because nothing of it changes, and only one thread uses the bus: the one that creates it, then the one
    // that runs it.

    /// Handles a link on the thread of ``run(isStopped:)``, and returns whether it was handled.
    package typealias Handler = @Sendable (UserActivityPayload) -> Bool

    /// Whether the user sees this instance of the app.
    package enum Presence: Sendable, Hashable {
        /// The user sees it. It replaces an instance in the background.
        case visible
        /// The user does not see it. A visible instance replaces it.
        case background
    }

    package enum End: Sendable, Hashable {
        case stopped
        /// A visible instance has replaced this one.
        case replaced
    }

    /// How long a replaced instance still receives links, from programs that looked up its name just before.
    private static let farewell = Duration.seconds(2)

    private let bus: BusConnection
    private let desktopID: String
    private let path: String
    private let handler: Handler

    /// Takes the app's name, which is that of its desktop entry. Throws `nameTaken` when another instance owns the name
    /// and keeps it.
    package init(
        desktopID: String,
        presence: Presence = .visible,
        address: String? = nil,
        handler: @escaping Handler
    ) throws(BusError) {
        guard let path = DeliveryInterface.objectPath(of: desktopID) else {
            throw BusError(.nobody, "\(desktopID) can't be the name of an app on the bus.")
        }
        self.path = path
        self.desktopID = desktopID
        self.handler = handler
        bus = try BusConnection(.user, address: address)
        try bus.take(desktopID, yields: presence == .background, replaces: presence == .visible)
    }

    /// Receives links until another instance replaces this one or it is stopped, or the bus is gone, which throws.
    ///
    /// - Parameter isStopped: called at least every second; return true to stop.
    @discardableResult
    package func run(isStopped: () -> Bool = { false }) throws(BusError) -> End {
        var end: Deadline?
        while !isStopped() {
            if let message = try bus.receive() {
                if message.isCall { try answer(message) }
                if Self.isLoss(message, of: desktopID) { end = Deadline(after: Self.farewell) }
            } else if let end, end.left == nil {
                return .replaced
            } else {
                bus.wait(.seconds(1))
            }
        }
        return .stopped
    }

    static func isLoss(_ message: ReceivedMessage, of name: String) -> Bool {
        guard message.sender == ReplyLedger.daemon, message.name == "\(ReplyLedger.daemon).NameLost" else {
            return false
        }
        let lost = message.values().first?.text
        return lost == name
    }

    private func answer(_ message: ReceivedMessage) throws(BusError) {
        guard message.path == path, message.name == DeliveryInterface.name + "." + DeliveryInterface.method else {
            return try message.answer(nil)
        }
        // A bus may admit other users. Their programs must not make the app open anything.
        guard (try? bus.isOwn(message.sender)) == true else {
            return try message.refuse("AccessDenied", "Another user's program opens nothing here.")
        }
        guard let payload = payload(of: message) else {
            return try message.refuse("InvalidArgs", "The values are not those of a link.")
        }
        try message.answer([.boolean(handler(payload))])
    }

    private func payload(of message: ReceivedMessage) -> UserActivityPayload? {
        guard let values = message.arguments(DeliveryInterface.argumentSignature), let type = values[0].text,
            let url = values[1].text, case .bytes(let bytes) = values[2]
        else {
            return nil
        }
        return try? UserActivityPayload(activityType: type, webpageURL: url, message: bytes)
    }
}
