// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
public import UserBus

extension Application {
    /// How an instance of the app meets the person.
    public enum Presence: Sendable, Hashable {
        /// The person sees it. It takes the place of an instance in the background.
        case visible
        /// Nobody sees it. It gives its place to an instance that the person sees.
        case background
    }

    /// Takes the links that come over the user's bus, from now until the process ends.
    ///
    /// Links are given to the delegate on the main queue, which the app has to run, as every app does.
    ///
    /// - Parameters:
    ///   - desktopID: the name of the app's desktop entry, which is its name on the bus.
    ///   - presence: whether the person sees this instance of the app. One that is seen takes the place of one in the
    ///     background, which is given no link from then on.
    ///   - onEnd: called on a thread of its own when no link comes any more: the bus is gone, or an instance that the person
    ///     sees has taken the place of this one.
    /// - Throws: ``UserBus/BusError`` when there is no bus, or another instance takes the links and keeps them.
    public func listen(
        as desktopID: String,
        presence: Presence = .visible,
        onEnd: @escaping @Sendable () -> Void = {}
    ) throws(BusError) {
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

    /// Whether a process of the user has the app's name on the bus, and so is given its links. It may be this one.
    ///
    /// It waits for the bus. Where there is none, nobody has the name.
    ///
    /// - Parameter desktopID: the name of the app's desktop entry.
    nonisolated public static func isRunning(as desktopID: String) -> Bool {
        guard let bus = try? UserBus() else { return false }
        return (try? bus.isRunning(desktopID)) ?? false
    }
}
