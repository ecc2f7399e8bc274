// SPDX-License-Identifier: Apache-2.0

/// The settings in `.nfclint.yml`.
///
///     disabled: [TXT005]
///     severity:
///       SRC012: error
///     objects: [badge, museum card]
///     products: [NFC Tools]
///     exclude: [Legacy]
///     baseline: nfclint-baseline.json
public struct LintConfiguration: Sendable {
    /// The ids of disabled rules.
    public var disabled: Set<String> = []
    /// The severities that replace those of the rules, by rule id.
    public var severities: [String: Severity] = [:]
    /// The app's names for its tagged objects, such as "badge", for TXT007.
    public var objects: [String] = []
    /// Product names that may contain technical words, for TXT001.
    public var products: [String] = []
    /// The path prefixes of files to ignore.
    public var excluded: [String] = []
    /// The path of the baseline; nil for no baseline.
    public var baseline: String?
    /// The problems in the file, as sentences.
    public private(set) var problems: [String] = []

    /// Creates the default settings.
    public init() {}

    /// Parses the file.
    ///
    /// - Parameters:
    ///   - bytes: the contents of the file.
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
                        problems.append("Line \(pair.position.line): the severity must be error, warning or info.")
                        continue
                    }
                    severities[pair.key.uppercased()] = severity
                }
            case "objects": objects = entry.value.strings
            case "products": products = entry.value.strings
            case "exclude": excluded = entry.value.strings
            case "baseline": baseline = entry.value.string
            default: problems.append("Line \(entry.position.line): the key \(entry.key) is unknown.")
            }
        }
        for id in disabled.union(severities.keys).sorted() where !known.contains(id) {
            problems.append("The rule \(id) does not exist.")
        }
    }

    /// Reports a value whose type does not fit its key, because it would have no effect.
    private mutating func check(_ entry: ConfigValue.Entry) {
        let isValid: Bool
        let type: String
        switch entry.key {
        case "severity":
            isValid = entry.value.entries != nil
            type = "pairs of a rule and a severity"
        case "baseline":
            isValid = entry.value.string != nil
            type = "a path"
        case "disabled", "objects", "products", "exclude":
            isValid = entry.value.scalar != nil || entry.value.array?.allSatisfy { $0.scalar != nil } == true
            type = "a list"
        default: return
        }
        if !isValid { problems.append("Line \(entry.position.line): \(entry.key) must be \(type).") }
    }
}
