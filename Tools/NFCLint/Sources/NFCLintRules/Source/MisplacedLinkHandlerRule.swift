// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let misplacedLinkHandler = Rule(
        id: "SRC032",
        severity: .warning,
        title: "The link handler is in a place where it is never called",
        why: """
            In an app with scenes, or in SwiftUI, the scene receives user activities. \
            application(_:continue:restorationHandler:) is not called.
            """,
        fix: "Implement scene(_:continue:), or use onContinueUserActivity.",
        bad: [
            .swift(
                """
                class AppDelegate: NSObject, UIApplicationDelegate {
                    func application(_ application: UIApplication, continue activity: NSUserActivity, restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void) -> Bool { activity.ndefMessagePayload.records.isEmpty }
                }
                @main
                struct Doors: App {
                    var body: some Scene { WindowGroup { Text("Doors") } }
                }
                """
            )
        ],
        good: [
            .swift(
                """
                @main
                struct Doors: App {
                    var body: some Scene { WindowGroup { Text("Doors").onContinueUserActivity(NSUserActivityTypeBrowsingWeb) { open($0) } } }
                }
                """,
                "Doors.swift"
            )
        ],
        check: { unit, findings in
            let handlers = Handlers(unit)
            guard let number = handlers.inDelegate, !handlers.isInScene, handlers.hasScenes else { return }
            guard unit.usesCoreNFC || unit.mentionsAnywhere(["ndefMessagePayload"]) else { return }
            findings.add(unit.place(number), "The app has scenes, so this is never called.")
        }
    )
}
