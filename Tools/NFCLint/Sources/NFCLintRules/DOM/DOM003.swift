// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// An associated domain has no service, or an unknown one.
    static let dom003 = Rule(
        id: "DOM003",
        severity: .error,
        title: "An associated domain has no service, or an unknown one",
        why: "An entry is a service, a colon and a domain. Another one has no effect.",
        fix: "Write applinks: before the domain.",
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
                    <array><string>example.org</string><string>applinks:example.org</string></array>
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
                ),
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
                    <array><string>applink:example.org</string></array>
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
                ),
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
            LinkChecks.domains("DOM003", unit, &findings)
        }
    )
}
