// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let singleBlockLoop = Rule(
        id: "SRC036",
        severity: .info,
        title: "A loop reads one block at a time",
        why: "Each command takes time in which the tag can leave. Several blocks in one command are read much faster.",
        fix: "Read several blocks with one command, and single blocks only if the tag refuses it.",
        bad: [
            .swift(
                """
                func read(_ tag: any NFCISO15693Tag) async throws -> Data {
                    var data = Data()
                    for number in 0..<UInt8(28) {
                        data += try await tag.readSingleBlock(requestFlags: .highDataRate, blockNumber: number)
                    }
                    return data
                }
                """
            ),
            .swift(
                """
                func read(_ tag: any NFCISO15693Tag) async throws {
                    var number: UInt8 = 0
                    while number < 28 {
                        _ = try await tag.readSingleBlock(requestFlags: .highDataRate, blockNumber: number)
                        number += 1
                    }
                }
                """
            ),
            .swift(
                """
                func read(_ tag: any NFCISO15693Tag) {
                    (0...27).forEach { index in
                        let number = UInt8(index)
                        readBlock(tag, number)
                    }
                }
                func readBlock(_ tag: any NFCISO15693Tag, _ number: UInt8) {
                    tag.readSingleBlock(requestFlags: .highDataRate, blockNumber: number) { _, _ in }
                }
                """
            ),
        ],
        good: [
            .swift(
                """
                func read(_ tag: any NFCISO15693Tag, _ pages: UInt8) async throws {
                    for page in 0..<pages {
                        _ = try await tag.readSingleBlock(requestFlags: .highDataRate, blockNumber: page * 4)
                    }
                }
                """
            ),
            // Single blocks where the tag refuses several.
            .swift(
                """
                func read(_ tag: any NFCISO15693Tag) async throws -> Data {
                    if let all = try? await tag.readMultipleBlocks(requestFlags: .highDataRate, blockRange: NSRange(0..<28)) {
                        return Data(all.joined())
                    }
                    var data = Data()
                    for number in 0..<UInt8(28) {
                        data += try await tag.readSingleBlock(requestFlags: .highDataRate, blockNumber: number)
                    }
                    return data
                }
                """
            ),
            // The same block again, and blocks that are not in a row.
            .swift(
                """
                func read(_ tag: any NFCISO15693Tag, _ block: UInt8) async throws {
                    for _ in 0..<3 { _ = try await tag.readSingleBlock(requestFlags: .highDataRate, blockNumber: block) }
                    for block in [1, 9] as [UInt8] {
                        _ = try await tag.readSingleBlock(requestFlags: .highDataRate, blockNumber: block)
                    }
                }
                """
            ),
        ],
        check: { unit, findings in
            let hasMultiple = unit.mentionsAnywhere([
                "readMultipleBlocks", "extendedReadMultipleBlocks", "fastReadMultipleBlocks",
            ])
            for (number, call) in unit.ownCalls(["readSingleBlock", "extendedReadSingleBlock"]) where !hasMultiple {
                guard let block = call.argument("blockNumber"), isCounted(block, number, unit) else { continue }
                let text = "A loop reads blocks one by one; readMultipleBlocks reads several with one command."
                findings.add(unit.place(call.node, number), text)
            }
        }
    )

    /// Whether a loop counts up the value of an expression, in its function or in one that passes it.
    private static func isCounted(_ value: ExprSyntax, _ number: Int, _ unit: Unit, depth: Int = 0) -> Bool {
        // Every fourth block, for example, is not in a row.
        guard !value.words.contains("*") else { return false }
        let function = unit.index.functions[number]
        var names = Set(Finder.all(DeclReferenceExprSyntax.self, in: value).map(\.baseName.text))
        // Constants that are computed from the number of the loop.
        for binding in Finder.all(PatternBindingSyntax.self, in: function.body).reversed()
        where names.contains(binding.pattern.trimmedDescription) {
            names.formUnion(
                Finder.all(DeclReferenceExprSyntax.self, in: binding.initializer).map(\.baseName.text)
            )
        }
        var node = value.parent
        while let step = node, step.id != function.node.id {
            if let loop = step.as(ForStmtSyntax.self), names.contains(loop.pattern.trimmedDescription) {
                return isRange(loop.sequence)
            }
            if step.is(WhileStmtSyntax.self) || step.is(RepeatStmtSyntax.self),
                Finder.all(InfixOperatorExprSyntax.self, in: step).contains(where: { sum in
                    sum.operator.trimmedDescription == "+=" && sum.rightOperand.words == "1"
                        && names.contains(sum.leftOperand.words)
                })
            {
                return true
            }
            if let closure = step.as(ClosureExprSyntax.self),
                let call = closure.parent?.as(FunctionCallExprSyntax.self),
                call.calledExpression.lastName == "forEach", let base = call.calledExpression.memberBase
            {
                let parameter = closure.signature?.parameterClause?.trimmedDescription ?? "$0"
                if names.contains(parameter) { return isRange(base) }
            }
            node = step.parent
        }
        guard depth < 2 else { return false }
        return function.parameters.enumerated().contains { position, name in
            names.contains(name)
                && unit.index.arguments(position, of: number).prefix(20).contains {
                    isCounted($0.value, $0.caller, unit, depth: depth + 1)
                }
        }
    }

    /// Whether a sequence has numbers in a row, such as `0..<count`.
    private static func isRange(_ sequence: ExprSyntax) -> Bool {
        let node = sequence.core
        if let call = node.as(FunctionCallExprSyntax.self), call.calledExpression.words == "stride" {
            return call.arguments.last?.expression.words == "1"
        }
        return ["..<", "..."].contains(node.as(InfixOperatorExprSyntax.self)?.operator.trimmedDescription)
    }
}
