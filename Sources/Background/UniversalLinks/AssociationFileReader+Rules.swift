// SPDX-License-Identifier: Apache-2.0

/// Reads rules and their default values.
extension AssociationFileReader {
    private static let textKeys: [ExactText] = ["/", "#", "comment"]
    private static let switchKeys: [ExactText] = ["exclude", "caseSensitive", "percentEncoded"]
    private static let known = Set(textKeys + switchKeys + ["?"])

    /// Reads a path of the form before iOS 13.
    func legacyRule(_ text: String, _ index: Int) -> AssociationFile.Rule {
        let excludes = text.hasPrefix("NOT ")
        return AssociationFile.Rule(
            path: excludes ? String(text.dropFirst(4)) : text,
            excludes: excludes,
            isLegacy: true,
            place: "paths[\(index)]"
        )
    }

    /// Reads the default values for rules.
    mutating func defaults(_ value: JSONValue?, _ place: String) -> JSONValue.Members {
        let defaults = object(value, place) ?? [:]
        noteKeys(of: defaults, place, known: Self.known)
        noteTypes(of: defaults, place)
        return Self.usable(defaults)
    }

    /// Reads a rule of `components`.
    ///
    /// - Parameters:
    ///   - own: the rule's object.
    ///   - defaults: the values for the keys that the rule does not have.
    ///   - index: the rule's index in `components`.
    ///   - entry: the position of the rule's entry in the file.
    mutating func rule(
        _ own: JSONValue.Members,
        _ defaults: JSONValue.Members,
        _ index: Int,
        in entry: String
    ) -> AssociationFile.Rule {
        let place = "\(entry).components[\(index)]"
        let values = Self.usable(own).merging(defaults) { own, _ in own }
        let takesAll = values["/"] == nil && values["?"] == nil && values["#"] == nil
        let effect = takesAll ? "which is ignored, so the rule matches every URL." : "which is ignored."
        noteKeys(of: own, place, known: Self.known, effect: effect)
        noteTypes(of: own, place)
        return AssociationFile.Rule(
            path: values["/"]?.string,
            query: Self.query(values["?"]),
            fragment: values["#"]?.string,
            excludes: values["exclude"]?.boolean ?? false,
            isCaseSensitive: values["caseSensitive"]?.boolean ?? true,
            isPercentEncoded: values["percentEncoded"]?.boolean ?? true,
            comment: values["comment"]?.string,
            place: "components[\(index)]"
        )
    }

    /// Returns the values without those of the wrong type. These are ignored, so a default value counts in their place.
    private static func usable(_ values: JSONValue.Members) -> JSONValue.Members {
        values.filter { key, value in isUsable(value, for: key) }
    }

    /// Whether a value has the type that its key asks for. An unknown key asks for none.
    private static func isUsable(_ value: JSONValue, for key: ExactText) -> Bool {
        if key == "?" { return query(value) != nil }
        return textKeys.contains(key) ? value.string != nil : !switchKeys.contains(key) || value.boolean != nil
    }

    /// Reports values of the wrong type, which are ignored.
    private mutating func noteTypes(of values: JSONValue.Members, _ place: String) {
        for key in Self.textKeys {
            guard let value = values[key], !Self.isUsable(value, for: key) else { continue }
            note("AASA014", .warning, "\"\(key.text)\" of \(place) is \(value.kind), no text, and is ignored.")
        }
        for key in Self.switchKeys {
            guard let value = values[key], !Self.isUsable(value, for: key) else { continue }
            let what = "is \(value.kind) and is ignored; write true or false."
            note("AASA014", .warning, "\"\(key.text)\" of \(place) \(what)")
        }
        guard let query = values["?"], !Self.isUsable(query, for: "?") else { return }
        let what =
            query.object == nil
            ? "\"?\" of \(place) is \(query.kind), neither a text nor a dictionary, and is ignored."
            : "A value in \"?\" of \(place) is no text, so the whole of \"?\" is ignored."
        note("AASA008", .error, what)
    }

    private static func query(_ value: JSONValue?) -> AssociationFile.Rule.Query? {
        switch value {
        case .string(let pattern): return .whole(pattern)
        case .object(let items):
            let patterns = items.compactMapValues(\.string)
            guard patterns.count == items.count else { return nil }
            return .items(
                patterns.sorted { $0.key < $1.key }
                    .map { AssociationFile.Rule.Item(name: $0.key.text, pattern: $0.value) }
            )
        default: return nil
        }
    }
}
