// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Reads the JSON of an association file, and reports the ignored parts. If an object has a key twice, the first value
/// is used.
struct AssociationFileReader {
    typealias Members = [JSONNode.Member]

    static let maximumDepth = 128

    private var findings: [LinkFinding] = []

    /// Reads a file, after an optional byte order mark.
    static func read(_ bytes: [UInt8]) throws(AssociationFileError) -> AssociationFile {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let root: JSONNode
        do throws(JSONReader.Problem) {
            root = try JSONReader.read(bytes, in: start..<bytes.count, maximumDepth: maximumDepth)
        } catch {
            let reason =
                switch bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
                case nil: "The file is empty."
                case UInt8(ascii: "<"): "The file is a web page, not JSON."
                default: "The file is not valid JSON: at byte \(error.offset + start) \(error.reason)."
                }
            throw AssociationFileError(.notJSON, reason)
        }
        guard root.members != nil else {
            throw AssociationFileError(.notAnObject, "The file must be a JSON object, but is \(root.kind).")
        }
        var reader = AssociationFileReader()
        let unique = reader.withoutRepeatedKeys(root, at: "")
        return reader.file(unique.members ?? [])
    }

    private mutating func withoutRepeatedKeys(_ node: JSONNode, at place: String) -> JSONNode {
        var node = node
        switch node.content {
        case .array(var elements):
            for index in elements.indices {
                elements[index] = withoutRepeatedKeys(elements[index], at: "\(place)[\(index)]")
            }
            node.content = .array(elements)
        case .object(let members):
            var seen: Set<ExactText> = []
            var unique: Members = []
            for var member in members {
                let inner = place.isEmpty ? member.key : "\(place).\(member.key)"
                member.value = withoutRepeatedKeys(member.value, at: inner)
                if seen.insert(ExactText(member.key)).inserted {
                    unique.append(member)
                } else {
                    let object = place.isEmpty ? "The file" : place
                    let text = "\(object) has the key \"\(member.key)\" more than once; only the first is used."
                    note("AASA014", .warning, text)
                }
            }
            node.content = .object(unique)
        default: break
        }
        return node
    }

    private mutating func file(_ root: Members) -> AssociationFile {
        let services = ["webcredentials", "appclips", "activitycontinuation"]
        noteKeys(of: root, "The file", known: services + ["applinks"])
        var others: [String: [String]] = [:]
        for service in services where root[service] != nil {
            let section = object(root[service], service) ?? []
            noteKeys(of: section, service, known: ["apps"])
            others[service] = texts(section["apps"], "\(service).apps").map(\.text)
        }
        guard let links = object(root["applinks"], "applinks") else {
            if root["applinks"] == nil {
                note("AASA003", .error, "The applinks section is missing, so the file provides no universal links.")
            }
            return AssociationFile(details: [], variables: [], otherServices: others, findings: findings)
        }
        noteKeys(of: links, "applinks", known: ["apps", "defaults", "substitutionVariables", "details"])
        if !texts(links["apps"], "applinks.apps").isEmpty {
            let text = "applinks.apps is not empty; before iOS 13 it must be empty, and later it has no effect."
            note("AASA007", .warning, text)
        }
        let variables = variables(links["substitutionVariables"])
        let details = details(links["details"], defaults: defaults(links["defaults"], "applinks.defaults"))
        return AssociationFile(details: details, variables: variables, otherServices: others, findings: findings)
    }

    // MARK: Notes

    private mutating func note(_ id: String, _ severity: LinkFinding.Severity, _ message: String) {
        findings.append(LinkFinding(id, severity, message))
    }

    /// - Parameter effect: the consequence, to end a sentence with.
    private mutating func noteKeys(
        of object: Members,
        _ place: String,
        known: [String],
        effect: String = "which is ignored."
    ) {
        for key in object.sortedByKey.map(\.key) where !known.contains(key) {
            let similar = known.first { $0.lowercased() == key.lowercased() }
            let meant = similar.map { " Is \"\($0)\" meant?" } ?? ""
            note("AASA014", .warning, "\(place) has the unknown key \"\(key)\", \(effect)\(meant)")
        }
    }

    /// Returns an object; nil after reporting a value of another type.
    private mutating func object(_ value: JSONNode?, _ place: String) -> Members? {
        guard let value else { return nil }
        if value.members == nil { note("AASA003", .error, "\(place) is \(value.kind), but must be an object.") }
        return value.members
    }

    /// Returns the strings of an array, each with its index. Other values are reported and skipped.
    private mutating func texts(_ value: JSONNode?, _ place: String) -> [(index: Int, text: String)] {
        guard let value else { return [] }
        guard let values = value.array else {
            note("AASA003", .error, "\(place) is \(value.kind), but must be an array of texts.")
            return []
        }
        var texts: [(index: Int, text: String)] = []
        for (index, value) in values.enumerated() {
            if let text = value.string {
                texts.append((index, text))
            } else {
                note("AASA003", .error, "\(place)[\(index)] is \(value.kind) and is ignored; it must be a text.")
            }
        }
        return texts
    }

    // MARK: Variables

    private mutating func variables(_ value: JSONNode?) -> [AssociationFile.Variable] {
        var variables: [AssociationFile.Variable] = []
        for member in (object(value, "substitutionVariables") ?? []).sortedByKey {
            let values = texts(member.value, "substitutionVariables.\(member.key)").map(\.text)
            variables.append(AssociationFile.Variable(name: member.key, values: values))
        }
        for variable in variables {
            let (name, values) = (variable.name, variable.values)
            if !SubstitutionVariables.isName(name) {
                let why = name.isEmpty ? "has an empty name" : "has $, ( or ) in its name"
                note("AASA009", .error, "The variable \"\(name)\" \(why), so no pattern can use it.")
            }
            if values.contains(where: { $0.contains("$(") }) {
                let text = "A value of the variable \"\(name)\" refers to another variable, which is not resolved."
                note("AASA009", .error, text)
            }
        }
        return variables
    }

    // MARK: Details

    private mutating func details(_ value: JSONNode?, defaults: Members) -> [AssociationFile.Details] {
        guard let value else {
            note("AASA003", .error, "applinks.details is missing, so the file provides no universal links.")
            return []
        }
        var details: [AssociationFile.Details] = []
        if let entries = value.array {
            if entries.isEmpty {
                note("AASA003", .error, "applinks.details is empty, so the file provides no universal links.")
            }
            for (index, entry) in entries.enumerated() {
                guard let entry = entry.members else {
                    note("AASA003", .error, "details[\(index)] is \(entry.kind), not an object, and is ignored.")
                    continue
                }
                let apps = apps(entry, "details[\(index)]")
                details.append(self.details(entry, apps, defaults, "details[\(index)]"))
            }
        } else if let entries = value.members {
            let text = "details is a dictionary, as before iOS 9.3; its entries are sorted by identifier."
            note("AASA003", .warning, text)
            for entry in entries.sortedByKey {
                let place = "details.\(entry.key)"
                noteIdentifier(entry.key)
                details.append(self.details(object(entry.value, place) ?? [], [entry.key], defaults, place))
            }
        } else {
            let effect = "but must be an array, so the file provides no universal links."
            note("AASA003", .error, "applinks.details is \(value.kind), \(effect)")
        }
        return details
    }

    private mutating func apps(_ entry: Members, _ place: String) -> [String] {
        var apps = texts(entry["appIDs"], "\(place).appIDs").map(\.text)
        if let app = entry["appID"], entry["appIDs"] == nil {
            apps = app.string.map { [$0] } ?? []
            if apps.isEmpty { note("AASA003", .error, "\(place).appID is \(app.kind), but must be a text.") }
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
        let text = "\"\(app)\" is not an application identifier: write the team's prefix, a period and the bundle ID."
        note("AASA005", .error, text)
    }

    private mutating func details(
        _ entry: Members,
        _ apps: [String],
        _ outer: Members,
        _ place: String
    ) -> AssociationFile.Details {
        noteKeys(of: entry, place, known: ["appID", "appIDs", "defaults", "components", "paths"])
        // For each key, the first value is used.
        let defaults = defaults(entry["defaults"], "\(place).defaults") + outer
        guard let components = entry["components"] else {
            let rules = texts(entry["paths"], "\(place).paths").map { Self.legacyRule($0.text, $0.index) }
            if rules.isEmpty {
                let what = entry["paths"] == nil ? "has neither components nor paths" : "has no paths"
                note("AASA003", .error, "\(place) \(what), so it matches nothing.")
            }
            return AssociationFile.Details(apps: apps, rules: rules, place: place)
        }
        if entry["paths"] != nil {
            note("AASA006", .warning, "\(place) has components, so its paths only count before iOS 13.")
        }
        if components.array == nil {
            note("AASA003", .error, "\(place).components is \(components.kind), but must be an array of objects.")
        }
        var rules: [AssociationFile.Rule] = []
        for (index, component) in (components.array ?? []).enumerated() {
            guard let own = component.members else {
                let text = "\(place).components[\(index)] is \(component.kind), not an object, and is ignored."
                note("AASA003", .error, text)
                continue
            }
            rules.append(rule(own, defaults, index, in: place))
        }
        if rules.isEmpty { note("AASA003", .error, "\(place) has no components, so it matches nothing.") }
        return AssociationFile.Details(apps: apps, rules: rules, place: place)
    }

    // MARK: Rules

    private static let textKeys = ["/", "#", "comment"]
    private static let switchKeys = ["exclude", "caseSensitive", "percentEncoded"]

    private static func legacyRule(_ text: String, _ index: Int) -> AssociationFile.Rule {
        let excludes = text.hasPrefix("NOT ")
        return AssociationFile.Rule(
            path: excludes ? String(text.dropFirst(4)) : text,
            excludes: excludes,
            isLegacy: true,
            place: "paths[\(index)]"
        )
    }

    private mutating func defaults(_ value: JSONNode?, _ place: String) -> Members {
        let defaults = object(value, place) ?? []
        noteKeys(of: defaults, place, known: Self.textKeys + Self.switchKeys + ["?"])
        noteTypes(of: defaults, place)
        return defaults.filter(Self.isUsable)
    }

    /// - Parameters:
    ///   - defaults: the values for keys that the rule lacks, or whose values have the wrong type.
    ///   - entry: the position of the rule's entry in the file.
    private mutating func rule(
        _ own: Members,
        _ defaults: Members,
        _ index: Int,
        in entry: String
    ) -> AssociationFile.Rule {
        let place = "\(entry).components[\(index)]"
        let values = own.filter(Self.isUsable) + defaults
        let takesAll = values["/"] == nil && values["?"] == nil && values["#"] == nil
        let effect = takesAll ? "which is ignored, so the rule matches every URL." : "which is ignored."
        noteKeys(of: own, place, known: Self.textKeys + Self.switchKeys + ["?"], effect: effect)
        noteTypes(of: own, place)
        return AssociationFile.Rule(
            path: values["/"]?.string,
            query: values["?"].flatMap(Self.query),
            fragment: values["#"]?.string,
            excludes: values["exclude"]?.bool ?? false,
            isCaseSensitive: values["caseSensitive"]?.bool ?? true,
            isPercentEncoded: values["percentEncoded"]?.bool ?? true,
            comment: values["comment"]?.string,
            place: "components[\(index)]"
        )
    }

    /// Returns whether a value has the type that its key requires. Other values are ignored, so that defaults apply.
    private static func isUsable(_ member: JSONNode.Member) -> Bool {
        if member.key == "?" { return query(member.value) != nil }
        if textKeys.contains(member.key) { return member.value.string != nil }
        return !switchKeys.contains(member.key) || member.value.bool != nil
    }

    private mutating func noteTypes(of values: Members, _ place: String) {
        for key in Self.textKeys {
            guard let value = values[key], value.string == nil else { continue }
            note("AASA014", .warning, "\"\(key)\" of \(place) is \(value.kind), not a string, and is ignored.")
        }
        for key in Self.switchKeys {
            guard let value = values[key], value.bool == nil else { continue }
            note("AASA014", .warning, "\"\(key)\" of \(place) is \(value.kind) and is ignored; write true or false.")
        }
        guard let query = values["?"], Self.query(query) == nil else { return }
        let what =
            query.members == nil
            ? "\"?\" of \(place) is \(query.kind), neither a string nor a dictionary, and is ignored."
            : "A value in \"?\" of \(place) is not a string, so \"?\" is ignored as a whole."
        note("AASA008", .error, what)
    }

    private static func query(_ value: JSONNode) -> AssociationFile.Rule.Query? {
        if let pattern = value.string { return .whole(pattern) }
        guard let members = value.members else { return nil }
        let items = members.sortedByKey.compactMap { member in
            member.value.string.map { AssociationFile.Rule.Item(name: member.key, pattern: $0) }
        }
        return items.count == members.count ? .items(items) : nil
    }
}

extension [JSONNode.Member] {
    fileprivate subscript(key: String) -> JSONNode? { first { $0.key == key }?.value }

    fileprivate var sortedByKey: [JSONNode.Member] { sorted { ExactText($0.key) < ExactText($1.key) } }
}

extension JSONNode {
    fileprivate var members: [Member]? { if case .object(let members) = content { members } else { nil } }

    fileprivate var kind: String {
        switch content {
        case .object: "an object"
        case .array: "an array"
        case .string: "a text"
        case .bool: "true or false"
        case .number: "a number"
        case .null: "null"
        }
    }
}

/// A string that equals another only if both have the same bytes, like keys in JSON (RFC 8259, 8.3).
///
/// Swift's strings are also equal if only their characters are, such as an `é` in one and in two code points.
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
