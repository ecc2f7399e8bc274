// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// Checks in which situations and on which queue Objective-C code runs.
extension ObjectiveFacts {
    /// The statements that begin a session in a lifecycle method, directly or through another method, outside blocks.
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

    /// The statements in callbacks that change the user interface on the session's own queue.
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

    /// The statements that compare the text of an error.
    var comparedSentences: [Statement] {
        code.methods.flatMap(\.statements).filter { statement in
            let words = statement.code.filter { $0 != " " && $0 != "]" }
            return words.contains("localizedDescriptionisEqualToString:@\"")
                || words.contains("localizedDescriptioncontainsString:@\"")
        }
    }

    /// The sessions that end after the first message, if the file writes messages.
    var shortWriters: [Creation] {
        guard !writes.isEmpty, !tagCallbacks.isEmpty, creations.allSatisfy(\.endsAfterFirst) else { return [] }
        return creations
    }

    /// Whether a statement is in a block that matching code opens.
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
