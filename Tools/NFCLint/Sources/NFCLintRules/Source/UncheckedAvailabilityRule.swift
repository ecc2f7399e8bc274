// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
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
            .delegate(
                """
                func scan() {
                    if !NFCNDEFReaderSession.readingAvailable { showAlert("This phone can't scan.") }
                    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                }
                """
            ),
            .delegate(
                """
                func scan() {
                    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                    session?.begin()
                }
                """
            ),
            .delegate(
                """
                func scan() {
                    if NFCNDEFReaderSession.readingAvailable { print("yes") } else { print("no") }
                    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
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
            .delegate(
                """
                func scan() {
                    if !NFCNDEFReaderSession.readingAvailable { return }
                    session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                }
                """
            ),
            .ending("self.session = nil"),
            .delegate(
                """
                var canRead: Bool { NFCReaderSession.readingAvailable }
                func scan() {
                    guard canRead else { return }
                    start()
                }
                func start() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false) }
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
            // One finding for each file and reason, because one check mends all.
            var found: [String: [(place: Place, text: String, isProven: Bool)]] = [:]
            func add(_ place: Place?, _ kind: String, _ rest: String, isProven: Bool = true) {
                guard let place else { return }
                found["\(place.path) \(rest)", default: []].append((place, kind + rest, isProven))
            }
            let unchecked = " is created without a check of readingAvailable."
            let elsewhere = " is created here, but readingAvailable is checked only elsewhere. Unconfirmed."
            let names: Set<String> = ["readingAvailable", "isReadingAvailable"]
            let isAnywhere = unit.mentionsAnywhere(names)
            let isInObjective = unit.objective.contains { $0.code.methods.contains { $0.mentions("readingAvailable") } }
            for creation in unit.objective.flatMap(\.uncheckedCreations) {
                let isElsewhere = isAnywhere || isInObjective
                let rest = isElsewhere ? elsewhere : unchecked
                add(creation.statement.place, creation.kind, rest, isProven: !isElsewhere)
            }
            for creation in unit.ownCreations {
                let connected = unit.connected(creation.function)
                if connected.contains(where: { stops(unit.index.functions[$0], names) }) { continue }
                let place = unit.place(creation.call.node, creation.function)
                let isIgnored = unit.mentions(connected, names)
                let ignored = " is created whatever readingAvailable says."
                let rest = isIgnored ? ignored : isAnywhere ? elsewhere : unchecked
                add(place, creation.kind.rawValue, rest, isProven: isIgnored || !isAnywhere)
            }
            for sessions in found.values {
                guard let first = sessions.min(by: { $0.place < $1.place }) else { continue }
                let others = sessions.count - 1
                let more = others == 0 ? "" : " So \(others == 1 ? "is another" : "are \(others) others") in this file."
                let severity: Severity? = first.isProven ? nil : .info
                findings.add(first.place, first.text + more, severity: severity, isProven: first.isProven)
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
