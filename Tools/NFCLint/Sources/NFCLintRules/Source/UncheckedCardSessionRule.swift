// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let uncheckedCardSession = Rule(
        id: "SRC021",
        severity: .warning,
        title: "A CardSession is created without checking that it is allowed",
        why: """
            Card emulation is available only in some countries, on some devices and for some people. Elsewhere \
            CardSession fails.
            """,
        fix: "Check CardSession.isSupported and isEligible first.",
        bad: [
            .swift(
                """
                func present() async throws {
                    let session = try await CardSession()
                    session.alertMessage = "Hold your iPhone near the reader."
                }
                """
            )
        ],
        good: [
            .swift(
                """
                func present() async throws {
                    guard NFCReaderSession.readingAvailable, CardSession.isSupported, await CardSession.isEligible else { return }
                    let session = try await CardSession()
                }
                """
            ),
            .swift(
                """
                final class CardSession {
                    let reader: Reader
                    init(reader: Reader) { self.reader = reader }
                }
                func open(_ reader: Reader) -> CardSession { CardSession(reader: reader) }
                """
            ),
        ],
        check: { unit, findings in
            for (number, call) in unit.cardSessions {
                guard !unit.mentions(unit.connected(number), ["isSupported", "isEligible"]) else { continue }
                findings.add(
                    unit.place(call.node, number),
                    "CardSession is created without a check of isSupported and isEligible."
                )
            }
        }
    )
}
