// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    /// The code does not handle more than one tag.
    static let unhandledTags = Rule(
        id: "SRC013",
        severity: .info,
        title: "The case of more than one tag is not handled",
        why: "Two tags can be in the field at once, and their order is random.",
        fix: "If there is more than one tag, say so and restart polling.",
        bad: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        guard let tag = tags.first else { return }
                        session.connect(to: tag) { _ in session.invalidate() }
                    }
                }
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
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        if tags.count > 1 { return session.restartPolling() }
                        guard let tag = tags.first else { return }
                        session.connect(to: tag) { _ in session.invalidate() }
                    }
                }
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
            for delegate in unit.ownDelegates {
                for number in delegate.tags {
                    let function = unit.index.functions[number]
                    guard let name = function.parameters.last, let body = function.body else { continue }
                    let uses = Finder.all(MemberAccessExprSyntax.self, in: body).filter {
                        $0.base?.core.words == name && !isLogged($0)
                    }
                    let members = Set(uses.map(\.declName.baseName.text))
                    let element = Finder.all(SubscriptCallExprSyntax.self, in: body).first {
                        $0.calledExpression.core.words == name
                    }
                    let passes = function.calls.contains { call in
                        !Names.isLog(call.node) && call.node.arguments.contains { $0.expression.core.words == name }
                    }
                    let loops = Finder.all(ForStmtSyntax.self, in: body).filter {
                        $0.sequence.trimmedDescription.contains(name)
                    }
                    let hasMatch = loops.allSatisfy { takesMatch($0) }
                    guard hasMatch, !passes,
                        members.isDisjoint(with: [
                            "count", "dropFirst", "forEach", "enumerated", "map", "filter", "compactMap",
                        ])
                    else { continue }
                    let first =
                        uses.first { $0.declName.baseName.text == "first" }.map { unit.place($0, number) }
                        ?? element.map { unit.place($0, number) } ?? loops.first.map { unit.place($0, number) }
                    findings.add(first ?? nil, "The first tag is used, and the case of more than one is not handled.")
                }
            }
        }
    )

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
