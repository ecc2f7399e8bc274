// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

/// Follows the payload of a record through constants and function parameters. Remembers what it found, because many
/// calls pass the same names. Use it on one thread.
final class PayloadTrace {
    private let unit: Unit
    /// The initial values of each function's names.
    private var values: [Int: [String: [ExprSyntax]]] = [:]
    private var origins: [Name: Source?] = [:]

    private struct Name: Hashable {
        var text: String
        var function: Int
        var depth: Int
    }

    init(_ unit: Unit) { self.unit = unit }

    /// How much of a payload an expression contains.
    enum Source {
        /// All bytes of the payload.
        case whole
        /// A part of the payload.
        case cut
    }

    private static let cutting: Set<String> = [
        "dropFirst", "dropLast", "advanced", "subdata", "suffix", "prefix", "removeFirst", "subarray",
    ]

    /// How much of a record's payload an expression contains; nil if none.
    func source(_ node: ExprSyntax, in number: Int, depth: Int = 0) -> Source? {
        guard depth < 4 else { return nil }
        let function = unit.index.functions[number]
        let members = Finder.all(MemberAccessExprSyntax.self, in: node)
        let isCut =
            members.contains { Self.cutting.contains($0.declName.baseName.text) }
            || !Finder.all(SubscriptCallExprSyntax.self, in: node).allSatisfy(Self.isIndexOfRecord)
        if members.contains(where: { isPayload($0, function) }) { return isCut ? .cut : .whole }
        for reference in Finder.all(DeclReferenceExprSyntax.self, in: node) {
            // Skip names after a full stop, which are members.
            let member = reference.parent?.as(MemberAccessExprSyntax.self)
            if member?.declName.id == reference.id { continue }
            // Skip the other fields of a record.
            let name = member?.declName.baseName.text ?? ""
            if ["type", "identifier", "typeNameFormat", "records"].contains(name) { continue }
            if let found = origin(reference.baseName.text, function, number, depth) { return isCut ? .cut : found }
        }
        return nil
    }

    /// How much of a payload a name in a function stands for.
    private func origin(_ name: String, _ function: FunctionInfo, _ number: Int, _ depth: Int) -> Source? {
        let key = Name(text: name, function: number, depth: depth)
        if let known = origins[key] { return known }
        let found = findOrigin(name, function, number, depth)
        origins[key] = .some(found)
        return found
    }

    private func findOrigin(_ name: String, _ function: FunctionInfo, _ number: Int, _ depth: Int) -> Source? {
        for value in initialValues(in: function, number)[name] ?? [] {
            if let found = source(value, in: number, depth: depth + 1) { return found }
        }
        if let position = function.parameters.firstIndex(of: name) {
            let passed = arguments(position, of: number)
            let sources = passed.compactMap { source($0.value, in: $0.caller, depth: depth + 1) }
            // If a function also receives other bytes, its callers are checked instead.
            if !sources.isEmpty { return sources.count == passed.count ? sources.first : nil }
            return Self.isForRecords(function) && name == "payload" ? .whole : nil
        }
        return name == "payload" && function.owner == "NFCNDEFPayload" ? .whole : nil
    }

    /// The initial values of a function's local constants and variables, by name.
    private func initialValues(in function: FunctionInfo, _ number: Int) -> [String: [ExprSyntax]] {
        if let known = values[number] { return known }
        var found: [String: [ExprSyntax]] = [:]
        for binding in Finder.all(PatternBindingSyntax.self, in: function.body) {
            guard let value = binding.initializer?.value else { continue }
            found[binding.pattern.trimmedDescription, default: []].append(value)
        }
        for condition in Finder.all(OptionalBindingConditionSyntax.self, in: function.body) {
            guard let value = condition.initializer?.value else { continue }
            found[condition.pattern.trimmedDescription, default: []].append(value)
        }
        values[number] = found
        return found
    }

    /// The values that callers pass for a parameter.
    private func arguments(_ position: Int, of number: Int) -> [(value: ExprSyntax, caller: Int)] {
        unit.index.arguments(position, of: number).prefix(20)
            .filter { Self.isWellKnownRecord($0.call.node) != false }.map { ($0.value, $0.caller) }
    }

    /// Whether a member is `record.payload`, not the payload of an APDU response or of a type in the module.
    private func isPayload(_ member: MemberAccessExprSyntax, _ function: FunctionInfo) -> Bool {
        guard member.declName.baseName.text == "payload" else { return false }
        let base = member.base?.core.lastName ?? ""
        guard !["response", "result", "apdu", "reply", "answer"].contains(where: { base.lowercased().contains($0) })
        else { return false }
        // Without Core NFC, a payload may belong to a push message or something else.
        let words = member.base?.words.lowercased() ?? ""
        guard function.file.importsCoreNFC || ["nfc", "ndef", "record"].contains(where: words.contains) else {
            return false
        }
        let properties = unit.index.family(function.owner).compactMap { unit.index.types[$0] }.flatMap(\.properties)
        let declared =
            function.parameters.firstIndex(of: base).map { function.parameterTypes[$0] }
            ?? properties.first { $0.name == base }?.type
        let plain = declared?.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        let type = plain.flatMap { unit.index.types[String($0)] }
        return type == nil || type?.name.hasPrefix("NFC") == true && type?.declaration == nil
    }

    /// Whether a function parses records, judged by its name: `parseText(_:)`.
    private static func isForRecords(_ function: FunctionInfo) -> Bool {
        let name = function.name.lowercased()
        let owner = (function.owner ?? "").lowercased()
        let isNear = function.file.importsCoreNFC || ["nfc", "ndef", "record"].contains { owner.contains($0) }
        guard isNear else { return false }
        return ["text", "uri", "url", "ndef", "record", "wellknown"].contains { name.contains($0) }
    }

    /// Whether a subscript selects a record, not bytes: `records[0].payload`.
    private static func isIndexOfRecord(_ node: SubscriptCallExprSyntax) -> Bool {
        let name = (node.calledExpression.lastName ?? "").lowercased()
        return name.hasSuffix("records") || name.hasSuffix("messages")
    }
}

extension PayloadTrace {
    private static let formats = [
        "nfcWellKnown", "media", "nfcExternal", "absoluteURI", "empty", "unknown", "unchanged",
    ]

    /// Whether the record at a node is known to be well-known (true) or to have another type (false); nil if its type
    /// is not known.
    static func isWellKnownRecord(_ node: some SyntaxProtocol) -> Bool? {
        var child = Syntax(node)
        while let step = child.parent {
            if let item = step.as(SwitchCaseSyntax.self), let found = isWellKnownRecord(item) { return found }
            if let choice = step.as(IfExprSyntax.self) {
                let text = choice.conditions.trimmedDescription
                if child.id == choice.body.id, let found = isWellKnownRecord(text) { return found }
                if child.id == choice.elseBody?.id, text.contains("== .nfcWellKnown") { return false }
            }
            child = step
        }
        return nil
    }

    private static func isWellKnownRecord(_ item: SwitchCaseSyntax) -> Bool? {
        let label = item.label.trimmedDescription
        if let found = isWellKnownRecord(label) { return found }
        guard label.hasPrefix("default"), let cases = item.parent?.as(SwitchCaseListSyntax.self) else { return nil }
        let hasOwn = cases.contains { $0.trimmedDescription.contains("case .nfcWellKnown") }
        return hasOwn ? false : nil
    }

    private static func isWellKnownRecord(_ condition: String) -> Bool? {
        if condition.contains(".nfcWellKnown") { return !condition.contains("!= .nfcWellKnown") }
        if formats.contains(where: { condition.contains(".\($0)") && !condition.contains("!= .\($0)") }) {
            return false
        }
        // A media type, such as "text/plain".
        let types = ["\"text/", "\"application/", "\"image/"]
        return types.contains(where: condition.contains) ? false : nil
    }
}
