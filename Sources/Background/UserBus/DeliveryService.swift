// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading

/// The app's side on the bus: has the app's name there, and takes its links from the user's own programs.
///
/// One instance of the app has the name at a time. One that the person sees keeps it while it runs; one in the background
/// gives it to the first that the person sees.
///
/// It is made by one thread and then run by one thread.
public final class DeliveryService: @unchecked Sendable {
    // Sendable because nothing of it changes, and the bus is touched only while it is made and then by who runs it.

    /// What takes a link, and says whether it was handled. Called on the thread of ``run(isStopped:)``.
    public typealias Handler = @Sendable (UserActivityPayload) -> Bool

    /// How an instance of the app meets the person.
    public enum Presence: Sendable, Hashable {
        /// The person sees it. It takes the place of an instance in the background.
        case visible
        /// Nobody sees it. It gives its place to an instance that the person sees.
        case background
    }

    /// Why ``run(isStopped:)`` has returned.
    public enum End: Sendable, Hashable {
        case stopped
        /// An instance that the person sees has taken the place of this one.
        case replaced
    }

    /// How long one that was replaced still takes links: of those who looked up its name just before.
    private static let farewell = Duration.seconds(2)

    private let bus: UserBus
    private let desktopID: String
    private let path: String
    private let handler: Handler

    /// Takes the app's name.
    ///
    /// - Parameters:
    ///   - desktopID: the name of the app's desktop entry, which is the name on the bus.
    ///   - presence: whether the person sees this instance of the app.
    ///   - address: where the bus is; nil is that of this process.
    ///   - handler: takes each link.
    /// - Throws: ``BusError``; of code `nameTaken` when another instance has the name and keeps it.
    public init(
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
        bus = try UserBus(address: address)
        try bus.connection.take(desktopID, yields: presence == .background, replaces: presence == .visible)
    }

    /// Takes links until the bus is gone, another instance takes its place, or it is stopped.
    ///
    /// - Parameter isStopped: asked at least every second; true ends it.
    /// - Throws: ``BusError`` when the bus is gone.
    @discardableResult
    public func run(isStopped: () -> Bool = { false }) throws(BusError) -> End {
        var end: ContinuousClock.Instant?
        while !isStopped() {
            if let message = try bus.connection.receive() {
                if message.isCall { try answer(message) }
                if isLoss(message) { end = ContinuousClock.now + Self.farewell }
            } else if let end, end <= ContinuousClock.now {
                return .replaced
            } else {
                bus.connection.wait(.seconds(1))
            }
        }
        return .stopped
    }

    /// Whether the bus reports that another instance has the name now.
    private func isLoss(_ message: ReceivedMessage) -> Bool {
        message.isSignal && message.sender == ReplyLedger.daemon && message.name == "\(ReplyLedger.daemon).NameLost"
            && message.values().first?.text == desktopID
    }

    /// Answers a call.
    private func answer(_ message: ReceivedMessage) throws(BusError) {
        guard message.path == path, message.name == DeliveryInterface.name + "." + DeliveryInterface.method else {
            return try message.answer(nil)
        }
        // A bus may let others in: those of another user can't make the app open anything.
        guard bus.isOwn(message.sender) else {
            return try message.refuse("AccessDenied", "Another user's program opens nothing here.")
        }
        guard let payload = payload(of: message) else {
            return try message.refuse("InvalidArgs", "The values are not those of a link.")
        }
        try message.answer([.boolean(handler(payload))])
    }

    private func payload(of message: ReceivedMessage) -> UserActivityPayload? {
        let reader = unsafe BusMessageReader(message: message.message)
        guard reader.hasSignature(DeliveryInterface.argumentSignature), let type = reader.string(),
            let url = reader.string(), let octets = reader.octets()
        else {
            return nil
        }
        return try? UserActivityPayload(activityType: type, webpageURL: url, message: octets)
    }
}
