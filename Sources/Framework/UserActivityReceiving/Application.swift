// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
package import CoreNFC
import Foundation

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
    /// - Parameters:
    ///   - activity: the activity; nil when it could not be created.
    ///   - type: its type.
    ///   - delegate: the receiver.
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
