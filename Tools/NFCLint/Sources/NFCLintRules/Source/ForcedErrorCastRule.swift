// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let forcedErrorCast = Rule(
        id: "SRC028",
        severity: .warning,
        title: "An error is force-cast to NFCReaderError",
        why: "as! crashes the app if the error has another type.",
        fix: "Use as? and handle the other errors.",
        bad: [.swift("func code(_ error: any Error) -> Int { (error as! NFCReaderError).errorCode }")],
        good: [.swift("func code(_ error: any Error) -> Int? { (error as? NFCReaderError)?.errorCode }")],
        check: { unit, findings in
            for (number, function) in unit.ownFunctions {
                for node in Finder.all(AsExprSyntax.self, in: function.body)
                where node.questionOrExclamationMark?.text == "!" {
                    guard node.type.trimmedDescription.hasSuffix("NFCReaderError") else { continue }
                    let text = "as! NFCReaderError crashes the app if the error has another type."
                    findings.add(unit.place(node, number), text)
                }
            }
        }
    )
}
