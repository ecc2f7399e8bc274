// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let missingConfiguration = Rule(
        id: "SRC009",
        severity: .error,
        title: "The configuration lacks a key that the code needs",
        why: """
            FeliCa needs system codes, ISO 7816 needs AIDs, PACE its format, and VAS its entitlement. Without them, \
            the session ends or never finds these tags.
            """,
        fix: "Add the key to the Info.plist or the entitlements, or remove this kind of tag from the code.",
        bad: [
            Example.usage
                + Example.swift(
                    """
                    class Reader: NSObject {
                        var session: NFCTagReaderSession?
                        func scan() {
                            session = NFCTagReaderSession(pollingOption: .iso18092, delegate: self)
                            session?.begin()
                        }
                    }
                    """
                ),
            Example.usage
                + Example.swift(
                    """
                    class Reader: NSObject {
                        var session: NFCTagReaderSession?
                        func scan() {
                            session = NFCTagReaderSession(pollingOption: [.iso14443], delegate: self)
                            session?.begin()
                        }
                    }
                    """
                )
                + Example.swift(
                    """
                    func read(_ tag: NFCTag) async throws {
                        if case .iso7816(let card) = tag {
                            _ = try await card.sendCommand(apdu: apdu)
                        }
                    }
                    """,
                    "Card.swift"
                ),
        ],
        good: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                <key>com.apple.developer.nfc.readersession.felica.systemcodes</key>
                <array><string>0003</string></array>
                """
            )
                + Example.swift(
                    """
                    class Reader: NSObject {
                        var session: NFCTagReaderSession?
                        func scan() {
                            session = NFCTagReaderSession(pollingOption: .iso18092, delegate: self)
                            session?.begin()
                        }
                    }
                    """
                ),
            Example.usageAndIdentifier
                + Example.swift(
                    """
                    class Reader: NSObject {
                        var session: NFCTagReaderSession?
                        func scan() {
                            session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
                            session?.begin()
                        }
                    }
                    """
                ),
        ],
        check: { unit, findings in
            for variant in unit.appVariants {
                if variant.isInfoKnown {
                    checkFeliCa(variant, unit, &findings)
                    checkCards(variant, unit, &findings)
                }
                guard variant.areEntitlementsKnown, variant.formats != nil else { continue }
                let formats = Variant.texts(variant.formats)
                for creation in unit.ownCreations {
                    if creation.kind == .vas, !formats.contains("VAS") {
                        findings.add(
                            unit.place(creation.call.node, creation.function),
                            "The code creates a VAS session, but the formats lack VAS."
                        )
                    }
                    let polling = creation.call.argument("pollingOption")
                    if creation.kind == .tag, options(polling).contains("pace"), !formats.contains("PACE") {
                        findings.add(
                            unit.place(creation.call.node, creation.function),
                            "The code polls for PACE, but the formats lack PACE."
                        )
                    }
                }
                for (number, call) in unit.cardSessions
                where variant.entitlement(Keys.emulation)?.value.boolean != true {
                    findings.add(
                        unit.place(call.node, number),
                        "The code creates a CardSession, but the entitlements lack \(Keys.emulation)."
                    )
                }
            }
        }
    )
    private static func checkFeliCa(_ variant: Variant, _ unit: Unit, _ findings: inout Findings) {
        guard variant.info(Keys.systemCodes) == nil else { return }
        for creation in unit.ownCreations where creation.kind == .tag {
            guard options(creation.call.argument("pollingOption")).contains("iso18092") else { continue }
            let text = "The code polls for FeliCa, but the Info.plist has no system codes, so the session ends at once."
            findings.add(unit.place(creation.call.node, creation.function), text)
        }
    }

    private static func checkCards(_ variant: Variant, _ unit: Unit, _ findings: inout Findings) {
        guard variant.info(Keys.identifiers) == nil else { return }
        let polls = unit.sessions.creations.filter { $0.kind == .tag }.map {
            options($0.call.argument("pollingOption"))
        }
        guard polls.contains(where: { $0.contains("iso14443") }) else { return }
        for (number, function) in unit.ownFunctions {
            for (technology, name) in function.tagPatterns where technology == "iso7816" {
                let isUsed = !function.calls(using: name).isEmpty
                let text = "ISO 7816 tags are never found: the Info.plist has no AID list."
                findings.add(unit.place(name, number), text, severity: isUsed ? .error : .warning, isProven: true)
            }
        }
    }

    /// The names of polling options in an expression.
    private static func options(_ node: ExprSyntax?) -> Set<String> {
        Set(Finder.all(DeclReferenceExprSyntax.self, in: node).map(\.baseName.text))
    }
}
