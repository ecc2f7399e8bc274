// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
import CoreNFC
import Foundation

/// The app, where it is given the links of tags that were read in the background.
///
/// What carries a delivery into the process calls ``receive(_:)``; the interface on the bus is
/// ``BackgroundTagReading/DeliveryInterface``. Links that come before there is a delegate wait for it, as at a launch.
@MainActor
public final class Application {
    /// The app of this process.
    public static let shared = Application()

    /// The most links that wait for a delegate; of more the oldest is dropped.
    static let maximumWaiting = 16

    /// Takes the links. What has waited comes when it is set.
    public weak var delegate: (any ApplicationDelegate)? {
        didSet {
            guard delegate != nil else { return }
            let links = waiting
            waiting = []
            for payload in links { _ = receive(payload) }
        }
    }

    private var waiting: [UserActivityPayload] = []

    /// Creates an app, for a test; others use ``shared``.
    public init() {}

    /// Gives a link to the delegate.
    ///
    /// - Parameter payload: the link with its message. That they belong together was checked when it was made.
    /// - Returns: whether the app handled it, or will be asked when it has a delegate.
    @discardableResult
    public func receive(_ payload: UserActivityPayload) -> Bool {
        guard let delegate else {
            waiting.append(payload)
            if waiting.count > Self.maximumWaiting { waiting.removeFirst() }
            return true
        }
        _ = delegate.application(self, willContinueUserActivityWithType: payload.activityType)
        guard let activity = NSUserActivity(payload) else {
            let problem = CocoaError(.userActivityHandoffFailed)
            delegate.application(
                self,
                didFailToContinueUserActivityWithType: payload.activityType,
                error: problem
            )
            return false
        }
        return delegate.application(self, continue: activity) { objects in
            for object in objects ?? [] { object.restoreUserActivityState(activity) }
        }
    }
}

extension NSUserActivity {
    /// Creates the activity of a link; nil when Foundation has no URL for it.
    convenience init?(_ payload: UserActivityPayload) {
        guard let url = URL(string: payload.webpageURL), let message = NFCNDEFMessage(data: Data(payload.message))
        else {
            return nil
        }
        self.init(webpageURL: url, ndefMessagePayload: message)
    }
}
