// SPDX-License-Identifier: Apache-2.0

/// Collects the texts that an Objective-C file shows on the scanning sheet.
struct ObjectiveTexts {
    private(set) var all: [ObjectiveFacts.Text] = []
    private let code: ObjectiveCode
    private var seen: Set<Place> = []

    init(_ code: ObjectiveCode) {
        self.code = code
        for method in code.methods {
            let begins = method.mentions("beginSession") && !method.selector.hasPrefix("readerSession")
            for statement in method.statements {
                if let value = Self.value(statement, ["alertMessage =", "setAlertMessage:"]), isOfSession(statement) {
                    add(value, statement, method, begins ? .instruction : .progress)
                }
                if let value = Self.value(statement, ["ErrorMessage:"]) { add(value, statement, method, .error) }
            }
        }
    }

    /// Whether a statement sets the text of a session, not a property of the app with the same name.
    private func isOfSession(_ statement: ObjectiveCode.Statement) -> Bool {
        let mark = statement.code.firstRange(of: "alertMessage =") ?? statement.code.firstRange(of: "setAlertMessage:")
        let before = statement.code[..<(mark?.lowerBound ?? statement.code.startIndex)]
        guard before.last == "." || before.last == " " && before.contains("[") else { return false }
        let name = before.split { !($0.isLetter || $0.isNumber || $0 == "_") }.last.map(String.init) ?? "self"
        return name.lowercased().contains("session")
            || code.methods.lazy.flatMap(\.statements).contains { other in
                let target = other.code.split(separator: "=", maxSplits: 1).first ?? ""
                let isNamed = target.split { !($0.isLetter || $0.isNumber || $0 == "_") }.last.map { $0 == name }
                return isNamed == true && other.code.contains("ReaderSession")
            }
    }

    /// The text after the first marker that is found.
    private static func value(_ statement: ObjectiveCode.Statement, _ marks: [String]) -> String? {
        for mark in marks {
            guard let range = statement.text.firstRange(of: mark) else { continue }
            return String(statement.text[range.upperBound...].drop { $0 == " " })
        }
        return nil
    }

    private mutating func add(
        _ value: String,
        _ statement: ObjectiveCode.Statement,
        _ method: ObjectiveCode.Method,
        _ role: SheetText.Role
    ) {
        // A key of a dictionary is not a text.
        if ["objectForKey:", "valueForKey:", "[@\""].contains(where: value.contains) { return }
        if value.contains("@\"") {
            add(Self.literals(value), value, statement, role)
            return
        }
        let name =
            value.split { !($0.isLetter || $0.isNumber || $0 == "_") }.last { $0 != "self" }.map(String.init) ?? ""
        guard !name.isEmpty else { return }
        if let position = method.parameters.firstIndex(of: name) {
            addPassed(position, method, role)
            return
        }
        for other in code.methods {
            for assigned in other.statements {
                guard let value = Self.value(assigned, ["\(name) = @\"", "\(name) = NSLocalizedString"]) else {
                    continue
                }
                let text = assigned.text.contains("= @\"") ? "@\"" + value : value
                add(Self.literals(text), assigned.text, assigned, role)
            }
        }
    }

    /// Adds the literals that callers pass for a parameter.
    private mutating func addPassed(_ position: Int, _ method: ObjectiveCode.Method, _ role: SheetText.Role) {
        let labels = method.selector.split(separator: ":").map(String.init)
        guard position < labels.count else { return }
        let mark = labels[position] + ":"
        for caller in code.methods {
            for statement in caller.statements where statement.code.contains(labels[0] + ":") {
                guard let value = Self.value(statement, [mark]),
                    ["@\"", "[NSString", "NSLocal"].contains(where: value.hasPrefix)
                else { continue }
                add(Array(Self.literals(value).prefix(1)), value, statement, role)
            }
        }
    }

    private mutating func add(
        _ literals: [String],
        _ value: String,
        _ statement: ObjectiveCode.Statement,
        _ role: SheetText.Role
    ) {
        let isFormat = value.contains("stringWithFormat")
        let isKey = value.contains("NSLocalizedString")
        let choices = value.contains("?") && !isFormat ? literals : Array(literals.prefix(1))
        for literal in choices where !literal.isEmpty {
            guard choices.count > 1 || seen.insert(statement.place).inserted else { continue }
            let text = isFormat ? Self.withGaps(literal) : literal
            all.append(ObjectiveFacts.Text(text: text, role: role, place: statement.place, isKey: isKey))
        }
    }

    /// The contents of string literals, in order.
    private static func literals(_ text: String) -> [String] {
        var result: [String] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "@\"") {
            rest = rest[start.upperBound...]
            var literal = ""
            var isEscaped = false
            while let character = rest.first {
                rest = rest.dropFirst()
                if isEscaped {
                    literal.append(character == "n" ? "\n" : character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    break
                } else {
                    literal.append(character)
                }
            }
            result.append(literal)
        }
        return result
    }

    /// Replaces the format specifiers in a format string by gaps.
    private static func withGaps(_ format: String) -> String {
        var result = format
        for sign in ["%@", "%lu", "%ld", "%zd", "%d", "%i", "%u", "%s", "%1$@", "%2$@"] {
            result = result.replacing(sign, with: String(SheetText.gap))
        }
        return result
    }
}
