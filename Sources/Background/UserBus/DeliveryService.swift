// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading

/// Receives an app's links on the bus, from the user's programs. The service owns the app's name.
///
/// Only one instance of the app owns the name at a time. A visible instance keeps the name while it runs. An instance
/// in the background yields the name to the first visible instance.
///
/// One thread creates the service. From then on, one thread runs it.
package final class DeliveryService: @unchecked Sendable {
    // Sendable because its properties never change, and only one thread at a time uses the bus: first the creator, then
    // the thread that runs the service.

    /// Handles a link on the thread of ``run(isStopped:)``, and returns whether it was handled.
    package typealias Handler = @Sendable (UserActivityPayload) -> Bool

    package enum Presence: Sendable, Hashable {
        /// The instance is visible. It replaces an instance in the background.
        case visible
        /// The instance is not visible. A visible instance replaces it.
        case background
    }

    package enum End: Sendable, Hashable {
        case stopped
        /// A visible instance has replaced this one.
        case replaced
    }

    /// How long a replaced instance still receives links from programs that looked up the name just before.
    private static let farewell = Duration.seconds(2)

    private let bus: BusConnection
    private let desktopID: String
    private let path: String
    private let handler: Handler

    /// Claims the app's name, which is the name of its desktop entry. Throws `nameTaken` when another instance owns the
    /// name and does not yield it.
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

    /// Receives links until this instance is stopped or replaced. Throws when the connection to the bus was lost.
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
        let isOpen = message.name == DeliveryInterface.fallback.interface + "." + DeliveryInterface.fallback.method
        guard message.path == path,
            isOpen || message.name == DeliveryInterface.name + "." + DeliveryInterface.method
        else { return try message.answer(nil) }
        // A bus may accept other users. Their programs must not make the app open anything.
        guard (try? bus.isOwn(message.sender)) == true else {
            return try message.refuse("AccessDenied", "Another user's program can't open links here.")
        }
        if isOpen { return try open(message) }
        guard let payload = payload(of: message) else {
            return try message.refuse("InvalidArgs", "The values do not describe a link.")
        }
        try message.answer([.boolean(handler(payload))])
    }

    /// Answers `org.freedesktop.Application.Open`, whose links are not from tags.
    private func open(_ message: ReceivedMessage) throws(BusError) {
        let links = message.arguments(DeliveryInterface.fallbackSignature)?.first?.values
        guard let links, case let payloads = links.compactMap({ try? UserActivityPayload(webpageURL: $0.text ?? "") }),
            payloads.count == links.count
        else { return try message.refuse("InvalidArgs", "The values are not http or https URLs.") }
        for payload in payloads where !handler(payload) {
            return try message.refuse("Failed", "The app does not accept \(payload.webpageURL).")
        }
        try message.answer([])
    }

    private func payload(of message: ReceivedMessage) -> UserActivityPayload? {
        guard let values = message.arguments(DeliveryInterface.argumentSignature), let type = values[0].text,
            let url = values[1].text, case .bytes(let bytes) = values[2]
        else { return nil }
        return try? UserActivityPayload(activityType: type, webpageURL: url, message: bytes)
    }
}
