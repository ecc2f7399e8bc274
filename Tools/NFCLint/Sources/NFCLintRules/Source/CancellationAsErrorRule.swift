// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let cancellationAsError = Rule(
        id: "SRC004",
        severity: .warning,
        title: "Cancelling is shown as an error",
        why: """
            Every session ends with didInvalidateWithError, also when the user cancels (200) and after the first \
            message (204). These are not errors to show.
            """,
        fix: """
            Return early for readerSessionInvalidationErrorUserCanceled. If the session ends after the first message, \
            return early for readerSessionInvalidationErrorFirstNDEFTagRead too.
            """,
        bad: [
            .ending(
                """
                self.session = nil
                showAlert(error.localizedDescription)
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    var onFailure: ((any Error) -> Void)?
                    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        self.session = nil
                        onFailure?(error)
                    }
                }
                class Screen: UIViewController {
                    let reader = Reader()
                    func load() { reader.onFailure = { error in self.showAlert(error.localizedDescription) } }
                }
                """
            ),
            .swift(
                """
                class Plugin: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    var completion: ((String?, String?) -> Void)?
                    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        self.session = nil
                        completion?(nil, error.localizedDescription)
                    }
                }
                """
            ),
            .objective(
                """
                - (void)readerSession:(NFCNDEFReaderSession *)session didInvalidateWithError:(NSError *)error {
                    [self.delegate scanFailed:error.localizedDescription];
                }
                """
            ),
            .swift(
                """
                class Screen: UIViewController, NFCNDEFReaderSessionDelegate {
                    @IBOutlet var log: UITextView!
                    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        DispatchQueue.main.async { self.log.text! += error.localizedDescription }
                    }
                }
                """
            ),
        ],
        good: [
            .delegate(
                """
                func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                    self.session = nil
                    if error.localizedDescription == "Session invalidated by user" { return }
                    showAlert(error.localizedDescription)
                }
                """
            ),
            .swift(
                """
                class Plugin: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    var completion: ((String?, (any Error)?) -> Void)?
                    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        self.session = nil
                        completion?(nil, error)
                    }
                }
                """
            ),
            .ending(
                """
                self.session = nil
                if let error = error as? NFCReaderError, error.code == .readerSessionInvalidationErrorUserCanceled { return }
                showAlert(error.localizedDescription)
                """
            ),
            .ending("self.session = nil"),
            .objective(
                """
                - (void)readerSession:(NFCNDEFReaderSession *)session didInvalidateWithError:(NSError *)error {
                    if (error.code == NFCReaderSessionInvalidationErrorUserCanceled) { return; }
                    [self.delegate scanFailed:error.localizedDescription];
                }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective {
                for statement in file.invalidations.compactMap(file.shownError) {
                    findings.add(statement.place, "An error is shown even if the user cancels.")
                }
            }
            for delegate in unit.ownDelegates {
                let endsAfterFirst = unit.creations(for: delegate).contains { creation in
                    creation.call.argument("invalidateAfterFirstRead")?.words == "true"
                }
                for number in delegate.invalidation {
                    let function = unit.index.functions[number]
                    let reached = unit.index.reach(number, depth: 3)
                    let own = shows(number, reached, unit)
                    guard let shown = own ?? passes(number, unit) else { continue }
                    let text = reached.compactMap { unit.index.functions[$0].body?.trimmedDescription }.joined()
                    let checks200 = checks(text, ["UserCanceled", "userCanceled", "userCancelled"], number: "200")
                    let checks204 = checks(text, ["FirstNDEFTagRead", "firstNDEFTagRead"], number: "204")
                    if !checks200 {
                        // The fix skips only code that shows the error, because a caller may wait for the other code.
                        let edits = own.map { fix($0, function, unit) } ?? []
                        findings.add(
                            unit.place(shown, number),
                            "An error is shown even if the user cancels.",
                            edits: edits
                        )
                    } else if endsAfterFirst, !delegate.messages.isEmpty, function.name == "readerSession", !checks204 {
                        findings.add(
                            unit.place(shown, number),
                            "An error is shown even after the first message, which ends the session (204)."
                        )
                    }
                }
            }
        }
    )
    private static func checks(_ text: String, _ names: [String], number: String) -> Bool {
        // A comparison with the error's text counts as a check, although it is a mistake (SRC029).
        let isSentence = number == "200" && text.contains("invalidated by user")
        return isSentence || names.contains(where: text.contains) || text.contains("== \(number)")
            || text.contains("case \(number)")
            || text.contains("!= \(number)")
    }

    private static let showing = [
        "alert", "toast", "showerror", "showmessage", "presenterror", "displayerror", "showfail", "banner", "snackbar",
        "hud",
    ]

    /// The node in which a function shows an error to the user; nil if there is none.
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
                if shows || setsLabelText(target, unit) { return Syntax(call.node) }
            }
        }
        for assignment in function.assignments {
            let name = (assignment.name ?? "").lowercased()
            let isText =
                ["error", "alert", "message", "status", "text"].contains(where: name.contains) && name != "alertmessage"
            if isText, mentionsError(assignment.value, function) { return Syntax(assignment.target) }
        }
        // `+=` is not in the list of assignments, so search for it.
        return Finder.all(InfixOperatorExprSyntax.self, in: function.body).first { node in
            let isLabel = ["text", "attributedText"].contains(node.leftOperand.lastName ?? "")
            return isLabel && node.operator.trimmedDescription == "+=" && mentionsError(node.rightOperand, function)
        }
        .map(Syntax.init)
    }

    /// The call that passes an error to a closure that shows it, or the error's text to unknown code.
    private static func passes(_ number: Int, _ unit: Unit) -> Syntax? {
        let function = unit.index.functions[number]
        let paths = ErrorPaths(unit)
        let family = unit.index.family(function.owner)
        let name = function.parameters.last ?? "error"
        for call in function.calls where !isLog(call) {
            guard let mention = ErrorPaths.mention(of: name, in: call.node.arguments) else { continue }
            let isPlain = call.base == nil || call.base == "self"
            if isPlain, let closures = paths.closures(named: call.name, in: family) {
                if closures.contains(where: { shows($0.closure, $0.function, unit) }) { return Syntax(call.node) }
                if closures.isEmpty, mention == .sentence { return Syntax(call.node) }
            } else if mention == .sentence, isReceiver(call),
                unit.index.targets(of: call, in: function).isEmpty
            {
                return Syntax(call.node)
            }
        }
        return nil
    }

    private static func isLog(_ call: CallInfo) -> Bool {
        let words = ["log", "print", "track", "record", "report", "capture", "trace"]
        let name = "\(call.base ?? "").\(call.name)".lowercased()
        return Names.isQuiet(call.name) || words.contains { name.contains($0) }
    }

    /// Whether a call passes the result to a waiting caller.
    private static func isReceiver(_ call: CallInfo) -> Bool {
        let name = call.name.lowercased()
        let isNamed = ["fail", "error", "complet", "handler", "callback", "reject"].contains { name.contains($0) }
        return isNamed || call.base?.lowercased().hasSuffix("delegate") == true
    }

    /// Whether a closure shows its error without checking for a cancelled scan.
    private static func shows(_ closure: ClosureExprSyntax, _ number: Int, _ unit: Unit) -> Bool {
        let text = closure.trimmedDescription
        guard !checks(text, ["UserCanceled", "userCanceled", "userCancelled"], number: "200") else { return false }
        let function = unit.index.functions[number]
        return function.calls.contains { call in
            call.node.isWithin(closure) && showing.contains { call.name.lowercased().contains($0) }
        }
            || function.assignments.contains { assignment in
                guard assignment.target.isWithin(closure), let name = assignment.name?.lowercased() else {
                    return false
                }
                return ["error", "alert", "message", "status", "text"].contains(where: name.contains)
            }
    }

    /// Whether a function, or a function that it calls, sets the text of a label.
    private static func setsLabelText(_ number: Int, _ unit: Unit) -> Bool {
        unit.index.reach(number, depth: 1).contains { number in
            unit.index.functions[number].assignments.contains { assignment in
                ["text", "attributedText"].contains(assignment.name ?? "") && assignment.target.memberBase != nil
            }
        }
    }

    private static func passesError(_ call: CallInfo, _ function: FunctionInfo) -> Bool {
        call.node.arguments.contains { mentionsError($0.expression, function) }
    }

    private static func mentionsError(_ node: some SyntaxProtocol, _ function: FunctionInfo) -> Bool {
        let name = function.parameters.last ?? "error"
        return Finder.all(DeclReferenceExprSyntax.self, in: Syntax(node)).contains { $0.baseName.text == name }
    }

    /// Inserts a return before the statement that shows the error, if it is the last to run and changes nothing else.
    private static func fix(_ shown: Syntax, _ function: FunctionInfo, _ unit: Unit) -> [Edit] {
        guard let item = shown.enclosing(CodeBlockItemSyntax.self), let error = function.parameters.last,
            isLast(item, in: function), shown.is(FunctionCallExprSyntax.self) || isErrorText(shown),
            !changesState(shown, function, unit),
            !Finder.all(AssignmentExprSyntax.self, in: item).contains(where: { !isTarget(shown, of: $0) })
        else {
            return []
        }
        let offset = unit.range(item).lowerBound
        let column = function.file.place(item).position.column - 1
        let blanks = String(repeating: " ", count: column)
        let condition =
            "let ended = \(error) as? NFCReaderError, ended.code == .readerSessionInvalidationErrorUserCanceled"
        let text = "if \(condition) { return }\n\(blanks)"
        return [Edit(path: function.file.path, range: offset..<offset, replacement: text)]
    }

    /// Whether nothing runs after a statement in its closure, or in the function.
    private static func isLast(_ item: CodeBlockItemSyntax, in function: FunctionInfo) -> Bool {
        var step: CodeBlockItemSyntax? = item
        while let current = step, let list = current.parent?.as(CodeBlockItemListSyntax.self) {
            guard list.last?.id == current.id else { return false }
            if list.parent?.is(ClosureExprSyntax.self) == true || list.id == function.statements?.id { return true }
            step = current.enclosing(CodeBlockItemSyntax.self)
        }
        return false
    }

    /// Whether a call runs a function of the module that sets a property.
    private static func changesState(_ node: Syntax, _ function: FunctionInfo, _ unit: Unit) -> Bool {
        guard let call = function.calls.first(where: { Syntax($0.node).id == node.id }) else { return false }
        let properties = unit.index.family(function.owner).compactMap { unit.index.types[$0] }.flatMap(\.properties)
        return unit.index.targets(of: call, in: function).flatMap { unit.index.reach($0, depth: 2) }.contains {
            number in
            unit.index.functions[number].assignments.contains { set in properties.contains { $0.name == set.name } }
        }
    }

    /// Whether a node is the name of an error's text. A state, such as `status`, must change on cancelling too.
    private static func isErrorText(_ node: Syntax) -> Bool {
        let name = node.as(ExprSyntax.self)?.lastName?.lowercased() ?? ""
        return name.contains("error") || name.contains("alert")
    }

    private static func isTarget(_ node: Syntax, of assignment: AssignmentExprSyntax) -> Bool {
        assignment.parent?.as(InfixOperatorExprSyntax.self).map { Syntax($0.leftOperand).id == node.id } ?? false
    }
}
