// SPDX-License-Identifier: Apache-2.0

/// Finds patterns whose meaning differs from what one expects.
struct PatternCheck {
    let rule: AssociationFile.Rule
    let place: String
    /// The names of the file's own variables.
    let variables: Set<ExactText>

    var findings: [LinkFinding] {
        var result: [LinkFinding] = []
        for (key, text) in rule.patterns {
            let name = rule.isLegacy ? place : "\"\(key)\" of \(place)"
            result += undefined(text, name) + escapes(AssociationFile.Rule.variables(in: text).literal, name)
        }
        if case .items(let items) = rule.query {
            for item in items {
                result += escapes(Array(item.name.utf8), "The name \"\(item.name)\" in \"?\" of \(place)")
            }
        }
        if let path = rule.path { result += misplaced(path) + misspelledNot(path) }
        return result
    }

    /// Finds variables that are not defined (AASA009).
    private func undefined(_ text: String, _ name: String) -> [LinkFinding] {
        let found = AssociationFile.Rule.variables(in: text)
        let isDefined = { (name: String) in
            SubstitutionVariables.isPredefined(name)
                || SubstitutionVariables.isName(name) && variables.contains(ExactText(name))
        }
        var result = found.names.filter { !isDefined($0) }
            .map { variable in
                LinkFinding(
                    "AASA009",
                    .error,
                    "\(name) names the variable \"\(variable)\", which is not defined, so it matches nothing."
                )
            }
        if found.isOpen {
            result.append(LinkFinding("AASA009", .error, "\(name) has \"$(\" without \")\", which names no variable."))
        }
        return result
    }

    /// Finds escapes that never match (AASA013).
    private func escapes(_ bytes: [UInt8], _ name: String) -> [LinkFinding] {
        let hasEscape = bytes.indices.contains { index in
            bytes[index] == 0x25 && index + 2 < bytes.count
                && bytes[(index + 1)...(index + 2)].allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
        }
        if rule.isPercentEncoded, bytes.contains(where: { $0 >= 0x80 }) {
            let step = "Write them percent-encoded, or set percentEncoded to false."
            return [
                LinkFinding("AASA013", .warning, "\(name) has letters outside of ASCII, which URLs don't have. \(step)")
            ]
        }
        guard !rule.isPercentEncoded, hasEscape else { return [] }
        let why = "percentEncoded is false, so the URL's escapes are resolved before it is compared."
        return [LinkFinding("AASA013", .warning, "\(name) has an escape such as %20, which never matches: \(why)")]
    }

    /// Finds parts that belong to another key (AASA012).
    private func misplaced(_ path: String) -> [LinkFinding] {
        func finding(_ what: String, _ step: String) -> [LinkFinding] {
            [LinkFinding("AASA012", .warning, "\(place) has \(what) in its path, where it never matches. \(step)")]
        }
        if path.contains("://") { return finding("a whole URL", "Leave out the scheme and the host.") }
        if path.contains("#") { return finding("a fragment", "Put it under the key \"#\".") }
        // A question mark alone matches any character.
        let behind = path.drop { $0 != "?" }.dropFirst()
        let item = behind.prefix { $0 != "=" }
        guard item.count < behind.count, item.allSatisfy({ $0.isLetter || $0.isNumber || "-_.[]".contains($0) }) else {
            return []
        }
        return finding("a query", "Put it under the key \"?\".")
    }

    /// Finds a `NOT` that has no effect (AASA015).
    private func misspelledNot(_ path: String) -> [LinkFinding] {
        func finding(_ text: String) -> [LinkFinding] { [LinkFinding("AASA015", .warning, "\(place) \(text)")] }
        let path = rule.excludes ? path[...] : path.drop { $0.isWhitespace }
        let isWord =
            path.lowercased().hasPrefix("not")
            && !(path.dropFirst(3).first.map { $0.isLetter || $0.isNumber } ?? (path != "NOT"))
        guard rule.isLegacy else {
            return isWord && path.dropFirst(3).first == " "
                ? finding("begins with NOT, which excludes in \"paths\" alone. Use \"exclude\": true.") : []
        }
        if rule.excludes {
            return path.first == " " ? finding("has more than one space behind NOT, so it matches nothing.") : []
        }
        return isWord ? finding("excludes nothing: it has to begin with NOT, in capitals, and one space.") : []
    }
}
