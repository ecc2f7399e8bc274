// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// The parts that several examples share: an app that reads badges.
extension Example {
    /// A class that scans for cards.
    static let tagReader = swift(
        """
        class Reader: NSObject {
            var session: NFCTagReaderSession?
            func scan() {
                session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
            }
        }
        """
    )

    /// An Objective-C class with these methods.
    static func objective(_ methods: String) -> Example {
        file("Reader.m", "#import <CoreNFC/CoreNFC.h>\n\n@implementation Reader\n\n\(methods)\n\n@end")
    }

    /// An Info.plist with a usage description.
    static let usage = plist(
        """
        <key>NFCReaderUsageDescription</key>
        <string>Badges are scanned to open doors.</string>
        """
    )

    /// A class that scans for messages, and shows instructions.
    static let messageReader = swift(
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

    /// The entitlements of an app that reads tags.
    static let tagFormat = entitlements(
        """
        <key>com.apple.developer.nfc.readersession.formats</key>
        <array><string>TAG</string></array>
        """
    )

    /// A scene that handles the links on tags.
    static let linkScene = swift(
        """
        class Scene: NSObject {
            func scene(_ scene: UIScene, continue activity: NSUserActivity) {
                guard activity.activityType == NSUserActivityTypeBrowsingWeb, activity.ndefMessagePayload.records[0].typeNameFormat != .empty else { return }
            }
        }
        """,
        "Scene.swift"
    )

    /// The entitlements of an app that reads tags and opens links to example.org.
    static let tagFormatAndDomain = entitlements(
        """
        <key>com.apple.developer.nfc.readersession.formats</key>
        <array><string>TAG</string></array>
        <key>com.apple.developer.associated-domains</key>
        <array><string>applinks:example.org</string></array>
        """
    )

    /// An Info.plist with a usage description and one AID.
    static let usageAndIdentifier = plist(
        """
        <key>NFCReaderUsageDescription</key>
        <string>Badges are scanned to open doors.</string>
        <key>com.apple.developer.nfc.readersession.iso7816.select-identifiers</key>
        <array><string>A0000002471001</string></array>
        """
    )
}
