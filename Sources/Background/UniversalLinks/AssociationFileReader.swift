// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Reads the JSON of an association file, and reports what it ignores.
struct AssociationFileReader {
    var findings: [LinkFinding] = []

    /// Reads a file's object.
    ///
    /// - Parameters:
    ///   - root: the object.
    ///   - repeatedKeys: the keys that an object has more than once.
    static func read(
        _ root: JSONValue.Members,
        repeatedKeys: [(place: String, key: String)] = []
    ) -> AssociationFile {
        var reader = AssociationFileReader()
        for repeated in repeatedKeys {
            let text = "\(repeated.place) has the key \"\(repeated.key)\" more than once; the first counts here."
            reader.note("AASA014", .warning, text)
        }
        return reader.file(root)
    }

    private mutating func file(_ root: JSONValue.Members) -> AssociationFile {
        let services: [ExactText] = ["webcredentials", "appclips", "activitycontinuation"]
        noteKeys(of: root, "The file", known: Set(services + ["applinks"]))
        var others: [String: [String]] = [:]
        for service in services where root[service] != nil {
            let section = object(root[service], service.text) ?? [:]
            noteKeys(of: section, service.text, known: ["apps"])
            others[service.text] = texts(section["apps"], "\(service.text).apps")
        }
        guard let links = object(root["applinks"], "applinks") else {
            if root["applinks"] == nil {
                note("AASA003", .error, "There is no applinks section, so the file gives no universal links.")
            }
            return AssociationFile(details: [], variables: [], otherServices: others, findings: findings)
        }
        noteKeys(of: links, "applinks", known: ["apps", "defaults", "substitutionVariables", "details"])
        if !texts(links["apps"], "applinks.apps").isEmpty {
            note(
                "AASA007",
                .warning,
                "applinks.apps is not empty; before iOS 13 it had to be, and later it has no effect."
            )
        }
        let variables = variables(links["substitutionVariables"])
        let details = details(links["details"], defaults: defaults(links["defaults"], "applinks.defaults"))
        return AssociationFile(details: details, variables: variables, otherServices: others, findings: findings)
    }

    // MARK: Notes

    mutating func note(_ id: String, _ severity: LinkFinding.Severity, _ message: String) {
        findings.append(LinkFinding(id, severity, message))
    }

    /// Reports keys that have no effect.
    ///
    /// - Parameter effect: the consequence, as the end of a sentence.
    mutating func noteKeys(
        of object: JSONValue.Members,
        _ place: String,
        known: Set<ExactText>,
        effect: String = "which is ignored."
    ) {
        for key in object.keys.sorted() where !known.contains(key) {
            let similar = known.first { $0.text.lowercased() == key.text.lowercased() }
            let meant = similar.map { " Is \"\($0.text)\" meant?" } ?? ""
            note("AASA014", .warning, "\(place) has the unknown key \"\(key.text)\", \(effect)\(meant)")
        }
    }

    /// Returns an object; nil for a value of another type, which is reported.
    mutating func object(_ value: JSONValue?, _ place: String) -> JSONValue.Members? {
        guard let value else { return nil }
        if value.object == nil { note("AASA003", .error, "\(place) is \(value.kind), and has to be an object.") }
        return value.object
    }

    /// Returns the strings of an array. Other values are reported and left out.
    mutating func texts(_ value: JSONValue?, _ place: String) -> [String] {
        numberedTexts(value, place).map(\.text)
    }

    /// Returns the strings of an array, each with its index there. Other values are reported and left out.
    private mutating func numberedTexts(_ value: JSONValue?, _ place: String) -> [(index: Int, text: String)] {
        guard let value else { return [] }
        guard let values = value.array else {
            note("AASA003", .error, "\(place) is \(value.kind), and has to be an array of texts.")
            return []
        }
        var texts: [(index: Int, text: String)] = []
        for (index, value) in values.enumerated() {
            if let text = value.string {
                texts.append((index, text))
            } else {
                note("AASA003", .error, "\(place)[\(index)] is \(value.kind) and is ignored; it has to be a text.")
            }
        }
        return texts
    }

    // MARK: Variables

    private mutating func variables(_ value: JSONValue?) -> [AssociationFile.Variable] {
        var variables: [AssociationFile.Variable] = []
        for (key, value) in (object(value, "substitutionVariables") ?? [:]).sorted(by: { $0.key < $1.key }) {
            let values = texts(value, "substitutionVariables.\(key.text)")
            variables.append(AssociationFile.Variable(name: key.text, values: values))
        }
        for variable in variables {
            let (name, values) = (variable.name, variable.values)
            if !SubstitutionVariables.isName(name) {
                let why = name.isEmpty ? "has an empty name" : "has $, ( or ) in its name"
                note("AASA009", .error, "The variable \"\(name)\" \(why), so no pattern can name it.")
            }
            if values.contains(where: { $0.contains("$(") }) {
                note(
                    "AASA009",
                    .error,
                    "A value of the variable \"\(name)\" names another variable, which is not resolved."
                )
            }
        }
        return variables
    }

    // MARK: Details

    private mutating func details(_ value: JSONValue?, defaults: JSONValue.Members) -> [AssociationFile.Details] {
        var details: [AssociationFile.Details] = []
        switch value {
        case .array(let entries):
            if entries.isEmpty {
                note("AASA003", .error, "applinks.details is empty, so the file gives no universal links.")
            }
            for (index, entry) in entries.enumerated() {
                guard let entry = entry.object else {
                    note("AASA003", .error, "details[\(index)] is \(entry.kind), no object, and is ignored.")
                    continue
                }
                let apps = apps(entry, "details[\(index)]")
                details.append(self.details(entry, apps, defaults, "details[\(index)]"))
            }
        case .object(let entries):
            note(
                "AASA003",
                .warning,
                "details is a dictionary, as before iOS 9.3; its order is that of the identifiers."
            )
            for (key, entry) in entries.sorted(by: { $0.key < $1.key }) {
                let app = key.text
                noteIdentifier(app)
                details.append(
                    self.details(object(entry, "details.\(app)") ?? [:], [app], defaults, "details.\(app)")
                )
            }
        case nil:
            note("AASA003", .error, "applinks.details is missing, so the file gives no universal links.")
        case .some(let other):
            let effect = "and has to be an array, so the file gives no universal links."
            note("AASA003", .error, "applinks.details is \(other.kind), \(effect)")
        }
        return details
    }

    private mutating func apps(_ entry: JSONValue.Members, _ place: String) -> [String] {
        var apps = texts(entry["appIDs"], "\(place).appIDs")
        if let app = entry["appID"], entry["appIDs"] == nil {
            apps = app.string.map { [$0] } ?? []
            if apps.isEmpty { note("AASA003", .error, "\(place).appID is \(app.kind), and has to be a text.") }
        }
        if apps.isEmpty { note("AASA004", .error, "\(place) names no app.") }
        if entry["appIDs"] != nil, entry["appID"] != nil {
            note("AASA004", .warning, "\(place) has appIDs, so its appID is ignored.")
        }
        for app in apps { noteIdentifier(app) }
        return apps
    }

    private mutating func noteIdentifier(_ app: String) {
        guard !AssociationFile.isIdentifier(app) else { return }
        note(
            "AASA005",
            .error,
            "\"\(app)\" is no application identifier: it is the team's prefix, a full stop, the bundle ID."
        )
    }

    private mutating func details(
        _ entry: JSONValue.Members,
        _ apps: [String],
        _ outer: JSONValue.Members,
        _ place: String
    ) -> AssociationFile.Details {
        noteKeys(of: entry, place, known: ["appID", "appIDs", "defaults", "components", "paths"])
        let own = self.defaults(entry["defaults"], "\(place).defaults")
        let defaults = outer.merging(own) { _, own in own }
        guard let components = entry["components"] else {
            let rules = numberedTexts(entry["paths"], "\(place).paths").map { legacyRule($0.text, $0.index) }
            if rules.isEmpty {
                let what = entry["paths"] == nil ? "has neither components nor paths" : "has no paths"
                note("AASA003", .error, "\(place) \(what), so it matches nothing.")
            }
            return AssociationFile.Details(apps: apps, rules: rules, place: place)
        }
        if entry["paths"] != nil {
            note("AASA006", .warning, "\(place) has components, so its paths count before iOS 13 only.")
        }
        if components.array == nil {
            note("AASA003", .error, "\(place).components is \(components.kind), and has to be an array of objects.")
        }
        var rules: [AssociationFile.Rule] = []
        for (index, component) in (components.array ?? []).enumerated() {
            guard let component = component.object else {
                let text = "\(place).components[\(index)] is \(component.kind), no object, and is ignored."
                note("AASA003", .error, text)
                continue
            }
            rules.append(rule(component, defaults, index, in: place))
        }
        if rules.isEmpty { note("AASA003", .error, "\(place) has no components, so it matches nothing.") }
        return AssociationFile.Details(apps: apps, rules: rules, place: place)
    }
}

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

/// A JSON value with its type. Association files don't use numbers, so their values are not kept.
enum JSONValue: Sendable {
    /// The members of an object by key.
    typealias Members = [ExactText: JSONValue]

    case object(Members)
    case array([JSONValue])
    case string(String)
    case boolean(Bool)
    case number
    case null

    var object: Members? { if case .object(let value) = self { value } else { nil } }
    var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    var string: String? { if case .string(let value) = self { value } else { nil } }
    var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

    /// The type, for messages.
    var kind: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a text"
        case .boolean: "true or false"
        case .number: "a number"
        case .null: "null"
        }
    }
}

extension JSONValue {
    /// The deepest nesting of objects and arrays.
    static let maximumDepth = 128

    /// The result of reading.
    struct Content {
        var value: JSONValue
        /// The keys that an object has more than once, with the position of the object. The first value of a key is
        /// used.
        var repeatedKeys: [(place: String, key: String)]
    }

    /// Reads JSON. A byte order mark at the start is skipped.
    ///
    /// - Throws: `JSONReader.Problem`, whose offset counts a byte order mark too.
    static func read(_ bytes: [UInt8]) throws(JSONReader.Problem) -> Content {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        do throws(JSONReader.Problem) {
            let node = try JSONReader.read(bytes, in: start..<bytes.count, maximumDepth: maximumDepth)
            var repeatedKeys: [(place: String, key: String)] = []
            let value = JSONValue(node, at: "", &repeatedKeys)
            return Content(value: value, repeatedKeys: repeatedKeys)
        } catch {
            throw JSONReader.Problem(offset: error.offset + start, reason: error.reason)
        }
    }

    private init(_ node: JSONNode, at place: String, _ repeatedKeys: inout [(place: String, key: String)]) {
        switch node.content {
        case .null: self = .null
        case .bool(let value): self = .boolean(value)
        case .number: self = .number
        case .string(let utf8): self = .string(String(decoding: utf8, as: UTF8.self))
        case .array(let elements):
            var values: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                values.append(JSONValue(element, at: "\(place)[\(index)]", &repeatedKeys))
            }
            self = .array(values)
        case .object(let members):
            var values: Members = [:]
            for member in members {
                let inner = place.isEmpty ? member.key : "\(place).\(member.key)"
                let value = JSONValue(member.value, at: inner, &repeatedKeys)
                let key = ExactText(member.key)
                if values[key] == nil {
                    values[key] = value
                } else {
                    repeatedKeys.append((place.isEmpty ? "The file" : place, member.key))
                }
            }
            self = .object(values)
        }
    }
}

/// A text that equals another one only if both have the same bytes, as the keys of JSON do (RFC 8259, 8.3).
///
/// Swift's strings are also equal if they look the same, such as an `é` of one character and one of two.
struct ExactText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    let text: String

    init(_ text: String) { self.text = text }

    init(stringLiteral text: String) { self.text = text }

    static func == (one: ExactText, other: ExactText) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    static func < (one: ExactText, other: ExactText) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
