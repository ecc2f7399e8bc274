// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let failureAsSuccess = Rule(
        id: "SRC037",
        severity: .warning,
        title: "A failure is shown as a success",
        why: """
            invalidate() closes the sheet with a check mark, whatever its text says. People do not try again, and do \
            not notice that nothing was read or written.
            """,
        fix: "Call invalidate(errorMessage:) with the text, so that the sheet shows an error symbol.",
        bad: [
            callback("if let error { session.alertMessage = \"The badge moved.\"; session.invalidate(); return }"),
            callback(
                """
                if error != nil { session.alertMessage = "The badge moved." } else { session.alertMessage = "Done." }
                session.invalidate()
                """
            ),
            callback("do { try save() } catch { session.alertMessage = \"Not saved.\"; session.invalidate() }"),
            callback(
                """
                switch status {
                case .readWrite: write(tag)
                @unknown default: session.alertMessage = "This badge is not known."; session.invalidate()
                }
                """
            ),
            callback("if .notSupported == status { session.alertMessage = \"Not a badge.\"; session.invalidate() }"),
            callback(
                """
                var text = "Done."
                if nil != error || nil == message { text = "The badge moved." }
                session.alertMessage = text
                session.invalidate()
                """
            ),
            .objective(
                """
                - (void)open:(id<NFCNDEFTag>)tag {
                    [self.session connectToTag:tag completionHandler:^(NSError *error) {
                        if (error != nil) {
                            NSLog(@"%@", error);
                            self.session.alertMessage = @"The badge moved.";
                            [self.session invalidateSession];
                        }
                    }];
                }
                """
            ),
        ],
        good: [
            callback(
                """
                if error != nil { return session.invalidate(errorMessage: "The badge moved.") }
                session.alertMessage = "The door is open."
                session.invalidate()
                """
            ),
            callback("if error != nil { session.alertMessage = \"Hold it still.\"; session.restartPolling(); return }"),
            callback(
                "if error != nil { session.alertMessage = \"…\"; session.invalidate(errorMessage: \"It moved.\") }"
            ),
            callback("if status != .notSupported { session.alertMessage = \"Done.\"; session.invalidate() }"),
            callback(
                "if status == .notSupported { session.alertMessage = \"Read.\"; session.invalidate(); found(tags) }"
            ),
            // Ends early, with a success.
            callback("guard let door else { session.alertMessage = \"Done.\"; return session.invalidate() }"),
            .objective(
                """
                - (void)end:(NSError *)error {
                    if (error) { [self.session invalidateSessionWithErrorMessage:@"The badge moved."]; return; }
                    self.session.alertMessage = @"The door is open.";
                    [self.session invalidateSession];
                }
                """
            ),
        ],
        check: { unit, findings in
            let text = "The sheet shows a check mark, although this is a failure."
            for statement in unit.objective.flatMap(\.failuresAsSuccess) { findings.add(statement.place, text) }
            for (number, function) in unit.ownFunctions {
                for assignment in function.assignments where assignment.name == "alertMessage" {
                    guard let item = assignment.target.enclosing(CodeBlockItemSyntax.self),
                        let base = assignment.target.memberBase, let list = item.parent,
                        unit.sessions.isSession(base: base.words), ends(after: item, base.words)
                    else { continue }
                    // The text may also be in a variable that was set after a failure.
                    let set = function.assignments.contains { other in
                        other.target.words == assignment.value.words && other.target.position < item.position
                            && other.target.isWithin(list)
                            && other.target.enclosing(CodeBlockItemListSyntax.self).map { isFailure(Syntax($0)) }
                                == true
                    }
                    if set || isFailure(list) { findings.add(unit.place(assignment.target, number), text) }
                }
            }
        }
    )

    /// Whether statements run only if something failed.
    private static func isFailure(_ list: Syntax) -> Bool {
        guard let owner = (list.parent?.is(CodeBlockSyntax.self) == true ? list.parent?.parent : list.parent) else {
            return false
        }
        if owner.is(CatchClauseSyntax.self) { return true }
        if let branch = owner.as(IfExprSyntax.self) {
            let isElse = branch.elseBody?.as(CodeBlockSyntax.self)?.statements.id == list.id
            // A tag without a message may still be a result.
            guard !members(branch.conditions).contains("notSupported") || !delivers(list) else { return false }
            return branch.conditions.count == 1 && branch.conditions.contains { fails($0.condition, if: !isElse) }
        }
        if let check = owner.as(GuardStmtSyntax.self) {
            return check.conditions.contains { fails($0.condition, if: false) }
        }
        guard let label = owner.as(SwitchCaseSyntax.self)?.label, let choice = owner.enclosing(SwitchExprSyntax.self)
        else { return false }
        // Without a case for tags that can be written, other tags are not a failure.
        let isWriting = members(choice.cases).contains("readWrite")
        return !members(label).isDisjoint(with: ["failure", "notSupported"])
            || isWriting && (label.is(SwitchDefaultLabelSyntax.self) || members(label).contains("readOnly"))
    }

    /// Whether statements pass values to anything but a log, the session or a handler of errors.
    private static func delivers(_ list: Syntax) -> Bool {
        Finder.all(FunctionCallExprSyntax.self, in: list).contains { call in
            let name = call.calledExpression.lastName?.lowercased() ?? ""
            let isOther = ["invalidate", "error", "fail", "reject", "alert"].contains(where: name.contains)
            return !call.arguments.isEmpty && !Names.isLog(call) && !isOther
        }
    }

    /// Whether something failed if a condition has a value.
    private static func fails(_ condition: ConditionElementSyntax.Condition, if value: Bool) -> Bool {
        switch condition {
        case .expression(let node): return fails(node, if: value)
        case .optionalBinding(let node):
            return value
                && [node.pattern.trimmedDescription, node.initializer?.value.lastName].contains(where: isError)
        case .matchingPattern(let node): return value && members(node.pattern).contains("failure")
        default: return false
        }
    }

    private static func fails(_ expression: ExprSyntax, if value: Bool) -> Bool {
        if let node = expression.core.as(PrefixOperatorExprSyntax.self), node.operator.text == "!" {
            return fails(node.expression, if: !value)
        }
        guard let node = expression.core.as(InfixOperatorExprSyntax.self) else { return false }
        let sides = [node.leftOperand, node.rightOperand]
        let sign = node.operator.trimmedDescription
        if sign == "&&" || sign == "||" { return sides.contains { fails($0, if: value) } }
        guard sign == "==" || sign == "!=" else { return false }
        let isEqual = value == (sign == "==")
        if sides.contains(where: { $0.is(NilLiteralExprSyntax.self) }) {
            return !isEqual && sides.map(\.lastName).contains(where: isError)
        }
        return sides.map(\.lastName).contains(isEqual ? "notSupported" : "readWrite")
    }

    private static func isError(_ name: String?) -> Bool { name?.lowercased().hasSuffix("error") == true }

    /// The names of the enum cases and other members in a node.
    private static func members(_ node: some SyntaxProtocol) -> Set<String> {
        Set(Finder.all(MemberAccessExprSyntax.self, in: node).map(\.declName.baseName.text))
    }

    /// Whether the next end of the session, in the same statements or after their `if`, has no error message.
    private static func ends(after item: CodeBlockItemSyntax, _ session: String) -> Bool {
        var item = item
        for _ in 0..<2 {
            guard let list = item.parent?.as(CodeBlockItemListSyntax.self) else { return false }
            for next in list where next.position > item.position {
                let statement = next.item.as(ReturnStmtSyntax.self)?.expression ?? next.item.as(ExprSyntax.self)
                let call = statement?.core.as(FunctionCallExprSyntax.self)
                if let call, call.calledExpression.lastName == "invalidate",
                    call.calledExpression.memberBase?.words == session
                {
                    return call.arguments.isEmpty
                }
                if next.item.is(StmtSyntax.self), !next.item.is(ExpressionStmtSyntax.self) { return false }
                if let call, !Names.isLog(call) { return false }
            }
            guard let outer = list.enclosing(CodeBlockItemSyntax.self), list.enclosing(IfExprSyntax.self) != nil,
                list.parent?.parent?.is(IfExprSyntax.self) == true
            else { return false }
            item = outer
        }
        return false
    }

    /// A reader whose callback of `connect` has these statements.
    private static func callback(_ statements: String) -> Example {
        .swift(
            """
            class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    session.connect(to: tags[0]) { error in
                        \(statements.replacing("\n", with: "\n            "))
                    }
                }
            }
            """
        )
    }
}

extension ObjectiveFacts {
    /// The statements that set the sheet's text after an error, and end the session without an error message.
    fileprivate var failuresAsSuccess: [Statement] {
        code.methods.flatMap { method -> [Statement] in
            let statements = method.statements.filter { !Self.isLog($0) }
            return zip(statements, statements.dropFirst()).enumerated().compactMap { number, pair -> Statement? in
                guard Self.setsText(pair.0), pair.0.depth == pair.1.depth, pair.1.code.contains("invalidateSession]"),
                    let block = statements[..<number].last(where: { $0.depth < pair.0.depth })
                else { return nil }
                let condition = block.code.filter { !$0.isWhitespace }
                let isFailure = [
                    "if(error)", "if(error!=nil)", "if(nil!=error)", "==NFCNDEFStatusNotSupported",
                    "NFCNDEFStatusNotSupported==",
                ].contains { condition.contains($0) }
                return block.opensBlock && isFailure ? pair.0 : nil
            }
        }
    }
}
