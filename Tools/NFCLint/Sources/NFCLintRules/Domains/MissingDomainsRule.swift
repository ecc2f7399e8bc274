// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The app has no associated domains.
    static let missingDomains = Rule(
        id: "DOM001",
        severity: .error,
        title: "The app has no associated domains",
        why: """
            In background reading, a tag opens an app only by a universal link, and the app must list the link's \
            domain.
            """,
        fix: "Add com.apple.developer.associated-domains with applinks: and the domain of the link.",
        bad: [
            Example.usage
                + Example.tagFormat
                + Example.messageReader
                + Example.linkScene,
            Example.messageReader + Example.usage + Example.tagFormat
                + Example.file(
                    "AppDelegate.swift",
                    """
                    class AppDelegate: UIResponder, UIApplicationDelegate {
                        func application(_ application: UIApplication, continue activity: NSUserActivity, restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void) -> Bool {
                            activity.ndefMessagePayload.records.isEmpty
                        }
                    }
                    """
                ),
        ],
        good: [
            Example.usage
                + Example.tagFormatAndDomain
                + Example.messageReader
                + Example.linkScene,
            Example.usage
                + Example.tagFormat
                + Example.messageReader,
        ],
        check: { unit, findings in
            LinkChecks.domains("DOM001", unit, &findings)
        }
    )
}
