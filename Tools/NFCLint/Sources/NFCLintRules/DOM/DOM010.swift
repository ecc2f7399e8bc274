// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// No associated domain is for the link of a tag.
    static let dom010 = Rule(
        id: "DOM010",
        severity: .error,
        title: "No associated domain is for the link of a tag",
        why: "The host of the link has to be that of an entry.",
        fix: "Add applinks: with the host of the link.",
        bad: [
            Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
                + Example.plist(
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
        good: [
            Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
                + Example.plist(
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
                    <array><string>applinks:example.com</string></array>
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
            LinkChecks.domains("DOM010", unit, &findings)
        }
    )
}
