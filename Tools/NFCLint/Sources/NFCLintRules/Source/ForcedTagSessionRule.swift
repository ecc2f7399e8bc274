// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let forcedTagSession = Rule(
        id: "SRC031",
        severity: .warning,
        title: "A tag session is force-unwrapped",
        why: """
            NFCTagReaderSession's initialiser returns nil on devices that can't read tags, and ! crashes the app \
            there.
            """,
        fix: "Use if let or guard let.",
        bad: [
            .swift(
                """
                class Reader: NSObject {
                    func scan() { NFCTagReaderSession(pollingOption: .iso14443, delegate: self)!.begin() }
                }
                """
            )
        ],
        good: [
            .swift(
                """
                class Reader: NSObject {
                    func scan() { NFCTagReaderSession(pollingOption: .iso14443, delegate: self)?.begin() }
                }
                """
            )
        ],
        check: { unit, findings in
            for creation in unit.ownCreations where creation.kind == .tag {
                guard creation.call.node.parent?.is(ForceUnwrapExprSyntax.self) == true else { continue }
                findings.add(
                    unit.place(creation.call.node, creation.function),
                    "The session is force-unwrapped with !, which crashes the app if it is nil."
                )
            }
        }
    )
}
