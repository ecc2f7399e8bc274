// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let missingUnknownDefault = Rule(
        id: "SRC020",
        severity: .info,
        title: "A switch over tags or states has no @unknown default",
        why: "A later iOS may add a case, and then this switch crashes the app.",
        fix: "Add @unknown default.",
        bad: [
            .swift(
                """
                func name(_ status: NFCNDEFStatus) -> String {
                    switch status {
                    case .notSupported: "none"
                    case .readOnly: "locked"
                    case .readWrite: "open"
                    }
                }
                """
            )
        ],
        good: [
            .swift(
                """
                func name(_ status: NFCNDEFStatus) -> String {
                    switch status {
                    case .notSupported: "none"
                    case .readOnly: "locked"
                    case .readWrite: "open"
                    @unknown default: "unknown"
                    }
                }
                """
            )
        ],
        check: { unit, findings in
            let sets: [Set<String>] = [
                ["notSupported", "readOnly", "readWrite"], ["feliCa", "iso7816", "iso15693", "miFare"],
            ]
            for (number, function) in unit.ownFunctions {
                for node in Finder.all(SwitchExprSyntax.self, in: function.body) {
                    let cases = node.cases.compactMap { $0.as(SwitchCaseSyntax.self) }
                    guard !cases.contains(where: { $0.label.is(SwitchDefaultLabelSyntax.self) }) else { continue }
                    let labels = cases.map(\.label.trimmedDescription).joined(separator: " ")
                    let names = Set(labels.split { !($0.isLetter || $0.isNumber) }.map(String.init))
                    guard sets.contains(where: { $0.isSubset(of: names) }) else { continue }
                    findings.add(
                        unit.place(node, number),
                        "The switch has no @unknown default for cases that a later iOS adds."
                    )
                }
            }
        }
    )
}
