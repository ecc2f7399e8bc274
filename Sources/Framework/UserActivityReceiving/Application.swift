// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import CoreNFC
import Dispatch
import Foundation
import NFCReaders
public import UserBus

/// Represents the app, and receives the links of tags that were read in the background, and web links of other programs.
///
/// The transport, whose bus interface is `DeliveryInterface`, calls ``receive(_:)`` for each link. Links that arrive
/// before the delegate is set, for example while the app starts, are queued.
@MainActor
public final class Application {
    /// The app of this process.
    public static let shared = Application()

    /// The maximum number of queued links. When more links arrive, the oldest is dropped.
    static let maximumQueuedLinks = 16

    /// The receiver of the links. Setting the delegate delivers the queued links.
    public weak var delegate: (any ApplicationDelegate)? {
        didSet {
            guard delegate != nil else { return }
            let links = waiting
            waiting = []
            for payload in links { _ = receive(payload) }
        }
    }

    private var waiting: [UserActivityPayload] = []

    /// Creates an app for a test; other code uses ``shared``.
    public init() {}

    /// Passes a link to the delegate.
    ///
    /// - Parameter payload: the link with its message. Its initializer has checked that these belong together.
    /// - Returns: whether the app handled the link; also true when the link is queued.
    @discardableResult
    public func receive(_ payload: UserActivityPayload) -> Bool {
        guard let delegate else {
            waiting.append(payload)
            if waiting.count > Self.maximumQueuedLinks { waiting.removeFirst() }
            return true
        }
        return hand(NSUserActivity(payload), ofType: payload.activityType, to: delegate)
    }

    /// Passes an activity to a delegate.
    ///
    /// - Parameter activity: the activity; nil when it could not be created.
    /// - Returns: whether the delegate handled it.
    package func hand(
        _ activity: NSUserActivity?,
        ofType type: String,
        to delegate: any ApplicationDelegate
    ) -> Bool {
        _ = delegate.application(self, willContinueUserActivityWithType: type)
        guard let activity else {
            let problem = CocoaError(.userActivityHandoffFailed)
            delegate.application(self, didFailToContinueUserActivityWithType: type, error: problem)
            return false
        }
        return delegate.application(self, continue: activity) { objects in
            for object in objects ?? [] { object.restoreUserActivityState(activity) }
        }
    }
}

extension NSUserActivity {
    /// Creates the activity of a link; nil when Foundation can't create a URL from it.
    convenience init?(_ payload: UserActivityPayload) {
        guard let url = URL(string: payload.webpageURL), let message = NFCNDEFMessage(data: Data(payload.message))
        else {
            return nil
        }
        self.init(webpageURL: url, ndefMessagePayload: message)
    }
}

extension Application {
    /// Whether an instance of the app is visible to the user.
    public enum Presence: Sendable, Hashable {
        /// The user sees the instance. It replaces an instance in the background.
        case visible
        /// The user does not see the instance. A visible instance replaces it.
        case background
    }

    /// Starts to receive the links that are sent over the user's bus, until the process ends: those of tags, and those that
    /// other programs pass with `org.freedesktop.Application.Open`.
    ///
    /// The delegate is called on the main queue, which the app has to run.
    ///
    /// If `NFC_READER` is `simulator`, the links are from the background reading of the simulator's phone instead, and
    /// no bus is needed.
    ///
    /// - Parameters:
    ///   - desktopID: the name of the app's desktop entry, which is also its name on the bus.
    ///   - presence: whether the user sees this instance of the app. A visible instance replaces an instance in the
    ///     background, which then receives no more links.
    ///   - onEnd: called on a separate thread when no more links can arrive, because the bus connection was lost or a
    ///     visible instance has replaced this instance.
    /// - Throws: `BusError` when the bus is missing, or another instance receives the links and can't be replaced.
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
            // The payload's initializer rejects a link that does not belong to the message.
            guard let payload = try? UserActivityPayload(activityType: type, webpageURL: url, message: message) else {
                return
            }
            DispatchQueue.main.async { MainActor.assumeIsolated { _ = self?.receive(payload) } }
        }
    }

    /// Returns whether a process of the user, perhaps this one, owns the app's bus name and so receives its links.
    ///
    /// This call waits for the bus. Without a bus, the result is false.
    ///
    /// - Parameter desktopID: the name of the app's desktop entry.
    nonisolated public static func isRunning(as desktopID: String) -> Bool {
        // A simulator passes the links to each of the app's processes.
        if SimulatorPhone.ofProcess != nil { return false }
        guard let bus = try? BusConnection(.user) else { return false }
        return (try? bus.isRunning(desktopID)) ?? false
    }
}

/// The methods with which an app receives the links of tags, like `UIApplicationDelegate`.
///
/// On a phone, the first parameter is a `UIApplication`. With `typealias UIApplication = Application` and `typealias
/// UIUserActivityRestoring = UserActivityRestoring`, an app's methods need no changes.
@MainActor
public protocol ApplicationDelegate: AnyObject {
    /// An activity is about to continue. Its data are passed to ``application(_:continue:restorationHandler:)``.
    ///
    /// - Returns: whether the app informs the user about the activity.
    func application(_ application: Application, willContinueUserActivityWithType userActivityType: String) -> Bool

    /// Continues an activity: for example, opens the link of a tag.
    ///
    /// - Parameters:
    ///   - application: the app.
    ///   - userActivity: the activity. `webpageURL` is the link, and `ndefMessagePayload` is the whole message.
    ///   - restorationHandler: call it with the objects that show the activity; each of them receives the activity.
    func application(
        _ application: Application,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UserActivityRestoring]?) -> Void
    ) -> Bool

    /// The activity could not be continued.
    func application(
        _ application: Application,
        didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    )
}

extension ApplicationDelegate {
    public func application(_: Application, willContinueUserActivityWithType _: String) -> Bool { false }

    public func application(_: Application, didFailToContinueUserActivityWithType _: String, error _: any Error) {}
}

/// An object that can show an activity, like `UIUserActivityRestoring`.
@MainActor
public protocol UserActivityRestoring: AnyObject {
    /// Shows the activity.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}
