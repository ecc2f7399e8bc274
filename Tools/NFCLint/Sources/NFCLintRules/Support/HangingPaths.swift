// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

/// Finds the paths through a target's callbacks that leave a session open without progress.
struct HangingPaths {
    struct End {
        var node: Syntax
        /// Whether the path changes the text of the sheet.
        var setsText: Bool
        /// Whether the path handles more than one tag.
        var isForSeveral: Bool
    }

    private(set) var ends: [(number: Int, end: End)] = []

    init(_ unit: Unit) {
        var seen: Set<Int> = []
        for delegate in unit.ownDelegates {
            let polled = Self.polled(unit.creations(for: delegate))
            for callback in delegate.tags {
                for number in unit.index.reach(callback, depth: 3) where seen.insert(number).inserted {
                    let function = unit.index.functions[number]
                    let isPart = number == callback || unit.calls([number], Names.commands.union(["connect"]))
                    guard isPart, unit.isOwn(function), let statements = function.statements, !statements.isEmpty else {
                        continue
                    }
                    let tags = number == callback ? function.parameters.last : nil
                    let isCallback = number == callback
                    for end in QuietPaths(tags: tags, polled: polled).ends(statements, withBody: isCallback) {
                        let several = tags.map { Self.isForSeveral(end.node, $0) } ?? false
                        ends.append((number, End(node: end.node, setsText: end.setsText, isForSeveral: several)))
                    }
                }
            }
        }
    }

    /// The cases of `NFCTag` that sessions can find; nil if unknown.
    static func polled(_ creations: [Sessions.Creation]) -> Set<String>? {
        let cases: [String: Set<String>] = [
            "iso14443": ["miFare", "iso7816"], "iso15693": ["iso15693"], "iso18092": ["feliCa"], "pace": ["iso7816"],
        ]
        var result: Set<String> = []
        for creation in creations where creation.kind == .tag {
            let options = Finder.all(DeclReferenceExprSyntax.self, in: creation.call.argument("pollingOption"))
                .map(\.baseName.text).filter { $0 != "NFCTagReaderSession" && $0 != "PollingOption" }
            guard !options.isEmpty else { return nil }
            for option in options {
                guard let found = cases[option] else { return nil }
                result.formUnion(found)
            }
        }
        return result.isEmpty ? nil : result
    }

    /// Whether a node is in the branch that handles more than one tag.
    private static func isForSeveral(_ node: Syntax, _ tags: String) -> Bool {
        var node: Syntax? = node
        while let step = node {
            let conditions = step.as(IfExprSyntax.self)?.conditions ?? step.as(GuardStmtSyntax.self)?.conditions
            if let text = conditions?.trimmedDescription, text.contains("\(tags).count") { return true }
            node = step.parent
        }
        return false
    }
}
