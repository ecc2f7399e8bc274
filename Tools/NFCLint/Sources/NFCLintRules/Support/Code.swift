// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

/// Queries about source code that several rules share.
extension Unit {
    /// A function with its callers, and all functions that these reach.
    func connected(_ number: Int) -> Set<Int> {
        var result = Set(index.reach(number))
        for caller in index.allCallers(number) { result.formUnion(index.reach(caller, depth: 3)) }
        return result
    }

    /// Whether any of the functions mentions any of the names.
    func mentions(_ functions: some Sequence<Int>, _ names: Set<String>) -> Bool {
        functions.contains { !index.functions[$0].names.isDisjoint(with: names) }
    }

    /// Whether any function in the module mentions any of the names.
    func mentionsAnywhere(_ names: Set<String>) -> Bool { mentions(index.functions.indices, names) }

    /// Whether one of the target's own functions reads the message of the tag that opened the app. Such a function may
    /// be in a file that does not import Core NFC.
    var readsLinks: Bool {
        index.functions.contains { isOwn($0) && $0.names.contains("ndefMessagePayload") }
    }

    /// Whether the code uses iOS 13 APIs: tag sessions and messages of tags.
    var usesTags: Bool {
        sessions.creations.contains { $0.kind == .tag }
            || sessions.delegates.contains { delegate in delegate.tags.contains { isOwn(index.functions[$0]) } }
    }

    /// The location of a node in a function, if the target owns the function.
    func place(_ node: some SyntaxProtocol, _ number: Int) -> Place? {
        let function = index.functions[number]
        return isOwn(function) ? function.file.place(node) : nil
    }

    /// The location of a function's name, if the target owns the function.
    func place(_ number: Int) -> Place? { isOwn(index.functions[number]) ? index.functions[number].place : nil }

    /// The calls of functions with these names in the target's own functions.
    func ownCalls(_ names: Set<String>) -> [(number: Int, call: CallInfo)] {
        ownFunctions.flatMap { number, function in
            function.calls.filter { names.contains($0.name) }.map { (number, $0) }
        }
    }

    /// The calls that create card emulation sessions. Ignores an app's own type with the same name.
    var cardSessions: [(number: Int, call: CallInfo)] {
        guard index.types["CardSession"]?.declaration == nil else { return [] }
        return ownCalls(["CardSession"]).filter { $0.call.base == nil }
    }

    /// The sessions that the target creates.
    var ownCreations: [Sessions.Creation] { sessions.creations.filter { isOwn(index.functions[$0.function]) } }

    /// The delegates that the target owns.
    var ownDelegates: [Sessions.Delegate] {
        sessions.delegates.filter { delegate in delegate.callbacks.contains { isOwn(index.functions[$0]) } }
    }

    /// The sessions of a delegate: those created with `self` in its type, or with a name that may refer to it.
    func creations(for delegate: Sessions.Delegate) -> [Sessions.Creation] {
        let groups = memory.value("creations") { CreationGroups(self) }
        let own = index.family(delegate.type).flatMap { groups.own[$0] ?? [] }
        return (own + groups.made[delegate.type, default: []] + groups.other).sorted().map { sessions.creations[$0] }
    }

    /// The sessions that the functions of a family of types create.
    func creations(in family: Set<String>) -> [Sessions.Creation] {
        let groups = memory.value("creations") { CreationGroups(self) }
        return family.flatMap { groups.all[$0] ?? [] }.sorted().map { sessions.creations[$0] }
    }

    /// The types of which an object is created: as the value of a property, or by a function that a screen's or an
    /// app's start calls.
    var createdTypes: CreatedTypes { memory.value("created types") { CreatedTypes(self) } }

    /// Whether any of the functions calls any of the names.
    func calls(_ functions: some Sequence<Int>, _ names: Set<String>) -> Bool {
        functions.contains { index.functions[$0].calls.contains { names.contains($0.name) } }
    }

    /// The byte offsets of a node in its file, for edits.
    func range(_ node: some SyntaxProtocol) -> Range<Int> {
        node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
    }
}

/// The sessions of a target by what refers to them, as indexes, so that no rule compares all with all.
private struct CreationGroups: Sendable {
    /// By the type that creates them and is their delegate.
    var own: [String: [Int]] = [:]
    /// By the type of a delegate that is created with them.
    var made: [String: [Int]] = [:]
    /// Those whose delegate may be anything.
    var other: [Int] = []
    /// By the type that creates them.
    var all: [String: [Int]] = [:]

    init(_ unit: Unit) {
        let delegates = Set(unit.sessions.delegates.map(\.type))
        for (number, creation) in unit.sessions.creations.enumerated() {
            let owner = unit.index.functions[creation.function].owner ?? ""
            all[owner, default: []].append(number)
            if creation.delegate?.words ?? "self" == "self" {
                own[owner, default: []].append(number)
            } else if let made = creation.delegate?.core.as(FunctionCallExprSyntax.self)?.calledExpression.words {
                self.made[made, default: []].append(number)
            } else if !delegates.contains(owner) {
                other.append(number)
            }
        }
    }
}

/// See ``Unit/createdTypes``.
struct CreatedTypes: Sendable {
    /// Created as the value of a property.
    var byProperty: Set<String> = []
    /// Created as the value of a property that keeps it.
    var kept: Set<String> = []
    /// The functions that create an object of each type.
    var creators: [String: [Int]] = [:]
    /// Created only if there is no object yet.
    var reused: Set<String> = []

    init(_ unit: Unit) {
        let name = { (value: ExprSyntax?) in value?.core.as(FunctionCallExprSyntax.self)?.calledExpression.words }
        for property in unit.index.types.values.flatMap(\.properties) + unit.index.globals {
            guard let type = name(property.value) else { continue }
            byProperty.insert(type)
            if !property.marks.contains("@State") { kept.insert(type) }
        }
        let loads: Set<String> = ["viewDidLoad", "awakeFromNib", "init", "application"]
        for (number, function) in unit.index.functions.enumerated() {
            for call in function.calls where call.base == nil && unit.index.types[call.name] != nil {
                creators[call.name, default: []].append(number)
                let conditions = call.node.enclosing(IfExprSyntax.self)?.conditions.trimmedDescription
                if conditions?.contains("nil") == true { reused.insert(call.name) }
            }
        }
        for (number, function) in unit.index.functions.enumerated() where !function.assignments.isEmpty {
            let made = function.assignments.compactMap { name($0.value) }
            let callers = made.isEmpty ? [] : unit.index.allCallers(number, depth: 1)
            if callers.contains(where: { loads.contains(unit.index.functions[$0].name) }) { kept.formUnion(made) }
        }
    }
}

/// Names that several rules share.
enum Names {
    /// Commands that require a connected tag. APDUs to ISO 7816 tags are not included.
    static let commands: Set<String> = [
        "queryNDEFStatus", "readNDEF", "writeNDEF", "writeLock", "sendMiFareCommand", "sendMiFareISO7816Command",
        "readSingleBlock", "writeSingleBlock", "readMultipleBlocks", "writeMultipleBlocks", "lockBlock",
        "getSystemInfo",
        "readWithoutEncryption", "writeWithoutEncryption", "requestService", "requestResponse", "requestSystemCode",
        "customCommand", "extendedReadSingleBlock", "extendedReadMultipleBlocks", "fastReadMultipleBlocks",
    ]

    /// Calls that only write a log.
    static let quiet: Set<String> = [
        "print", "debugPrint", "NSLog", "os_log", "dump", "log", "debug", "info", "warning", "trace", "verbose",
        "notice",
        "error", "fault", "logger", "logError", "logMessage", "DLog", "addLog", "appendLog",
    ]

    static func isQuiet(_ call: String) -> Bool { quiet.contains(call) }

    /// Whether a call only writes a log, directly or through a logger: `Log.reader("found")`.
    static func isLog(_ call: FunctionCallExprSyntax) -> Bool {
        let names = call.calledExpression.dottedName.split(separator: ".").map(String.init)
        let loggers: Set<String> = ["log", "logger", "oslog", "nslogger"]
        return names.dropLast().contains { loggers.contains($0.lowercased()) } || isQuiet(names.last ?? "")
    }
}

/// Finds all nodes of a type in a tree.
final class Finder<Node: SyntaxProtocol>: SyntaxAnyVisitor {
    private(set) var nodes: [Node] = []

    static func all(_ type: Node.Type, in node: (some SyntaxProtocol)?) -> [Node] {
        guard let node else { return [] }
        let finder = Finder<Node>(viewMode: .sourceAccurate)
        finder.walk(Syntax(node))
        return finder.nodes
    }

    override func visitAny(_ node: Syntax) -> SyntaxVisitorContinueKind {
        if let match = node.as(Node.self) { nodes.append(match) }
        return .visitChildren
    }
}
