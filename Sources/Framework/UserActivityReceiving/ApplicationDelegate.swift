// SPDX-License-Identifier: Apache-2.0
public import CoreNFC

/// What an app does with the links of tags, as `UIApplicationDelegate` has it.
///
/// On a phone the same method takes a `UIApplication`. With `typealias UIApplication = Application` and
/// `typealias UIUserActivityRestoring = UserActivityRestoring` an app's own method is unchanged.
@MainActor
public protocol ApplicationDelegate: AnyObject {
    /// An activity begins; its data come with ``application(_:continue:restorationHandler:)``.
    ///
    /// - Returns: whether the app tells the person about it.
    func application(_ application: Application, willContinueUserActivityWithType userActivityType: String) -> Bool

    /// Goes on with an activity: opens the link of a tag, for instance.
    ///
    /// - Parameters:
    ///   - application: the app.
    ///   - userActivity: the activity. `webpageURL` has the link, and `ndefMessagePayload` the whole message.
    ///   - restorationHandler: takes the objects that show what the activity is about; each is given the activity.
    /// - Returns: whether the app handled it.
    func application(
        _ application: Application,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UserActivityRestoring]?) -> Void
    ) -> Bool

    /// The activity could not be gone on with.
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

/// An object that can show what an activity is about, as `UIUserActivityRestoring` has it.
@MainActor
public protocol UserActivityRestoring: AnyObject {
    /// Shows what the activity is about.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}
