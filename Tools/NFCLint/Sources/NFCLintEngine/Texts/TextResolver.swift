// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// Finds the literal texts that an expression may evaluate to. Follows variables, parameters, properties, enum cases,
/// `.strings` keys and functions of the module.
struct TextResolver {
    struct Found {
        var text: String
        var place: Place
        var hasRawError = false
        var file: String
        /// The text in other languages.
        var translations: [StringTable.Text] = []
    }

    let index: ModuleIndex
    let strings: StringTable

    func texts(_ expression: ExprSyntax, in number: Int, depth: Int = 0) -> [Found] {
        guard depth < 6 else { return [] }
        let function = index.functions[number]
        let node = expression.core
        if let literal = node.as(StringLiteralExprSyntax.self) { return [self.literal(literal, function)] }
        if let ternary = node.as(TernaryExprSyntax.self) {
            return texts(ternary.thenExpression, in: number, depth: depth + 1)
                + texts(ternary.elseExpression, in: number, depth: depth + 1)
        }
        if let infix = node.as(InfixOperatorExprSyntax.self) { return joined(infix, number, depth) }
        if let array = node.as(ArrayExprSyntax.self) {
            return array.elements.flatMap { texts($0.expression, in: number, depth: depth + 1) }
        }
        if let part = node.as(SubscriptCallExprSyntax.self) {
            return texts(part.calledExpression, in: number, depth: depth + 1)
        }
        if let call = node.as(FunctionCallExprSyntax.self) {
            let found = self.call(call, number, depth)
            return found.isEmpty ? generated(call.calledExpression) : found
        }
        if let member = node.as(MemberAccessExprSyntax.self) {
            let found = self.member(member, number, depth)
            return found.isEmpty ? generated(node) : found
        }
        if let reference = node.as(DeclReferenceExprSyntax.self) {
            return variable(reference.baseName.text, number, depth)
        }
        return []
    }

    // MARK: Literals

    private func literal(_ node: StringLiteralExprSyntax, _ function: FunctionInfo) -> Found {
        var text = ""
        var hasRawError = false
        for segment in node.segments {
            switch segment {
            case .stringSegment(let part): text += Self.unescaped(part.content.text)
            case .expressionSegment(let part):
                text.append(SheetText.gap)
                if part.expressions.count == 1, let only = part.expressions.first?.expression {
                    hasRawError = hasRawError || Self.isError(only)
                }
            }
        }
        let path = function.file.path
        return Found(text: text, place: function.file.place(node), hasRawError: hasRawError, file: path)
    }

    private static func unescaped(_ text: String) -> String {
        guard text.contains("\\") else { return text }
        return text.replacing("\\n", with: "\n").replacing("\\t", with: " ").replacing("\\\"", with: "\"")
            .replacing("\\'", with: "'")
    }

    /// Whether an expression is an entire error value, not its description.
    static func isError(_ node: ExprSyntax) -> Bool {
        let node = node.core
        if let call = node.as(FunctionCallExprSyntax.self), call.calledExpression.words == "String",
            let first = call.arguments.first, first.label?.text == "describing"
        {
            return isError(first.expression)
        }
        guard let name = node.as(DeclReferenceExprSyntax.self)?.baseName.text.lowercased() else { return false }
        return name == "error" || name == "err" || name.hasSuffix("error") || name == "nserror"
    }

    private func localized(_ key: Found) -> [Found] {
        if let text = strings[key.text] {
            // If the key is its own text, report its location in the code.
            let isKey = text.text == key.text
            let place = isKey ? key.place : text.place
            return [Found(text: text.text, place: place, file: place.path, translations: text.translations)]
        }
        // A key with spaces is a sentence, and therefore its own text.
        return key.text.contains(" ") ? [key] : []
    }

    /// The text of a generated name such as `L10n.title`, even if the file with the generated names was not read.
    private func generated(_ node: ExprSyntax) -> [Found] {
        let names = node.dottedName.split(separator: ".").map(String.init)
        guard let root = names.first, names.count > 1, ["L10n", "Strings", "R", "Localized"].contains(root) else {
            return []
        }
        // R.string.table.key
        let key = root == "R" ? names.dropFirst(3) : names.dropFirst()
        guard let text = strings.text(named: Array(key)) else { return [] }
        let gaps = ["%@", "%1$@", "%2$@", "%d", "%ld"].reduce(text.text) {
            $0.replacing($1, with: String(SheetText.gap))
        }
        return [Found(text: gaps, place: text.place, file: text.place.path, translations: text.translations)]
    }

    // MARK: Operators

    private func joined(_ node: InfixOperatorExprSyntax, _ number: Int, _ depth: Int) -> [Found] {
        let sign = node.operator.trimmedDescription
        let left = texts(node.leftOperand, in: number, depth: depth + 1)
        let right = texts(node.rightOperand, in: number, depth: depth + 1)
        if sign == "??" { return left + right }
        guard sign == "+" else { return [] }
        guard let first = left.first else {
            return right.map { found in
                var found = found
                found.text = String(SheetText.gap) + found.text
                return found
            }
        }
        let last = right.count == 1 ? right[0].text : String(SheetText.gap)
        var result = first
        result.text += last
        result.hasRawError = first.hasRawError || right.contains(where: \.hasRawError)
        return [result]
    }

    // MARK: Calls

    private func call(_ node: FunctionCallExprSyntax, _ number: Int, _ depth: Int) -> [Found] {
        let callee = node.calledExpression.core
        let name = callee.lastName ?? ""
        let first = node.arguments.first
        let isKey =
            name == "NSLocalizedString" || name == "LocalizedStringResource" || name == "localizedString"
            || name == "String" && first?.label?.text == "localized"
        if isKey, let first {
            if let value = node.arguments.first(where: { ["value", "defaultValue"].contains($0.label?.text) })?
                .expression,
                let text = value.literalText, !text.isEmpty
            {
                return texts(value, in: number, depth: depth + 1)
            }
            return texts(first.expression, in: number, depth: depth + 1).flatMap(localized)
        }
        if name == "String", first?.label?.text == "format", let first {
            return texts(first.expression, in: number, depth: depth + 1).map { found in
                var found = found
                for sign in ["%@", "%d", "%ld", "%i", "%u", "%s", "%1$@", "%2$@"] {
                    found.text = found.text.replacing(sign, with: String(SheetText.gap))
                }
                return found
            }
        }
        if name == "String", let first, first.label?.text == nil || first.label?.text == "describing" {
            if Self.isError(first.expression) {
                let file = index.functions[number].file
                return [Found(text: String(SheetText.gap), place: file.place(node), hasRawError: true, file: file.path)]
            }
            return texts(first.expression, in: number, depth: depth + 1)
        }
        if name == "tr", node.arguments.count >= 2, let key = node.arguments.dropFirst().first?.expression {
            // SwiftGen generates this call: `tr(table, key)`.
            return texts(key, in: number, depth: depth + 1).flatMap(localized)
        }
        if ["localized", "localize", "localised"].contains(name), let base = callee.memberBase {
            return texts(base, in: number, depth: depth + 1).flatMap(localized)
        }
        let found = results(node, number, depth)
        let isChanged = name.hasPrefix("replac") || ["appending", "capitalized", "trimmingCharacters"].contains(name)
        guard found.isEmpty, isChanged, let base = callee.memberBase else { return found }
        return texts(base, in: number, depth: depth + 1)
    }

    /// The texts that a function of the module returns.
    private func results(_ node: FunctionCallExprSyntax, _ number: Int, _ depth: Int) -> [Found] {
        guard let info = index.functions[number].calls.first(where: { $0.node.id == node.id }) else { return [] }
        return index.targets(of: info, in: index.functions[number]).prefix(3).flatMap { target in
            returned(target).flatMap { texts($0.value, in: target, depth: depth + 1) }
        }
    }

    /// The expressions that a function or property returns, with their switch cases.
    private func returned(_ number: Int) -> [(value: ExprSyntax, cases: [String])] {
        let finder = ReturnFinder(viewMode: .sourceAccurate)
        guard let body = index.functions[number].body else { return [] }
        finder.walk(body)
        return finder.values
    }

    // MARK: Names

    private func member(_ node: MemberAccessExprSyntax, _ number: Int, _ depth: Int) -> [Found] {
        let name = node.declName.baseName.text
        guard let base = node.base?.core else {
            // A case or static member without its type's name can't be resolved.
            return []
        }
        if ["localized", "localizedString"].contains(name) {
            return texts(base, in: number, depth: depth + 1).flatMap(localized)
        }
        if let type = base.lastName.flatMap({ index.types[$0] }) {
            if let property = type.properties.first(where: { $0.name == name }) {
                return value(of: property, number, depth)
            }
            return computed(name, of: type, only: nil, depth)
        }
        // Handles `Type.case.rawValue` and other properties of a case.
        if let inner = base.as(MemberAccessExprSyntax.self),
            let type = inner.base?.lastName.flatMap({ index.types[$0] })
        {
            let chosen = inner.declName.baseName.text
            if let raw = type.cases.first(where: { $0.name == chosen }) {
                if name == "rawValue", let value = raw.value {
                    return texts(value, in: type.functions.first ?? number, depth: depth + 1)
                }
                // An error's `localizedDescription` comes from its `errorDescription`.
                let own = name == "localizedDescription" ? "errorDescription" : name
                return computed(own, of: type, only: chosen, depth)
            }
            if let shared = type.properties.first(where: { $0.name == chosen }),
                let made = shared.type.flatMap({ index.types[$0] })
            {
                return computed(name, of: made, only: nil, depth)
            }
        }
        if base.words == "self" || base.words == "Self" { return variable(name, number, depth) }
        let parts = Parts(index).parts(name, of: base, in: number)
        if !parts.isEmpty { return parts.flatMap { texts($0.value, in: $0.function, depth: depth + 1) } }
        if let type = declaredType(base, number) {
            if name == "rawValue" {
                return type.cases.compactMap(\.value).flatMap {
                    texts($0, in: type.functions.first ?? number, depth: depth + 1)
                }
            }
            return computed(name, of: type, only: nil, depth)
        }
        return []
    }

    /// The type of a parameter or property, if it is an enum of the module.
    private func declaredType(_ node: ExprSyntax, _ number: Int) -> TypeInfo? {
        guard let name = node.as(DeclReferenceExprSyntax.self)?.baseName.text else { return nil }
        let function = index.functions[number]
        var text: String?
        if let position = function.parameters.firstIndex(of: name) {
            text = function.parameterTypes[position]
        } else {
            let properties = index.family(function.owner).compactMap { index.types[$0] }.flatMap(\.properties)
            text = properties.first { $0.name == name }?.type
        }
        let plain = text?.split { !($0.isLetter || $0.isNumber || $0 == "_") }.last.map(String.init)
        guard let type = plain.flatMap({ index.types[$0] }), type.kind == "enum" else { return nil }
        return type
    }

    private func value(of property: PropertyInfo, _ number: Int, _ depth: Int) -> [Found] {
        guard let value = property.value else { return [] }
        // Resolve the value in the file of the property.
        let home = index.number(Syntax(property.node).id) ?? number
        return texts(value, in: home, depth: depth + 1)
    }

    private func computed(_ name: String, of type: TypeInfo, only chosen: String?, _ depth: Int) -> [Found] {
        let functions = type.functions.filter {
            index.functions[$0].name == name && index.functions[$0].kind == .property
        }
        return functions.flatMap { number in
            let values = returned(number)
            let matching = values.filter { chosen == nil || $0.cases.isEmpty || $0.cases.contains(chosen ?? "") }
            return matching.flatMap { texts($0.value, in: number, depth: depth + 1) }
        }
    }

    private func variable(_ name: String, _ number: Int, _ depth: Int) -> [Found] {
        let function = index.functions[number]
        let finder = BindingFinder(name)
        if let body = function.body { finder.walk(body) }
        let assigned = function.assignments.filter { $0.target.words == name }.map(\.value)
        let local = finder.values + assigned
        if !local.isEmpty, finder.isDeclared { return local.flatMap { texts($0, in: number, depth: depth + 1) } }
        if let position = function.parameters.firstIndex(of: name) {
            return arguments(position, of: number, depth)
        }
        for type in index.family(function.owner).sorted() {
            guard let info = index.types[type] else { continue }
            if let property = info.properties.first(where: { $0.name == name }),
                property.value != nil || !property.isConstant
            {
                let set = info.functions.flatMap { other in
                    index.functions[other].assignments.filter {
                        $0.name == name && ($0.target.memberBase?.words ?? "self") == "self"
                    }
                    .flatMap { texts($0.value, in: other, depth: depth + 2) }
                }
                return value(of: property, number, depth) + set
            }
            let own = computed(name, of: info, only: nil, depth)
            if !own.isEmpty { return own }
        }
        if let global = index.globals.first(where: { $0.name == name }) { return value(of: global, number, depth) }
        return []
    }

    /// The texts that callers pass for a parameter.
    private func arguments(_ position: Int, of number: Int, _ depth: Int) -> [Found] {
        index.arguments(position, of: number).prefix(40).flatMap { texts($0.value, in: $0.caller, depth: depth + 1) }
    }
}
