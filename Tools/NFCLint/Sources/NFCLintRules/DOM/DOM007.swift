// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An associated domain is in developer mode.
    static let dom007 = Rule(
        id: "DOM007",
        severity: .warning,
        title: "An associated domain is in developer mode",
        why: "Devices of users do not follow ?mode=developer.",
        fix: "Take it out of what users get.",
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
                    <array><string>applinks:example.org?mode=developer</string></array>
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
            LinkChecks.domains("DOM007", unit, &findings)
        }
    )
}
