// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// Queries about Objective-C code that several rules share.
extension ObjectiveFacts {
    typealias Method = ObjectiveCode.Method
    typealias Statement = ObjectiveCode.Statement

    // MARK: Callbacks

    /// The `didInvalidateWithError` callbacks.
    var invalidations: [Method] { code.methods.filter { $0.selector.hasSuffix("didInvalidateWithError:") } }

    /// The `didDetectTags` callbacks.
    var tagCallbacks: [Method] {
        code.methods.filter { $0.selector.hasSuffix("eaderSession:didDetectTags:") && !$0.statements.isEmpty }
    }

    /// The `didDetectNDEFs` callbacks.
    var messageCallbacks: [Method] { code.methods.filter { $0.selector.hasSuffix("didDetectNDEFs:") } }

    /// Whether a statement only writes a log.
    static func isLog(_ statement: Statement) -> Bool {
        ["NSLog(", "RCTLog", "DDLog", "os_log", "printf("].contains { statement.code.contains($0) }
    }

    /// Whether a statement sets the sheet's text.
    static func setsText(_ statement: Statement) -> Bool {
        statement.code.contains("alertMessage =") || statement.code.contains("setAlertMessage:")
    }

    // MARK: Sessions

    /// The sessions that are created without checking `readingAvailable` in the same method or its callers.
    var uncheckedCreations: [Creation] {
        creations.filter { creation in
            let method = code.methods[creation.method]
            let connected = code.reach(method) + code.callers(of: method)
            return !connected.contains { $0.mentions("readingAvailable") }
        }
    }

    /// The callbacks that don't release a stored session, with the name of its variable.
    var keptSessions: [(method: Method, name: String)] {
        var seen: Set<String> = []
        var result: [(Method, String)] = []
        for creation in creations {
            guard let name = creation.stored, seen.insert(name).inserted else { continue }
            let isTag = creation.kind == "NFCTagReaderSession"
            let callback =
                invalidations.first { $0.selector.hasPrefix("tagReader") == isTag } ?? invalidations.first
            guard let callback, !code.reach(callback).contains(where: { sets(name, $0) }) else { continue }
            result.append((callback, name))
        }
        return result
    }

    /// Whether a method assigns nil or a new session to a property.
    private func sets(_ name: String, _ method: Method) -> Bool {
        method.statements.contains { statement in
            let words = statement.code.split(separator: "=", maxSplits: 1)
            let target = words.first?.split { !($0.isLetter || $0.isNumber || $0 == "_") }.last.map(String.init)
            let isAssigned = words.count == 2 && target.map { $0 == name || $0 == "_\(name)" } == true
            let setter = "set\(name.prefix(1).uppercased())\(name.dropFirst()):"
            return isAssigned || statement.code.contains(setter)
        }
    }

    /// The statements that begin a session for which no text is set.
    var silentBegins: [Statement] {
        let begun = code.methods.filter { $0.mentions("beginSession]") }.filter { method in
            let near =
                [method] + code.callers(of: method)
                + code.methods.filter { other in
                    creations.contains { code.methods[$0.method].selector == other.selector }
                }
            let active = code.methods.filter { $0.selector.hasSuffix("SessionDidBecomeActive:") }
            return !(near + active).contains { $0.statements.contains(where: Self.setsText) }
        }
        return begun.flatMap(\.statements).filter { $0.code.contains("beginSession]") }
    }

    // MARK: Errors

    /// The statement that shows an error, or passes its text on, without checking for a cancelled scan.
    func shownError(_ method: Method) -> Statement? {
        let reached = code.reach(method)
        let cancel = ["UserCanceled", "== 200", "!= 200"]
        guard
            !reached.contains(where: { method in
                method.statements.contains { statement in
                    cancel.contains { statement.code.contains($0) }
                }
            })
        else { return nil }
        let words = ["UIAlert", "presentViewController:", "showAlert", "showError", "Toast", "HUD"]
        return method.statements.first { statement in
            guard !Self.isLog(statement) else { return false }
            if words.contains(where: { statement.code.contains($0) }) { return true }
            let passes = statement.code.contains("localizedDescription") && statement.code.contains("[")
            let hasCode = statement.code.contains("rror.code") || statement.code.contains("rror code]")
            let isWhole = [", error)", ", error]", ":error]"].contains { statement.code.contains($0) }
            return passes && !hasCode && !isWhole
        }
    }

    /// The statement that ends a session again in its end callback, directly or through another method.
    func endsAgain(_ method: Method) -> Statement? {
        method.statements.first { statement in
            if statement.code.contains("invalidateSession") { return true }
            let called = code.methods.filter { method in
                let parts = method.selector.split(separator: ":").dropFirst()
                let hasParts = parts.allSatisfy { statement.code.contains(" \($0):") }
                let count = statement.code.count { $0 == ":" }
                return statement.code.contains("[self \(method.name)") && hasParts && count >= parts.count
            }
            return called.contains { $0.mentions("invalidateSession") }
        }
    }

    // MARK: Tags

    /// The statement that uses the first tag and ignores the others.
    func firstTag(_ method: Method) -> Statement? {
        let tags = method.parameters.last ?? "tags"
        let looks = method.statements.contains { statement in
            let isLoop = statement.code.hasPrefix("for") && statement.code.contains(tags)
            let code = statement.code.filter { $0 != " " }
            // A comparison with zero does not find several tags.
            let counts = ["\(tags).count", "[\(tags)count]"].contains { count in
                code.contains(count) && ![">0", "==0", "!=0"].contains { code.contains(count + $0) }
            }
            return isLoop || counts || code.contains(":\(tags)]") || code.contains("\(tags)enumerate")
        }
        guard !looks else { return nil }
        return method.statements.first { statement in
            ["\(tags) firstObject", "\(tags).firstObject", "\(tags)[0]", "\(tags) objectAtIndex:0"].contains {
                statement.code.contains($0)
            }
        }
    }

    /// The last statement of a branch for several tags that only changes the text.
    func hangingBranch(_ method: Method) -> Statement? {
        let tags = method.parameters.last ?? "tags"
        guard
            let start = method.statements.firstIndex(where: { statement in
                let code = statement.code.filter { $0 != " " }
                let counts = ["\(tags).count>1", "[\(tags)count]>1", "\(tags).count>=2"]
                return code.hasPrefix("if") && statement.opensBlock && counts.contains { code.contains($0) }
            })
        else { return nil }
        let depth = method.statements[start].depth
        let block = method.statements[(start + 1)...].prefix { $0.depth > depth }
        guard block.contains(where: Self.setsText) else { return nil }
        let acts = block.contains { statement in
            let isText = Self.setsText(statement) || Self.isLog(statement)
            return !isText && (statement.code.contains("[") || statement.code.contains("("))
        }
        return acts ? nil : block.last
    }

    /// The statements that end with an error in a tag's callback, and leave the sheet: they only log and return, or call
    /// methods that don't end the session either.
    var hangingErrors: [Statement] {
        let reached = tagCallbacks.flatMap { code.reach($0) }
        var seen: Set<Place> = []
        return reached.flatMap { method -> [Statement] in
            let statements = method.statements
            return statements.indices.compactMap { start -> Statement? in
                let code = statements[start].code.filter { !$0.isWhitespace }
                guard code.hasPrefix("if("), statements[start].opensBlock,
                    ["(error)", "(error!=nil)", "(nil!=error)"].contains(where: code.contains)
                else { return nil }
                let block = statements[(start + 1)...].prefix { $0.depth > statements[start].depth }
                guard let last = block.last, last.code.hasPrefix("return"), block.allSatisfy(leavesSheet),
                    seen.insert(statements[start].place).inserted
                else { return nil }
                return block.first
            }
        }
    }

    /// Whether a statement logs, returns nothing, or calls a method of the file that does not end the session.
    private func leavesSheet(_ statement: Statement) -> Bool {
        if Self.isLog(statement) || statement.code.filter({ !$0.isWhitespace && $0 != ";" }) == "return" { return true }
        guard statement.code.hasPrefix("[self ") else { return false }
        let called = code.methods.filter { statement.code.hasPrefix("[self \($0.name)") }
        return !called.isEmpty
            && !called.flatMap { code.reach($0) }.contains { $0.mentions("invalidateSession", "restartPolling") }
    }

    /// Whether any method queries a tag's status before writing messages.
    var asksForStatus: Bool { code.methods.contains { $0.mentions("queryNDEFStatus") } }

    /// Whether any method compares a value with a capacity.
    var comparesCapacity: Bool {
        code.methods.contains { method in
            method.statements.contains { statement in
                let code = statement.code.filter { $0 != " " }
                return ["<capacity", ">capacity", "=capacity", "capacity<", "capacity>"].contains { code.contains($0) }
            }
        }
    }

    /// The statements that write messages.
    var writes: [Statement] { code.methods.flatMap(\.statements).filter { $0.code.contains(" writeNDEF:") } }

    /// The first statement in each method that converts a payload to text by hand.
    var decodedPayloads: [Statement] {
        code.methods.filter { !$0.mentions("wellKnownType") }.compactMap { method in
            method.statements.enumerated().first { number, statement in
                guard let start = statement.code.firstRange(of: "initWithData:") else { return false }
                let rest = statement.code[start.upperBound...]
                guard let end = rest.firstRange(of: "encoding:") else { return false }
                let isPayload = [".payload", " payload]"].contains { rest[..<end.lowerBound].contains($0) }
                return isPayload && !Self.isForOthers(number, method.statements)
            }?.element
        }
    }

    /// Whether a statement is in a case or block for records that are not well-known.
    private static func isForOthers(_ number: Int, _ statements: [Statement]) -> Bool {
        let others = ["FormatMedia", "FormatNFCExternal", "FormatAbsoluteURI"]
        var depth = statements[number].depth
        for statement in statements[...number].reversed() {
            let isCase = statement.code.hasPrefix("case ") && statement.depth <= depth
            let isBlock = statement.opensBlock && statement.depth < depth
            if isCase || isBlock, others.contains(where: { statement.code.contains($0) }) { return true }
            if isCase { return false }
            depth = min(depth, statement.depth)
        }
        return false
    }
}
