// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// The formats lack NDEF for iOS before 13.
    static let cfg013 = Rule(
        id: "CFG013",
        severity: .warning,
        title: "The formats lack NDEF for iOS before 13",
        why: "Before iOS 13 there are sessions for NDEF messages alone, and they need NDEF in the formats.",
        fix: "Add NDEF beside TAG, or raise the least version of iOS to 13.",
        bad: [
            Example.minimum("12.0")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    """
                )
                + Example.plist(
                    """
                    <key>NFCReaderUsageDescription</key>
                    <string>Badges are scanned to open doors.</string>
                    """
                )
                + Example.swift(
                    """
                    class Reader: NSObject {
                        var session: NFCTagReaderSession?
                        func scan() {
                            session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
                        }
                    }
                    """
                )
        ],
        good: [
            Example.minimum("12.0")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>NDEF</string><string>TAG</string></array>
                    """
                )
                + Example.plist(
                    """
                    <key>NFCReaderUsageDescription</key>
                    <string>Badges are scanned to open doors.</string>
                    """
                )
                + Example.swift(
                    """
                    class Reader: NSObject {
                        var session: NFCTagReaderSession?
                        func scan() {
                            session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
                        }
                    }
                    """
                ),
            Example.minimum("13.0")
                + Example.entitlements(
                    """
                    <key>com.apple.developer.nfc.readersession.formats</key>
                    <array><string>TAG</string></array>
                    """
                )
                + Example.plist(
                    """
                    <key>NFCReaderUsageDescription</key>
                    <string>Badges are scanned to open doors.</string>
                    """
                )
                + Example.swift(
                    """
                    class Reader: NSObject {
                        var session: NFCTagReaderSession?
                        func scan() {
                            session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
                        }
                    }
                    """
                ),
        ],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.formats) { formats, variant in
                guard let minimum = variant.minimum, minimum < Version(13), !Variant.texts(formats).contains("NDEF")
                else { return }
                findings.add(
                    formats.key,
                    "The app is for iOS \(minimum) and later, and the formats lack NDEF, which iOS before 13 needs."
                )
            }
        }
    )
}
