// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// Cancelling is shown as an error.
    static let src004 = Rule(
        id: "SRC004",
        severity: .warning,
        title: "Cancelling is shown as an error",
        why: """
            didInvalidateWithError comes at each end of a session, also when the person cancels (200) and after \
            the first message (204). These are no errors to show.
            """,
        fix: """
            Return early for readerSessionInvalidationErrorUserCanceled, and for \
            readerSessionInvalidationErrorFirstNDEFTagRead where the session ends after the first message.
            """,
        bad: [
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
                        showAlert(error.localizedDescription)
                    }
                }
                """
            )
        ],
        good: [
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
                        if let error = error as? NFCReaderError, error.code == .readerSessionInvalidationErrorUserCanceled { return }
                        showAlert(error.localizedDescription)
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
        ],
        check: { unit, findings in
            for delegate in unit.ownDelegates {
                let endsAfterFirst = unit.creations(for: delegate).contains { creation in
                    creation.call.argument("invalidateAfterFirstRead")?.words == "true"
                }
                for number in delegate.invalidation {
                    let function = unit.index.functions[number]
                    let reached = unit.index.reach(number, depth: 3)
                    guard let shown = shows(number, reached, unit) else { continue }
                    let text = reached.compactMap { unit.index.functions[$0].body?.trimmedDescription }.joined()
                    let cancel = singles(text, ["UserCanceled", "userCanceled", "userCancelled"], number: "200")
                    let first = singles(text, ["FirstNDEFTagRead", "firstNDEFTagRead"], number: "204")
                    if !cancel {
                        let edits = fix(function, unit)
                        findings.add(
                            unit.place(shown, number),
                            "An error is shown also when the person cancels.",
                            edits: edits
                        )
                    } else if endsAfterFirst, !delegate.messages.isEmpty, function.name == "readerSession", !first {
                        findings.add(
                            unit.place(shown, number),
                            "An error is shown also after the first message, which ends the session (204)."
                        )
                    }
                }
            }
        }
    )
    private static func singles(_ text: String, _ names: [String], number: String) -> Bool {
        names.contains(where: text.contains) || text.contains("== \(number)") || text.contains("case \(number)")
            || text.contains("!= \(number)")
    }

    private static let showing = [
        "alert", "toast", "showerror", "showmessage", "presenterror", "displayerror", "showfail", "banner", "snackbar",
        "hud",
    ]

    /// Where a function shows an error to a person; nil for nowhere.
    private static func shows(_ number: Int, _ reached: [Int], _ unit: Unit) -> Syntax? {
        let function = unit.index.functions[number]
        for call in function.calls {
            let name = call.name.lowercased()
            let isShowing = showing.contains(where: name.contains) || name == "present"
            let isSheet = call.name == "invalidate" || call.name == "begin"
            if isShowing, !isSheet { return Syntax(call.node) }
            guard passesError(call, function) else { continue }
            for target in unit.index.targets(of: call, in: function) {
                let inner = unit.index.functions[target]
                let shows = inner.calls.contains { inner in
                    showing.contains { inner.name.lowercased().contains($0) } || inner.name == "present"
                }
                if shows { return Syntax(call.node) }
            }
        }
        for assignment in function.assignments {
            let name = (assignment.name ?? "").lowercased()
            let isText =
                ["error", "alert", "message", "status", "text"].contains(where: name.contains) && name != "alertmessage"
            if isText, mentionsError(assignment.value, function) { return Syntax(assignment.target) }
        }
        return nil
    }

    private static func passesError(_ call: CallInfo, _ function: FunctionInfo) -> Bool {
        call.node.arguments.contains { mentionsError($0.expression, function) }
    }

    private static func mentionsError(_ node: some SyntaxProtocol, _ function: FunctionInfo) -> Bool {
        let name = function.parameters.last ?? "error"
        return Finder.all(DeclReferenceExprSyntax.self, in: Syntax(node)).contains { $0.baseName.text == name }
    }

    /// Returns early where nothing else has to be done.
    private static func fix(_ function: FunctionInfo, _ unit: Unit) -> [Edit] {
        guard let statements = function.statements, let first = statements.first, let error = function.parameters.last,
            !function.assignments.contains(where: { $0.value.is(NilLiteralExprSyntax.self) })
        else {
            return []
        }
        let offset = unit.range(first).lowerBound
        let column = function.file.place(first).position.column - 1
        let blanks = String(repeating: " ", count: column)
        let condition =
            "let ended = \(error) as? NFCReaderError, ended.code == .readerSessionInvalidationErrorUserCanceled"
        let text = "if \(condition) { return }\n\(blanks)"
        return [Edit(path: function.file.path, range: offset..<offset, replacement: text)]
    }
}
