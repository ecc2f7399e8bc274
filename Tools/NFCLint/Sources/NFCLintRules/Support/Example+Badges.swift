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
    static let usage = usageDescription("Badges are scanned to open doors.")

    static func usageDescription(_ text: String) -> Example { plist(usageKey(text)) }

    private static func usageKey(_ text: String) -> String {
        """
        <key>NFCReaderUsageDescription</key>
        <string>\(text)</string>
        """
    }

    private static func list(_ key: String, _ values: [String]) -> String {
        "<key>\(key)</key>\n<array>\(values.map { "<string>\($0)</string>" }.joined())</array>"
    }

    /// An Info.plist with a usage description and AIDs.
    static func identifiers(_ values: String...) -> Example {
        plist("\(usageKey("Badges are scanned to open doors."))\n\(list(Keys.identifiers, values))")
    }

    /// An Info.plist with a usage description and system codes.
    static func systemCodes(_ values: String...) -> Example {
        plist("\(usageKey("Badges are scanned to open doors."))\n\(list(Keys.systemCodes, values))")
    }

    /// The entitlements of an app that is a card.
    static func cardPrefix(_ prefix: String) -> Example {
        entitlements("<key>\(Keys.emulation)</key>\n<true/>\n\(list(Keys.emulationPrefixes, [prefix]))")
    }

    /// The entitlements of an app that reads tags in these formats.
    static func formats(_ values: String...) -> Example { entitlements(list(Keys.formats, values)) }

    /// A class that shows an instruction.
    static func instruction(_ text: String) -> Example {
        swift(
            """
            class Reader: NSObject {
                var session: NFCNDEFReaderSession?
                func scan() {
                    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                    session?.alertMessage = "\(text)"
                    session?.begin()
                }
            }
            """
        )
    }

    /// A class that shows a text after an error.
    static func failure(_ text: String) -> Example {
        swift(
            """
            class Reader: NSObject {
                var session: NFCNDEFReaderSession?
                func fail(_ error: any Error) { session?.invalidate(errorMessage: "\(text)") }
            }
            """
        )
    }

    /// A delegate of a session for messages, with these members.
    static func delegate(_ members: String) -> Example {
        swift(
            """
            class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                var session: NFCNDEFReaderSession?
                \(members.replacing("\n", with: "\n    "))
            }
            """
        )
    }

    /// A delegate of a session for messages, with these statements for the tags that it detects.
    static func detecting(_ statements: String) -> Example {
        delegate(
            """
            func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                \(statements.replacing("\n", with: "\n    "))
            }
            """
        )
    }

    /// A class that scans for messages, with these other members.
    static func scanning(_ members: String) -> Example { delegate("\(scan)\n\(members)") }

    /// A class that scans for messages, with these statements for the end of a session.
    static func ending(_ statements: String) -> Example {
        scanning(
            """
            func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                \(statements.replacing("\n", with: "\n    "))
            }
            """
        )
    }

    /// A class that scans for messages, and shows instructions.
    static let messageReader = delegate(scan)

    private static let scan = """
        func scan() {
            guard NFCNDEFReaderSession.readingAvailable else { return }
            session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
            session?.alertMessage = "Hold your iPhone near the badge."
            session?.begin()
        }
        """

    /// The entitlements of an app that reads tags.
    static let tagFormat = formats("TAG")

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

    /// The entitlements of an app that reads tags, with associated domains.
    static func tagFormatAndDomain(_ domains: [String] = ["applinks:example.org"]) -> Example {
        entitlements("\(list(Keys.formats, ["TAG"]))\n\(list(Keys.domains, domains))")
    }

    /// An Info.plist with a usage description and one AID.
    static let usageAndIdentifier = identifiers("A0000002471001")

    /// A class that writes a tag without asking for its status.
    static let plainWrite = detecting(
        """
        let tag = tags[0]
        session.connect(to: tag) { _ in
            tag.writeNDEF(self.message) { _ in session.invalidate() }
        }
        """
    )

    /// A class that asks for the status and the capacity before it writes.
    static let checkedWrite = detecting(
        """
        let tag = tags[0]
        session.connect(to: tag) { _ in
            tag.queryNDEFStatus { status, capacity, _ in
                guard status == .readWrite, self.message.length <= capacity else { return session.invalidate() }
                tag.writeNDEF(self.message) { _ in session.invalidate() }
            }
        }
        """
    )
}
