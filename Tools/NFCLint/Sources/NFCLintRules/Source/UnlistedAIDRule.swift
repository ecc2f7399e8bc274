// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// The code selects an AID that is not in the list.
    static let unlistedAID = Rule(
        id: "SRC010",
        severity: .error,
        title: "The code selects an AID that is not in the list",
        why: "A session can only select applications listed in the Info.plist. Selecting any other fails with code 2.",
        fix: "Add the AID to the list.",
        bad: [
            Example.usageAndIdentifier
                + Example.swift(
                    "let apdu = NFCISO7816APDU(instructionClass: 0, instructionCode: 0xA4, p1Parameter: 4, p2Parameter: 0, data: Data([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]), expectedResponseLength: 256)"
                ),
            Example.usageAndIdentifier
                + Example.swift(
                    """
                    let badge = Data([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01])
                    let apdu = NFCISO7816APDU(instructionClass: 0, instructionCode: 0xA4, p1Parameter: 4, p2Parameter: 0, data: badge, expectedResponseLength: 256)
                    """
                ),
        ],
        good: [
            Example.usageAndIdentifier
                + Example.swift(
                    "let apdu = NFCISO7816APDU(instructionClass: 0, instructionCode: 0xA4, p1Parameter: 4, p2Parameter: 0, data: Data([0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]), expectedResponseLength: 256)"
                )
        ],
        check: { unit, findings in
            for variant in unit.appVariants where variant.isInfoKnown {
                let list = Variant.texts(variant.info(Keys.identifiers)).map { $0.uppercased() }
                guard variant.info(Keys.identifiers)?.value.array != nil else { continue }
                for (number, call) in unit.ownCalls(["NFCISO7816APDU"]) {
                    guard let bytes = selected(call) else { continue }
                    let aid = Hex.text(bytes)
                    guard !list.contains(aid) else { continue }
                    let place = unit.place(call.node, number)
                    // A partial AID may also select a listed AID.
                    if list.contains(where: { $0.hasPrefix(aid) || aid.hasPrefix($0) }) {
                        let text =
                            """
                            The list does not contain the AID \(aid), only a longer or shorter one. Unconfirmed: its \
                            selection may still work.
                            """
                        findings.add(place, text, severity: .warning, isProven: false)
                    } else if unit.mentions([number], ["sendMiFareISO7816Command"]) {
                        let text =
                            """
                            The list does not contain the AID \(aid), so its selection may fail. Unconfirmed for \
                            MIFARE tags.
                            """
                        findings.add(place, text, severity: .warning, isProven: false)
                    } else {
                        findings.add(
                            place,
                            """
                            The AID list of the Info.plist does not contain \(aid), so its selection fails with code \
                            2.
                            """
                        )
                    }
                }
            }
        }
    )
    /// The AID that a SELECT command contains, if it is a literal.
    private static func selected(_ call: CallInfo) -> [UInt8]? {
        guard let data = call.argument("data") else { return nil }
        guard let bytes = bytes(constant(data) ?? data) else { return nil }
        var aid = bytes
        if let instruction = call.argument("instructionCode") {
            guard number(instruction) == 0xA4, call.argument("p1Parameter").flatMap(number) == 4 else { return nil }
        } else {
            guard bytes.count > 5, bytes[1] == 0xA4, bytes[2] == 4, bytes.count >= 5 + Int(bytes[4]) else { return nil }
            aid = Array(bytes[5..<(5 + Int(bytes[4]))])
        }
        return (5...16).contains(aid.count) ? aid : nil
    }

    private static func number(_ node: ExprSyntax) -> Int? {
        let text = node.core.words.replacing("_", with: "")
        return text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    }

    /// The value of a named constant; nil for anything else, or if the name is not unique in the file.
    private static func constant(_ node: ExprSyntax) -> ExprSyntax? {
        let core = node.core
        let name: String
        if let reference = core.as(DeclReferenceExprSyntax.self) {
            name = reference.baseName.text
        } else if let member = core.as(MemberAccessExprSyntax.self),
            member.base?.is(DeclReferenceExprSyntax.self) == true
        {
            name = member.declName.baseName.text
        } else {
            return nil
        }
        let named = Finder.all(PatternBindingSyntax.self, in: core.root).filter {
            $0.pattern.trimmedDescription == name
        }
        // A local name hides the same name outside the function.
        let own = core.is(MemberAccessExprSyntax.self) ? nil : core.enclosing(FunctionDeclSyntax.self)
        let near = named.filter { $0.enclosing(FunctionDeclSyntax.self)?.id == own?.id }
        let outside = named.filter { $0.enclosing(FunctionDeclSyntax.self) == nil }
        let meant = near.isEmpty ? outside : near
        guard meant.count == 1, let binding = meant.first, let value = binding.initializer?.value,
            binding.enclosing(VariableDeclSyntax.self)?.bindingSpecifier.tokenKind == .keyword(.let)
        else { return nil }
        return value
    }

    private static func bytes(_ node: ExprSyntax) -> [UInt8]? {
        guard let array = Finder.all(ArrayExprSyntax.self, in: node).first else { return nil }
        let values = array.elements.map { number($0.expression).flatMap { UInt8(exactly: $0) } }
        return values.contains { $0 == nil } ? nil : values.compactMap { $0 }
    }
}
