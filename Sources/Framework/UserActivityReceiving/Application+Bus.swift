// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import NFCReaders
public import UserBus

extension Application {
    /// Whether an instance of the app is visible to the user.
    public enum Presence: Sendable, Hashable {
        /// The user sees it. It replaces an instance in the background.
        case visible
        /// The user does not see it. An instance that the user sees replaces it.
        case background
    }

    /// Receives the links that are sent over the user's bus, from now until the process ends.
    ///
    /// The delegate receives the links on the main queue. The app has to run that queue, as every app does.
    ///
    /// Where `NFC_READER` is `simulator`, the links come from the background reading of the simulator's phone instead, and
    /// no bus is needed.
    ///
    /// - Parameters:
    ///   - desktopID: the name of the app's desktop entry, which is also its name on the bus.
    ///   - presence: whether the user sees this instance of the app. A visible instance replaces one in the background,
    ///     which receives no more links from then on.
    ///   - onEnd: called on a separate thread when no more links arrive: the bus is gone, or a visible instance has
    ///     replaced this one.
    /// - Throws: `BusError` when there is no bus, or when another instance receives the links and can't be
    ///   replaced.
    public func listen(
        as desktopID: String,
        presence: Presence = .visible,
        onEnd: @escaping @Sendable () -> Void = {}
    ) throws(BusError) {
        if let phone = SimulatorPhone.ofProcess { return listen(to: phone) }
        let presence: DeliveryService.Presence = presence == .visible ? .visible : .background
        let service = try DeliveryService(desktopID: desktopID, presence: presence) { [weak self] payload in
            DispatchQueue.main.sync { MainActor.assumeIsolated { self?.receive(payload) ?? false } }
        }
        let thread = Thread {
            _ = try? service.run()
            onEnd()
        }
        thread.name = "UserActivityReceiving"
        thread.start()
    }

    private func listen(to phone: SimulatorPhone) {
        phone.onLink { [weak self] type, url, message in
            // The simulator reads the link from the message, so that a link of another message comes from elsewhere.
            guard let payload = try? UserActivityPayload(activityType: type, webpageURL: url, message: message) else {
                return
            }
            DispatchQueue.main.async { MainActor.assumeIsolated { _ = self?.receive(payload) } }
        }
    }

    /// Whether a process of the user, perhaps this one, owns the app's name on the bus and so receives the app's links.
    ///
    /// This call waits for the bus. Without a bus, the result is false.
    ///
    /// - Parameter desktopID: the name of the app's desktop entry.
    nonisolated public static func isRunning(as desktopID: String) -> Bool {
        // A simulator gives the links to each program of the app.
        if SimulatorPhone.ofProcess != nil { return false }
        guard let bus = try? BusConnection(.user) else { return false }
        return (try? bus.isRunning(desktopID)) ?? false
    }
}
