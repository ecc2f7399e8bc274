// SPDX-License-Identifier: Apache-2.0

/// What `.nfclint.yml` chooses.
///
///     disabled: [TXT005]
///     severity:
///       SRC012: error
///     objects: [badge, museum card]
///     products: [NFC Tools]
///     exclude: [Legacy]
///     baseline: nfclint-baseline.json
public struct LintConfiguration: Sendable {
    /// The ids of rules that are off.
    public var disabled: Set<String> = []
    /// Other severities, by id.
    public var severities: [String: Severity] = [:]
    /// What the app's objects are called, for TXT007.
    public var objects: [String] = []
    /// Names of products that may have words of the technology, for TXT001.
    public var products: [String] = []
    /// Beginnings of paths that are left out.
    public var excluded: [String] = []
    /// The baseline's path; nil for none.
    public var baseline: String?
    /// What is wrong with the file, as sentences.
    public private(set) var problems: [String] = []

    /// Nothing chosen.
    public init() {}

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - known: the ids of all rules.
    public init(_ bytes: [UInt8], known: Set<String>) {
        let root: ConfigValue
        do throws(FormatError) {
            root = try YAMLText.read(bytes, isWhole: true)
        } catch {
            problems.append("Line \(error.position.line): \(error.reason)")
            return
        }
        guard let entries = root.entries else {
            problems.append("Line \(root.position.line): a key such as disabled is missing.")
            return
        }
        for entry in entries {
            check(entry)
            switch entry.key {
            case "disabled": disabled = Set(entry.value.strings.map { $0.uppercased() })
            case "severity":
                for pair in entry.value.entries ?? [] {
                    guard let severity = pair.value.string.flatMap(Severity.init) else {
                        problems.append("Line \(pair.position.line): a severity is error, warning or info.")
                        continue
                    }
                    severities[pair.key.uppercased()] = severity
                }
            case "objects": objects = entry.value.strings
            case "products": products = entry.value.strings
            case "exclude": excluded = entry.value.strings
            case "baseline": baseline = entry.value.string
            default: problems.append("Line \(entry.position.line): the key \(entry.key) is not known.")
            }
        }
        for id in disabled.union(severities.keys).sorted() where !known.contains(id) {
            problems.append("There is no rule \(id).")
        }
    }

    /// Notes a value with the wrong type for its key, which would have no effect.
    private mutating func check(_ entry: ConfigValue.Entry) {
        let isFine: Bool
        let type: String
        switch entry.key {
        case "severity":
            isFine = entry.value.entries != nil
            type = "pairs of a rule and a severity"
        case "baseline":
            isFine = entry.value.string != nil
            type = "a path"
        case "disabled", "objects", "products", "exclude":
            isFine = entry.value.scalar != nil || entry.value.array?.allSatisfy { $0.scalar != nil } == true
            type = "a list"
        default: return
        }
        if !isFine { problems.append("Line \(entry.position.line): \(entry.key) takes \(type).") }
    }
}
