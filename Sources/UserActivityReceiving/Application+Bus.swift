// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
public import UserBus

extension Application {
    /// Takes the links that come over the user's bus, from now until the process ends.
    ///
    /// Links are given to the delegate on the main queue, which the app has to run, as every app does.
    ///
    /// - Parameters:
    ///   - desktopID: the name of the app's desktop entry, which is its name on the bus.
    ///   - onEnd: called on a thread of its own when the bus is gone; no link comes after that.
    /// - Throws: ``UserBus/BusError`` when there is no bus, or the app runs already.
    public func listen(as desktopID: String, onEnd: @escaping @Sendable () -> Void = {}) throws(BusError) {
        let service = try DeliveryService(desktopID: desktopID) { [weak self] payload in
            DispatchQueue.main.sync { MainActor.assumeIsolated { self?.receive(payload) ?? false } }
        }
        let thread = Thread {
            // It ends with the bus, and the reason is always that.
            try? service.run()
            onEnd()
        }
        thread.name = "UserActivityReceiving"
        thread.start()
    }
}
