// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let deprecatedName = Rule(
        id: "SRC022",
        severity: .info,
        title: "A deprecated name is used",
        why: "The name has a new spelling, and the old one is deprecated. wellKnowTypeTextPayload fails on iOS 13.",
        fix: "Use the new name.",
        bad: [.swift("func text(_ record: NFCNDEFPayload) -> String? { record.wellKnowTypeTextPayload().0 }")],
        good: [.swift("func text(_ record: NFCNDEFPayload) -> String? { record.wellKnownTypeTextPayload().0 }")],
        check: { unit, findings in
            for (number, function) in unit.ownFunctions where !function.names.isDisjoint(with: renamed.keys) {
                for node in Finder.all(DeclReferenceExprSyntax.self, in: function.node) {
                    guard let new = renamed[node.baseName.text] else { continue }
                    let edit = Edit(path: function.file.path, range: unit.range(node.baseName), replacement: new)
                    findings.add(
                        unit.place(node, number),
                        "\(node.baseName.text) is the deprecated name of \(new).",
                        edits: [edit]
                    )
                }
            }
        }
    )
    private static let renamed = [
        "wellKnowTypeTextPayload": "wellKnownTypeTextPayload",
        "wellKnowTypeURIPayload": "wellKnownTypeURIPayload",
        "lockDFSID": "lockDSFID",
    ]
}
