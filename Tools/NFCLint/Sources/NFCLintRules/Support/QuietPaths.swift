// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

/// Finds paths through code for a tag that end without any call, except for logging.
///
/// The completion handler of each command is a separate path, because it runs when the command is done.
struct QuietPaths {
    /// The end of a path.
    struct End {
        var node: Syntax
        var setsText: Bool
    }

    /// The name of the variable with the list of tags.
    let tags: String?
    /// The cases of `NFCTag` that the session can find; nil if unknown.
    var polled: Set<String>?

    /// The ends of quiet paths in statements and in the completion handlers that they contain, at most one for each.
    ///
    /// - Parameter withBody: whether to include the statements themselves, not only the handlers in them.
    func ends(_ statements: CodeBlockItemListSyntax, withBody: Bool) -> [End] {
        var result: [End] = []
        var state = State()
        if withBody { follow(statements, &state) } else { state.isOpen = false }
        if state.isOpen, state.ends.isEmpty, let last = statements.last, !statements.isEmpty {
            state.ends.append(End(node: Syntax(last), setsText: state.setsText))
        }
        if let first = state.ends.first { result.append(first) }
        for closure in Finder.all(ClosureExprSyntax.self, in: Syntax(statements))
        where Self.isHandler(closure) && !Self.continuesWithoutWaiting(closure) {
            var inner = State()
            follow(closure.statements, &inner)
            if inner.isOpen, inner.ends.isEmpty {
                inner.ends.append(
                    End(node: closure.statements.last.map(Syntax.init) ?? Syntax(closure), setsText: inner.setsText)
                )
            }
            if let first = inner.ends.first { result.append(first) }
        }
        return result
    }

    private struct State {
        /// Whether the path continues without a call so far.
        var isOpen = true
        var setsText = false
        var ends: [End] = []
    }

    /// Whether a closure is the completion handler of a command, or a task that awaits a command.
    private static func isHandler(_ closure: ClosureExprSyntax) -> Bool {
        var parent = closure.parent
        while let step = parent, !step.is(FunctionCallExprSyntax.self) {
            if step.is(CodeBlockItemSyntax.self) { return false }
            parent = step.parent
        }
        guard let called = parent?.as(FunctionCallExprSyntax.self)?.calledExpression else { return false }
        let name = called.lastName ?? ""
        if ["Task", "Task.detached"].contains(called.trimmedDescription) {
            return Finder.all(AwaitExprSyntax.self, in: Syntax(closure)).contains { wait in
                wait.expression.as(FunctionCallExprSyntax.self).map { isCommand($0.calledExpression.lastName) } ?? false
            }
        }
        return isCommand(name)
    }

    private static func isCommand(_ name: String?) -> Bool {
        guard let name else { return false }
        return Names.commands.contains(name) || name == "connect" || name == "sendCommand"
    }

    private func follow(_ statements: CodeBlockItemListSyntax, _ state: inout State) {
        for statement in statements {
            guard state.isOpen else { return }
            follow(statement, &state)
        }
    }

    private func follow(_ statement: CodeBlockItemSyntax, _ state: inout State) {
        let item = Syntax(statement.item)
        if let node = item.as(ReturnStmtSyntax.self) {
            if let value = node.expression, Self.acts(value) { state.isOpen = false; return }
            state.ends.append(End(node: Syntax(node), setsText: state.setsText))
            state.isOpen = false
        } else if item.is(FallThroughStmtSyntax.self) {
            state.isOpen = false
        } else if item.is(ThrowStmtSyntax.self) || item.is(BreakStmtSyntax.self) || item.is(ContinueStmtSyntax.self) {
            state.isOpen = item.is(BreakStmtSyntax.self)
        } else if let node = item.as(GuardStmtSyntax.self) {
            guard !isHarmless(node.conditions) else { return }
            var inner = state
            follow(node.body.statements, &inner)
            state.ends = inner.ends
        } else if let node = Self.expression(item, IfExprSyntax.self) {
            follow(node, &state)
        } else if let node = Self.expression(item, SwitchExprSyntax.self) {
            follow(node, &state)
        } else if let node = item.as(DoStmtSyntax.self) {
            let entry = state
            follow(node.body.statements, &state)
            for clause in node.catchClauses {
                var inner = entry
                inner.ends = state.ends
                follow(clause.body.statements, &inner)
                if inner.isOpen, inner.ends.count == state.ends.count, !state.isOpen {
                    inner.ends.append(End(node: Syntax(clause), setsText: inner.setsText))
                }
                state.ends = inner.ends
            }
        } else if item.is(ForStmtSyntax.self) || item.is(WhileStmtSyntax.self) || item.is(RepeatStmtSyntax.self) {
            if Finder.all(FunctionCallExprSyntax.self, in: item).contains(where: { !Self.isQuiet($0) }) {
                state.isOpen = false
            }
        } else if item.is(DeferStmtSyntax.self) {
            if Finder.all(FunctionCallExprSyntax.self, in: item).contains(where: { !Self.isQuiet($0) }) {
                state.isOpen = false
            }
        } else if item.is(VariableDeclSyntax.self) {
            // The path may continue in the closure.
            if !Finder.all(ClosureExprSyntax.self, in: item).isEmpty { state.isOpen = false }
        } else if let assignment = Self.expression(item, InfixOperatorExprSyntax.self),
            assignment.operator.is(AssignmentExprSyntax.self)
        {
            if assignment.leftOperand.lastName == "alertMessage" { state.setsText = true }
            // The path may continue in the closure, such as the subscription to a publisher.
            if !Finder.all(ClosureExprSyntax.self, in: assignment.rightOperand).isEmpty { state.isOpen = false }
            if !assignment.leftOperand.is(DiscardAssignmentExprSyntax.self) { return }
            if Self.acts(assignment.rightOperand) { state.isOpen = false }
        } else if Self.acts(item) {
            state.isOpen = false
        }
    }

    private func follow(_ node: IfExprSyntax, _ state: inout State) {
        let entry = state
        let isHarmless = isHarmless(node.conditions)
        // Decides which branch of a harmless condition has nothing to report.
        let text = node.conditions.trimmedDescription
        let isForNone = ["isEmpty", "== 0", "< 1", "== nil"].contains { text.contains($0) } && !text.hasPrefix("!")
        var then = entry
        follow(node.body.statements, &then)
        var other = entry
        switch node.elseBody {
        case .ifExpr(let next): follow(next, &other)
        case .codeBlock(let block): follow(block.statements, &other)
        case nil: break
        }
        if isHarmless, isForNone { then = State(isOpen: false, ends: entry.ends) }
        if isHarmless, !isForNone { other = State(isOpen: false, ends: entry.ends) }
        state.isOpen = then.isOpen || other.isOpen
        state.setsText = then.setsText && other.setsText
        state.ends += then.ends.dropFirst(entry.ends.count) + other.ends.dropFirst(entry.ends.count)
    }

    private func follow(_ node: SwitchExprSyntax, _ state: inout State) {
        let entry = state
        var isOpen = false
        let cases = node.cases.compactMap { element -> SwitchCaseSyntax? in
            guard case .switchCase(let item) = element else { return nil }
            return item
        }
        let handled = cases.reduce(into: Set<String>()) { $0.formUnion(Self.technologies(Syntax($1.label))) }
        for item in cases {
            // No tag of a technology that is not polled is found.
            let own = Self.technologies(Syntax(item.label))
            if let polled, !handled.isEmpty, own.isEmpty ? polled.isSubset(of: handled) : own.isDisjoint(with: polled) {
                continue
            }
            var inner = entry
            follow(item.statements, &inner)
            // Ignore `@unknown default`, which is for future versions of iOS.
            let isUnknown = item.attribute != nil
            if !isUnknown { isOpen = isOpen || inner.isOpen }
            state.ends += isUnknown ? [] : Array(inner.ends.dropFirst(entry.ends.count))
        }
        state.isOpen = isOpen
    }

    /// The cases of `NFCTag` that a pattern names.
    private static func technologies(_ node: Syntax?) -> Set<String> {
        let all: Set<String> = ["miFare", "iso7816", "iso15693", "feliCa"]
        return all.intersection(Finder.all(DeclReferenceExprSyntax.self, in: node).map(\.baseName.text))
    }

    /// Whether a condition fails only if there is nothing to report, because no tag or no object exists.
    private func isHarmless(_ conditions: ConditionElementListSyntax) -> Bool {
        let text = conditions.trimmedDescription
        let pattern = conditions.first?.condition.as(MatchingPatternConditionSyntax.self)
        if let polled, let pattern, conditions.count == 1, polled == Self.technologies(Syntax(pattern.pattern)) {
            return true
        }
        if text.contains("self") && conditions.contains(where: { $0.condition.is(OptionalBindingConditionSyntax.self) })
        {
            let names = conditions.compactMap {
                $0.condition.as(OptionalBindingConditionSyntax.self)?.pattern.trimmedDescription
            }
            if names.contains("self") || names.contains("strongSelf") || names.contains("`self`") { return true }
        }
        let asksForOne = [".count == 1", ".count < 2", ".count > 1", ".count <= 1"].contains {
            text.contains("\(tags ?? "tags")\($0)")
        }
        if let tags, !asksForOne {
            for sign in [".first", ".isEmpty", ".last", ".count == 0", ".count > 0", ".count < 1", ".count >= 1"]
            where text.contains(tags + sign) {
                return true
            }
        }
        return text.contains("#available") || text.lowercased().hasSuffix("session") || text.contains("let session")
    }

    private static func expression<Node: ExprSyntaxProtocol>(_ item: Syntax, _ type: Node.Type) -> Node? {
        item.as(Node.self) ?? item.as(ExpressionStmtSyntax.self)?.expression.as(Node.self)
    }

    private static func isQuiet(_ call: FunctionCallExprSyntax) -> Bool {
        Names.isLog(call)
    }

    private static let dispatching: Set<String> = ["async", "asyncAfter", "sync"]
    private static let times: Set<String> = ["now", "global", "milliseconds", "seconds", "microseconds", "nanoseconds"]

    /// Whether a call dispatches an empty closure, or is an argument of a dispatch call.
    private static func isEmptyDispatch(_ call: FunctionCallExprSyntax, _ name: String) -> Bool {
        if dispatching.contains(name) {
            let closures =
                [call.trailingClosure].compactMap { $0 }
                + call.arguments.compactMap { $0.expression.as(ClosureExprSyntax.self) }
            return !closures.isEmpty && closures.allSatisfy(\.statements.isEmpty)
        }
        guard times.contains(name), let around = call.enclosing(FunctionCallExprSyntax.self) else { return false }
        return dispatching.contains(around.calledExpression.lastName ?? "")
    }

    /// Whether the statements after a call of `connect` run without waiting for its completion.
    private static func continuesWithoutWaiting(_ closure: ClosureExprSyntax) -> Bool {
        guard let call = closure.enclosing(FunctionCallExprSyntax.self), call.calledExpression.lastName == "connect",
            let item = call.enclosing(CodeBlockItemSyntax.self),
            let list = item.parent?.as(CodeBlockItemListSyntax.self),
            let position = list.firstIndex(where: { $0.id == item.id })
        else { return false }
        return list[list.index(after: position)...].contains { acts($0) }
    }

    /// Whether a statement calls anything except a log. An awaited command does not count.
    private static func acts(_ node: some SyntaxProtocol) -> Bool {
        Finder.all(FunctionCallExprSyntax.self, in: Syntax(node)).contains { call in
            let name = call.calledExpression.lastName ?? ""
            // A loop itself does not count, but the calls in its closure do.
            let isLoop = ["forEach", "enumerated", "map", "compactMap"].contains(name)
            guard !isLoop, !Names.isLog(call), !isEmptyDispatch(call, name) else { return false }
            let isAwaited = call.parent?.is(AwaitExprSyntax.self) == true
            return !(isAwaited && isCommand(name))
        }
    }
}
