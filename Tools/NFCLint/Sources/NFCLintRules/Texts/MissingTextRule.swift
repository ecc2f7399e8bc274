// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let missingText = Rule(
        id: "TXT010",
        severity: .warning,
        title: "The sheet has no text when the session begins",
        why: "Without alertMessage, the sheet does not say what to scan or where to hold the phone.",
        fix: "Set alertMessage before begin().",
        bad: [
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.begin()
                    }
                }
                """
            ),
            .swift(
                """
                class Doors: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.begin()
                    }
                }
                class Lockers: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.alertMessage = "Hold your iPhone near the locker."
                        session?.begin()
                    }
                }
                """
            ),
            .objective(
                """
                - (void)scan {
                    NFCNDEFReaderSession *session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:YES];
                    [session beginSession];
                }
                """
            ),
        ],
        good: [
            // The session of another library, which has no text.
            .swift(
                """
                func measure() {
                    let session = Measurement()
                    session.begin()
                }
                class Reader: NSObject {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                        session?.alertMessage = "Hold your iPhone near the badge to open the door."
                        session?.begin()
                    }
                }
                """
            ),
            .instruction("Hold your iPhone near the badge to open the door."),
            .objective(
                """
                - (void)scan {
                    NFCNDEFReaderSession *session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:YES];
                    [session setAlertMessage:@"Hold your iPhone near the badge."];
                    [session beginSession];
                }
                """
            ),
        ],
        check: { unit, findings in
            for statement in unit.objective.flatMap(\.silentBegins) {
                findings.add(statement.place, "The session begins without an alertMessage.")
            }
            let callbacks = Set(unit.sessions.delegates.flatMap(\.callbacks))
            let active = Set(unit.sessions.delegates.flatMap(\.activation))
            for (number, call) in unit.sessions.begins where unit.isOwn(unit.index.functions[number]) {
                let before = Set(unit.index.reach(number, depth: 2) + unit.index.allCallers(number))
                let sets = { (functions: Set<Int>) in
                    functions.contains { function in
                        unit.index.functions[function].assignments.contains { $0.name == "alertMessage" }
                            || unit.index.functions[function].names.contains("alertMessage") && function == number
                    }
                }
                guard !sets(before.subtracting(callbacks)) else { continue }
                let makers = Set(makers(call, number, unit).map(\.function))
                if sets(active) {
                    findings.add(
                        unit.place(call.node, number),
                        "alertMessage is set only after begin().",
                        severity: .info
                    )
                } else if !sets(makers) {
                    findings.add(unit.place(call.node, number), "The session begins without an alertMessage.")
                }
            }
        }
    )

    /// The creations of the session that a call begins: with its name in the same type, otherwise any.
    private static func makers(_ call: CallInfo, _ number: Int, _ unit: Unit) -> [Sessions.Creation] {
        let name = call.node.calledExpression.memberBase?.lastName
        let family = unit.index.family(unit.index.functions[number].owner)
        let own = unit.creations(in: family).filter { $0.stored == name }
        return own.isEmpty ? unit.sessions.creations : own
    }
}
