// SPDX-License-Identifier: Apache-2.0

/// Reads the JSON of an association file, and notes what it ignores.
struct AssociationFileReader {
    private var remarks: [String] = []

    /// Reads a file's object.
    static func read(_ root: [String: JSONValue]) -> AssociationFile {
        var reader = AssociationFileReader()
        return reader.file(root)
    }

    private mutating func file(_ root: [String: JSONValue]) -> AssociationFile {
        var others: [String: [String]] = [:]
        for service in ["webcredentials", "appclips", "activitycontinuation"] {
            guard let section = root[service] else { continue }
            others[service] = section.object?["apps"].map(strings) ?? []
        }
        guard let links = root["applinks"]?.object else {
            remarks.append("There is no applinks section, so the file gives no universal links.")
            return AssociationFile(details: [], variables: [:], otherServices: others, remarks: remarks)
        }
        if let apps = links["apps"]?.array, !apps.isEmpty {
            remarks.append("applinks.apps is not empty; before iOS 13 it had to be, and later it has no effect.")
        }
        let variables = (links["substitutionVariables"]?.object ?? [:]).mapValues(strings)
        noteVariables(variables)
        let defaults = links["defaults"]?.object ?? [:]
        var details: [AssociationFile.Details] = []
        switch links["details"] {
        case .array(let entries):
            for (index, entry) in entries.enumerated() {
                guard let entry = entry.object else {
                    remarks.append("details[\(index)] is no object and is ignored.")
                    continue
                }
                details.append(self.details(entry, apps(entry, index), defaults, "details[\(index)]"))
            }
        case .object(let entries):
            remarks.append("details is a dictionary, as before iOS 9.3; its order is that of the identifiers.")
            for (app, entry) in entries.sorted(by: { $0.key < $1.key }) {
                details.append(self.details(entry.object ?? [:], [app], defaults, "details.\(app)"))
            }
        default:
            remarks.append("applinks.details is missing, so the file gives no universal links.")
        }
        return AssociationFile(details: details, variables: variables, otherServices: others, remarks: remarks)
    }

    private func strings(_ value: JSONValue) -> [String] {
        value.array?.compactMap(\.string) ?? []
    }

    private mutating func noteVariables(_ variables: [String: [String]]) {
        for (name, values) in variables.sorted(by: { $0.key < $1.key }) {
            if name.contains(where: { "$()".contains($0) }) {
                remarks.append("The variable \"\(name)\" has $, ( or ) in its name, so no pattern can name it.")
            }
            if values.contains(where: { $0.contains("$(") }) {
                remarks.append("A value of the variable \"\(name)\" names another variable, which is not resolved.")
            }
        }
    }

    private mutating func apps(_ entry: [String: JSONValue], _ index: Int) -> [String] {
        let apps = entry["appIDs"].map(strings) ?? entry["appID"]?.string.map { [$0] } ?? []
        if apps.isEmpty { remarks.append("details[\(index)] names no app.") }
        for app in apps where !app.contains(".") {
            remarks.append(
                "\"\(app)\" is no application identifier: it is the team's prefix, a full stop, the bundle ID."
            )
        }
        return apps
    }

    private mutating func details(
        _ entry: [String: JSONValue],
        _ apps: [String],
        _ outer: [String: JSONValue],
        _ place: String
    ) -> AssociationFile.Details {
        let defaults = outer.merging(entry["defaults"]?.object ?? [:]) { _, own in own }
        guard let components = entry["components"] else {
            let rules = entry["paths"].map(strings) ?? []
            if rules.isEmpty { remarks.append("\(place) has neither components nor paths, so it matches nothing.") }
            return AssociationFile.Details(apps: apps, rules: rules.map { legacyRule($0) })
        }
        if entry["paths"] != nil { remarks.append("\(place) has components, so its paths count before iOS 13 only.") }
        var rules: [AssociationFile.Rule] = []
        for (index, component) in (components.array ?? []).enumerated() {
            let place = "\(place).components[\(index)]"
            guard let component = component.object else {
                remarks.append("\(place) is no object and is ignored.")
                continue
            }
            rules.append(rule(component.merging(defaults) { own, _ in own }, place, own: component))
        }
        if rules.isEmpty { remarks.append("\(place) has no components, so it matches nothing.") }
        return AssociationFile.Details(apps: apps, rules: rules)
    }

    private func legacyRule(_ text: String) -> AssociationFile.Rule {
        let excludes = text.hasPrefix("NOT ")
        return AssociationFile.Rule(
            path: excludes ? String(text.dropFirst(4)) : text,
            excludes: excludes,
            isLegacy: true
        )
    }

    private static let known: Set<String> = [
        "/", "?", "#", "exclude", "comment", "caseSensitive", "percentEncoded",
    ]

    private mutating func rule(
        _ values: [String: JSONValue],
        _ place: String,
        own: [String: JSONValue]
    ) -> AssociationFile.Rule {
        for key in own.keys.sorted() where !Self.known.contains(key) {
            remarks.append("\(place) has the unknown key \"\(key)\", which is ignored.")
        }
        for key in ["/", "#"] where values[key] != nil && values[key]?.string == nil {
            remarks.append("\"\(key)\" of \(place) is no text and is ignored.")
        }
        for key in ["exclude", "caseSensitive", "percentEncoded"]
        where values[key] != nil && values[key]?.boolean == nil {
            remarks.append("\"\(key)\" of \(place) is neither true nor false and is ignored.")
        }
        return AssociationFile.Rule(
            path: values["/"]?.string,
            query: query(values["?"], place),
            fragment: values["#"]?.string,
            excludes: values["exclude"]?.boolean ?? false,
            isCaseSensitive: values["caseSensitive"]?.boolean ?? true,
            isPercentEncoded: values["percentEncoded"]?.boolean ?? true,
            comment: values["comment"]?.string
        )
    }

    private mutating func query(_ value: JSONValue?, _ place: String) -> AssociationFile.Rule.Query? {
        switch value {
        case .string(let pattern):
            return .whole(pattern)
        case .object(let items):
            let patterns = items.compactMapValues(\.string)
            guard patterns.count == items.count else {
                remarks.append("A value in \"?\" of \(place) is no text, so the whole of \"?\" is ignored.")
                return nil
            }
            return .items(patterns)
        case nil:
            return nil
        default:
            remarks.append("\"?\" of \(place) is neither a text nor a dictionary and is ignored.")
            return nil
        }
    }
}
