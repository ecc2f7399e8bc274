// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let unhandledTags = Rule(
        id: "SRC013",
        severity: .info,
        title: "The case of more than one tag is not handled",
        why: "Two tags can be in the field at once, and their order is random.",
        fix: "If there is more than one tag, say so and restart polling.",
        bad: [
            .detecting(
                """
                guard let tag = tags.first else { return }
                session.connect(to: tag) { _ in session.invalidate() }
                """
            ),
            .objective(
                """
                - (void)tagReaderSession:(NFCTagReaderSession *)session didDetectTags:(NSArray<__kindof id<NFCTag>> *)tags {
                    if (tags.count > 0) { [self open:[tags firstObject]]; }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        for tag in tags {
                            if case .iso7816(let badge) = tag { found = badge; break }
                        }
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        print("\\(tags.count) badges")
                        logger.debug(tags)
                        guard let badge = tags.first else { return }
                        open(badge)
                    }
                }
                """
            ),
        ],
        good: [
            .detecting(
                """
                if tags.count > 1 { return session.restartPolling() }
                guard let tag = tags.first else { return }
                session.connect(to: tag) { _ in session.invalidate() }
                """
            ),
            .objective(
                """
                - (void)tagReaderSession:(NFCTagReaderSession *)session didDetectTags:(NSArray<__kindof id<NFCTag>> *)tags {
                    if (tags.count > 1) { [session restartPolling]; return; }
                    [self open:tags.firstObject];
                }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective {
                for statement in file.tagCallbacks.compactMap(file.firstTag) {
                    findings.add(
                        statement.place,
                        "The first tag is used, and the case of more than one is not handled."
                    )
                }
            }
            for number in unit.ownDelegates.flatMap(\.tags) {
                guard let name = unit.index.functions[number].parameters.last else { continue }
                let place = firstTag(name, number, unit)
                findings.add(place, "The first tag is used, and the case of more than one is not handled.")
            }
        }
    )

    /// Where a function uses the first of the tags in a parameter and ignores the others; nil if it does not.
    private static func firstTag(_ name: String, _ number: Int, _ unit: Unit, depth: Int = 0) -> Place? {
        let function = unit.index.functions[number]
        guard let body = function.body else { return nil }
        let uses = Finder.all(MemberAccessExprSyntax.self, in: body).filter {
            $0.base?.core.words == name && !isLogged($0)
        }
        let members = Set(uses.map(\.declName.baseName.text))
        let element = Finder.all(SubscriptCallExprSyntax.self, in: body).first {
            $0.calledExpression.core.words == name
        }
        let loops = Finder.all(ForStmtSyntax.self, in: body).filter { $0.sequence.trimmedDescription.contains(name) }
        guard loops.allSatisfy({ takesMatch($0) }),
            members.isDisjoint(with: ["count", "dropFirst", "forEach", "enumerated", "map", "filter", "compactMap"])
        else { return nil }
        let passes = function.calls.filter { call in
            !Names.isLog(call.node) && call.node.arguments.contains { $0.expression.core.words == name }
        }
        guard passes.isEmpty else {
            // Another function has all tags, and may ignore the others too.
            guard depth < 2, passes.count == 1, uses.isEmpty, element == nil, let call = passes.first,
                let target = unit.index.targets(of: call, in: function).first,
                let position = call.node.arguments.map(\.expression.core.words).firstIndex(of: name),
                position < unit.index.functions[target].parameters.count
            else { return nil }
            return firstTag(unit.index.functions[target].parameters[position], target, unit, depth: depth + 1)
        }
        let first = uses.first { $0.declName.baseName.text == "first" }
        return first.flatMap { unit.place($0, number) } ?? element.flatMap { unit.place($0, number) }
            ?? loops.first.flatMap { unit.place($0, number) }
    }

    /// Whether a loop ends at the first tag that fits.
    private static func takesMatch(_ loop: ForStmtSyntax) -> Bool {
        let list = Syntax(loop.body)
        let breaks = Finder.all(BreakStmtSyntax.self, in: list).filter { $0.enclosing(SwitchExprSyntax.self) == nil }
        let returns = Finder.all(ReturnStmtSyntax.self, in: list).filter { $0.expression == nil }
        return (breaks.map(Syntax.init) + returns.map(Syntax.init)).contains { node in
            node.receivers.count == loop.receivers.count
        }
    }

    /// Whether a node is only passed to a log.
    private static func isLogged(_ node: some SyntaxProtocol) -> Bool {
        var step: FunctionCallExprSyntax? = node.enclosing(FunctionCallExprSyntax.self)
        while let call = step {
            if Names.isLog(call) { return true }
            step = call.enclosing(FunctionCallExprSyntax.self)
        }
        return false
    }
}
