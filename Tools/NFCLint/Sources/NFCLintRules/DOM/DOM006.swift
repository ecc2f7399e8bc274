// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// A wildcard is not for the domain itself.
    static let dom006 = Rule(
        id: "DOM006",
        severity: .info,
        title: "A wildcard is not for the domain itself",
        why: "applinks:*.example.org is for subdomains. A link to example.org does not open the app.",
        fix: "Add an entry for the domain itself where it is meant.",
        bad: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                """
            )
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:*.example.org</string></array>
                    """
                )
                + Example.swift(
                    """
                    class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                        var session: NFCNDEFReaderSession?
                        func scan() {
                            guard NFCNDEFReaderSession.readingAvailable else { return }
                            session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                            session?.alertMessage = "Hold your iPhone near the badge."
                            session?.begin()
                        }
                    }
                    """
                )
                + Example.swift(
                    """
                    class Scene: NSObject {
                        func scene(_ scene: UIScene, continue activity: NSUserActivity) {
                            guard activity.activityType == NSUserActivityTypeBrowsingWeb, activity.ndefMessagePayload.records[0].typeNameFormat != .empty else { return }
                        }
                    }
                    """,
                    "Scene.swift"
                )
        ],
        good: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                """
            )
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    <key>com.apple.developer.associated-domains</key>
                    <array><string>applinks:example.org</string></array>
                    """
                )
                + Example.swift(
                    """
                    class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                        var session: NFCNDEFReaderSession?
                        func scan() {
                            guard NFCNDEFReaderSession.readingAvailable else { return }
                            session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                            session?.alertMessage = "Hold your iPhone near the badge."
                            session?.begin()
                        }
                    }
                    """
                )
                + Example.swift(
                    """
                    class Scene: NSObject {
                        func scene(_ scene: UIScene, continue activity: NSUserActivity) {
                            guard activity.activityType == NSUserActivityTypeBrowsingWeb, activity.ndefMessagePayload.records[0].typeNameFormat != .empty else { return }
                        }
                    }
                    """,
                    "Scene.swift"
                )
        ],
        check: { unit, findings in
            LinkChecks.domains("DOM006", unit, &findings)
        }
    )
}
