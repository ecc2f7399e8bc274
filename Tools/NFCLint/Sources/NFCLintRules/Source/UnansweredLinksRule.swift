// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let unansweredLinks = Rule(
        id: "SRC018",
        severity: .error,
        title: "Links on tags open the app, but the app does not handle them",
        why: """
            With an applinks domain, reading a tag in the background opens the app with a user activity. Without a \
            handler, the link is lost.
            """,
        fix: """
            Implement scene(_:continue:), application(_:continue:restorationHandler:) or onContinueUserActivity.
            """,
        bad: [
            Example.usage + Example.tagFormatAndDomain()
                + Example.swift(
                    """
                    @main
                    struct Doors: App {
                        var body: some Scene { WindowGroup { Text("Doors") } }
                    }
                    """,
                    "Doors.swift"
                )
                + Example.messageReader
        ],
        good: [
            Example.usage + Example.tagFormatAndDomain()
                + Example.swift(
                    """
                    @main
                    struct Doors: App {
                        var body: some Scene { WindowGroup { Text("Doors").onContinueUserActivity(NSUserActivityTypeBrowsingWeb) { open($0) } } }
                    }
                    """,
                    "Doors.swift"
                )
                + Example.messageReader
        ],
        check: { unit, findings in
            guard unit.isApp, unit.ownSession != nil, !Handlers(unit).hasAny else { return }
            for variant in unit.target.variants {
                guard let domains = variant.entitlement(Keys.domains) else { continue }
                guard Variant.texts(domains).contains(where: { $0.lowercased().hasPrefix("applinks:") }) else {
                    continue
                }
                let isProven = Handlers(unit).isComplete
                let text = "The app has an associated domain for applinks, but does not handle user activities."
                findings.add(
                    domains.key,
                    isProven ? text : text + " Unconfirmed: the app's entry point was not found.",
                    severity: isProven ? .error : .warning,
                    isProven: isProven
                )
            }
        }
    )
}
