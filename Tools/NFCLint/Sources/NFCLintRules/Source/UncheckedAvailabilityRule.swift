// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// A session starts without checking that the device can read tags.
    static let uncheckedAvailability = Rule(
        id: "SRC001",
        severity: .warning,
        title: "A session starts without checking that the device can read tags",
        why: """
            On devices without NFC, or where reading is off, a session ends with code 1, and the user sees no helpful \
            message.
            """,
        fix: "Check readingAvailable of the session type before you create the session, and show what is missing.",
        bad: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        if !NFCNDEFReaderSession.readingAvailable { showAlert("This phone can't scan.") }
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                        session?.begin()
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        if NFCNDEFReaderSession.readingAvailable { print("yes") } else { print("no") }
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                    }
                }
                """
            ),
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                    [self.session beginSession];
                }
                """
            ),
        ],
        good: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        if !NFCNDEFReaderSession.readingAvailable { return }
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        guard NFCNDEFReaderSession.readingAvailable else { return }
                        session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                        session?.alertMessage = "Hold your iPhone near the badge."
                        session?.begin()
                    }
                    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        self.session = nil
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    var canRead: Bool { NFCReaderSession.readingAvailable }
                    func scan() {
                        guard canRead else { return }
                        start()
                    }
                    func start() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false) }
                }
                """
            ),
            .objective(
                """
                - (void)scan {
                    if (![NFCNDEFReaderSession readingAvailable]) { return; }
                    [self start];
                }
                - (void)start {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                    [self.session beginSession];
                }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective {
                for creation in file.uncheckedCreations {
                    let isElsewhere = unit.objective.contains { other in
                        other.code.methods.contains { $0.mentions("readingAvailable") }
                    }
                    let text = "\(creation.kind) is created"
                    if isElsewhere || unit.mentionsAnywhere(["readingAvailable", "isReadingAvailable"]) {
                        let rest = " here, but readingAvailable is checked only elsewhere. Unconfirmed."
                        findings.add(creation.statement.place, text + rest, severity: .info, isProven: false)
                    } else {
                        findings.add(creation.statement.place, text + " without a check of readingAvailable.")
                    }
                }
            }
            let names: Set<String> = ["readingAvailable", "isReadingAvailable"]
            let isAnywhere = unit.mentionsAnywhere(names)
            for creation in unit.ownCreations {
                let connected = unit.connected(creation.function)
                if connected.contains(where: { stops(unit.index.functions[$0], names) }) { continue }
                let name = creation.kind.rawValue
                let place = unit.place(creation.call.node, creation.function)
                if unit.mentions(connected, names) {
                    findings.add(
                        place,
                        "readingAvailable is checked, but \(name) is created whatever the result."
                    )
                } else if isAnywhere {
                    let text = "\(name) is created here, but readingAvailable is checked only elsewhere. Unconfirmed."
                    findings.add(place, text, severity: .info, isProven: false)
                } else {
                    findings.add(place, "\(name) is created without a check of readingAvailable.")
                }
            }
        }
    )

    /// Whether a function uses `readingAvailable` other than in a log, or in an `if` that goes on in either case.
    private static func stops(_ function: FunctionInfo, _ names: Set<String>) -> Bool {
        guard !function.names.isDisjoint(with: names) else { return false }
        // The value of a property has no statements.
        let all = Finder.all(DeclReferenceExprSyntax.self, in: function.body ?? function.node)
        return all.contains { reference in
            guard names.contains(reference.baseName.text) else { return false }
            if let call = reference.enclosing(FunctionCallExprSyntax.self), Names.isLog(call) { return false }
            guard let list = reference.enclosing(ConditionElementListSyntax.self),
                let branch = list.parent?.as(IfExprSyntax.self)
            else { return true }
            let bodies = [branch.body, branch.elseBody?.as(CodeBlockSyntax.self)].compactMap(\.self)
            let onlyLogs = bodies.flatMap(\.statements).allSatisfy {
                $0.item.as(FunctionCallExprSyntax.self).map(Names.isLog) ?? false
            }
            if onlyLogs, bodies.count == (branch.elseBody == nil ? 1 : 2) { return false }
            guard branch.elseBody == nil,
                list.trimmedDescription.hasPrefix("!") || list.trimmedDescription.contains("== false")
            else { return true }
            let last = branch.body.statements.last.map { Syntax($0.item) }
            return last.map { $0.is(ReturnStmtSyntax.self) || $0.is(ThrowStmtSyntax.self) } ?? false
        }
    }
}
