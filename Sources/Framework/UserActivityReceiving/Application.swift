// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import CoreNFC
import Dispatch
import Foundation
import NFCReaders
public import UserBus

/// The app as the receiver of links from tags that were read in the background.
///
/// The transport calls ``receive(_:)`` for each delivery; its interface on the bus is
/// `DeliveryInterface`. Links that arrive before there is a delegate wait for it, for example
/// while the app starts.
@MainActor
public final class Application {
    /// The app of this process.
    public static let shared = Application()

    /// The maximum number of links that wait for a delegate. When there are more, the oldest is dropped.
    static let maximumWaiting = 16

    /// The receiver of the links. Setting it delivers the waiting links.
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
    /// - Parameter payload: the link with its message. Its creation has checked that the two belong together.
    /// - Returns: whether the app handled it; also true when it waits for a delegate.
    @discardableResult
    public func receive(_ payload: UserActivityPayload) -> Bool {
        guard let delegate else {
            waiting.append(payload)
            if waiting.count > Self.maximumWaiting { waiting.removeFirst() }
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

/// The methods with which an app receives the links of tags, like `UIApplicationDelegate`.
///
/// On a phone the same method takes a `UIApplication`. With `typealias UIApplication = Application` and
/// `typealias UIUserActivityRestoring = UserActivityRestoring`, an app's own method needs no changes.
@MainActor
public protocol ApplicationDelegate: AnyObject {
    /// An activity is about to continue. Its data arrive with ``application(_:continue:restorationHandler:)``.
    ///
    /// - Returns: whether the app informs the user about it.
    func application(_ application: Application, willContinueUserActivityWithType userActivityType: String) -> Bool

    /// Continues an activity: for example, opens the link of a tag.
    ///
    /// - Parameters:
    ///   - application: the app.
    ///   - userActivity: the activity. `webpageURL` has the link, and `ndefMessagePayload` the whole message.
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
