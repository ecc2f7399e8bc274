// SPDX-License-Identifier: Apache-2.0

/// Reads rules and their default values.
extension AssociationFileReader {
    private static let known: Set<ExactText> = [
        "/", "?", "#", "exclude", "comment", "caseSensitive", "percentEncoded",
    ]

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
        return defaults
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
        let values = own.merging(defaults) { own, _ in own }
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

    /// Reports values of the wrong type, which are ignored.
    private mutating func noteTypes(of values: JSONValue.Members, _ place: String) {
        for key in ["/", "#", "comment"] {
            guard let value = values[ExactText(key)], value.string == nil else { continue }
            note("AASA014", .warning, "\"\(key)\" of \(place) is \(value.kind), no text, and is ignored.")
        }
        for key in ["exclude", "caseSensitive", "percentEncoded"] {
            guard let value = values[ExactText(key)], value.boolean == nil else { continue }
            note("AASA014", .warning, "\"\(key)\" of \(place) is \(value.kind) and is ignored; write true or false.")
        }
        guard let query = values["?"], Self.query(query) == nil else { return }
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
