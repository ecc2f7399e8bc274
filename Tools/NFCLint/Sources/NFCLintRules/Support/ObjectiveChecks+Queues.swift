// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// Checks when Objective-C code runs, and on which queue.
extension ObjectiveFacts {
    /// Where sessions begin in a method of a life cycle, itself or by another method, and not in a block.
    var unaskedBegins: [(method: Method, statement: Statement)] {
        let names: Set<String> = ["viewDidLoad", "viewWillAppear", "viewDidAppear", "awakeFromNib", "loadView", "init"]
        return code.methods.compactMap { method in
            let isStart =
                names.contains(method.name) || method.name.hasPrefix("initWith")
                || method.selector.contains("didFinishLaunchingWithOptions:")
            guard isStart else { return nil }
            let begin = method.statements.enumerated().first { number, statement in
                let called = code.methods.filter { statement.code.contains("[self \($0.name)]") }
                let begins =
                    statement.code.contains("beginSession]") || called.contains { $0.mentions("beginSession]") }
                return begins && !Self.isInBlock(number, method.statements) { $0.contains("^") }
            }
            return begin.map { (method, $0.element) }
        }
    }

    /// Where callbacks change the interface on a queue of the session's own.
    var interfaceChanges: [Statement] {
        guard !creations.isEmpty, creations.allSatisfy(\.hasOwnQueue) else { return [] }
        let marks = [".text =", "setText:", "reloadData]", "presentViewController:", "pushViewController:"]
        return (tagCallbacks + messageCallbacks + invalidations).compactMap { method in
            method.statements.enumerated().first { number, statement in
                let isChange = !Self.isLog(statement) && marks.contains { statement.code.contains($0) }
                return isChange && !Self.isInBlock(number, method.statements) { $0.contains("get_main_queue") }
            }?
            .element
        }
    }

    /// Where an error is compared by its sentence.
    var comparedSentences: [Statement] {
        code.methods.flatMap(\.statements).filter { statement in
            let words = statement.code.filter { $0 != " " && $0 != "]" }
            return words.contains("localizedDescriptionisEqualToString:@\"")
                || words.contains("localizedDescriptioncontainsString:@\"")
        }
    }

    /// Sessions that end after the first message, in a file that writes messages.
    var shortWriters: [Creation] {
        guard !writes.isEmpty, !tagCallbacks.isEmpty, creations.allSatisfy(\.endsAfterFirst) else { return [] }
        return creations
    }

    /// Whether a statement is in a block that some code opens.
    private static func isInBlock(_ number: Int, _ statements: [Statement], _ opens: (String) -> Bool) -> Bool {
        if opens(statements[number].code) { return true }
        var depth = statements[number].depth
        for statement in statements[..<number].reversed() where statement.depth < depth && statement.opensBlock {
            if opens(statement.code) { return true }
            depth = statement.depth
        }
        return false
    }
}
