// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// A well-known record is decoded by hand.
    static let src023 = Rule(
        id: "SRC023",
        severity: .info,
        title: "A well-known record is decoded by hand",
        why: """
            Text has a status byte, a language and two encodings, and a URI has a code for its beginning. Code \
            that cuts bytes off is wrong for some tags.
            """,
        fix: "Use wellKnownTypeTextPayload() or wellKnownTypeURIPayload().",
        bad: [
            .swift(
                """
                func text(_ record: NFCNDEFPayload) -> String? {
                    String(data: record.payload.dropFirst(3), encoding: .utf8)
                }
                """
            )
        ],
        good: [
            .swift("func text(_ record: NFCNDEFPayload) -> String? { record.wellKnownTypeTextPayload().0 }")
        ],
        check: { unit, findings in
            for (number, function) in unit.ownFunctions {
                guard
                    function.names.isDisjoint(with: [
                        "wellKnownTypeTextPayload", "wellKnownTypeURIPayload", "media", "nfcExternal",
                    ])
                else { continue }
                for call in function.calls
                where call.name == "String" && call.base == nil || call.name == "init" && call.base == "String" {
                    guard let first = call.node.arguments.first,
                        ["data", "bytes", "decoding"].contains(first.label?.text)
                    else { continue }
                    guard let cut = payload(first.expression, function) else { continue }
                    let text =
                        cut
                        ? "Bytes are cut off a payload by hand to get its text."
                        : "A payload is taken as text with its leading bytes."
                    findings.add(unit.place(call.node, number), text)
                    break
                }
            }
        }
    )
    private static let cutting: Set<String> = ["dropFirst", "advanced", "subdata", "suffix", "prefix", "removeFirst"]

    /// Whether an expression is a payload of a record, and whether bytes are cut off it; nil for anything else.
    private static func payload(_ node: ExprSyntax, _ function: FunctionInfo) -> Bool? {
        let names = Finder.all(MemberAccessExprSyntax.self, in: node).map(\.declName.baseName.text)
        if names.contains("payload") {
            return !cutting.isDisjoint(with: names) || !Finder.all(SubscriptCallExprSyntax.self, in: node).isEmpty
        }
        // A local constant that is a payload.
        guard let name = node.core.as(DeclReferenceExprSyntax.self)?.baseName.text else { return nil }
        for binding in Finder.all(PatternBindingSyntax.self, in: function.body) {
            guard binding.pattern.trimmedDescription == name, let value = binding.initializer?.value else { continue }
            let inner = Finder.all(MemberAccessExprSyntax.self, in: value).map(\.declName.baseName.text)
            if inner.contains("payload"), !cutting.isDisjoint(with: inner) { return true }
        }
        return nil
    }
}
