// SPDX-License-Identifier: Apache-2.0
public import CoreNFC

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

    public func application(
        _: Application,
        didFailToContinueUserActivityWithType _: String,
        error _: any Error
    ) {}
}

/// An object that can show an activity, like `UIUserActivityRestoring`.
@MainActor
public protocol UserActivityRestoring: AnyObject {
    /// Shows the activity.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}
