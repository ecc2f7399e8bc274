// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// There are too many associated domains, or one twice.
    static let dom009 = Rule(
        id: "DOM009",
        severity: .warning,
        title: "There are too many associated domains, or one twice",
        why: "20 to 30 entries are what systems read. A doubled entry has no effect.",
        fix: "Keep each entry once.",
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
                    <array><string>applinks:example.org</string><string>applinks:example.org</string></array>
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
            LinkChecks.domains("DOM009", unit, &findings)
        }
    )
}
