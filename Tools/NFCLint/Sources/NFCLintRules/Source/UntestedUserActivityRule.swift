// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let untestedUserActivity = Rule(
        id: "SRC017",
        severity: .warning,
        title: "A user activity's message is used without a check",
        why: """
            ndefMessagePayload is never nil. If the activity does not come from a tag, it has one record of the type \
            empty.
            """,
        fix: "Check that activityType is NSUserActivityTypeBrowsingWeb, and that the first record is not .empty.",
        bad: [
            .swift(
                """
                func handle(_ activity: NSUserActivity) {
                    show(activity.ndefMessagePayload.records)
                }
                """
            )
        ],
        good: [
            .swift(
                """
                func handle(_ activity: NSUserActivity) {
                    guard activity.activityType == NSUserActivityTypeBrowsingWeb else { return }
                    let message = activity.ndefMessagePayload
                    guard message.records.first?.typeNameFormat != .empty else { return }
                    show(message.records)
                }
                """
            )
        ],
        check: { unit, findings in
            for (number, function) in unit.ownFunctions where function.names.contains("ndefMessagePayload") {
                let connected = unit.connected(number)
                let missing = [
                    unit.mentions(connected, ["empty"]) ? nil : "for an empty record",
                    unit.mentions(
                        connected,
                        ["activityType", "NSUserActivityTypeBrowsingWeb", "onContinueUserActivity"]
                    ) ? nil : "of activityType",
                ].compactMap { $0 }
                guard !missing.isEmpty,
                    let use = Finder.all(MemberAccessExprSyntax.self, in: function.body).first(where: {
                        $0.declName.baseName.text == "ndefMessagePayload"
                    })
                else { continue }
                findings.add(
                    unit.place(use.declName, number),
                    "ndefMessagePayload is used without a check \(missing.joined(separator: " and "))."
                )
            }
        }
    )
}
