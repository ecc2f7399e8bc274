// SPDX-License-Identifier: Apache-2.0

extension AssociationFile {
    /// Returns all problems of the file, including parts with an unexpected effect. Problems found while reading come
    /// first, then problems found by comparing rules and variables.
    public func check() -> [LinkFinding] {
        var result = findings
        let names = Set(variables.map { ExactText($0.name) })
        for entry in details {
            for rule in entry.rules {
                let place = "\(entry.place).\(rule.place)"
                result += PatternCheck(rule: rule, place: place, variables: names).findings
            }
        }
        return result + variableFindings + reachabilityFindings
    }

    /// Returns the reason why a link does not open an app, or any app in the file. Without a link, only checks whether
    /// the file contains the app.
    public func check(app: String?, opens url: LinkURL?) -> [LinkFinding] {
        if let app, !details.contains(where: { $0.apps.contains(app) }) {
            return [LinkFinding("AASA005", .error, "The file does not contain the app \(app).")]
        }
        guard let url else { return [] }
        let answer = LinkMatcher(self).answer(url, installed: app.map { [$0] })
        guard answer.app == nil else { return [] }
        return [LinkFinding("AASA016", .error, "The link does not open \(app ?? "an app"): \(answer.why)")]
    }
}

extension AssociationFile.Rule {
    var patterns: [(key: String, text: String)] {
        var result: [(key: String, text: String)] = []
        if let path { result.append(("/", path)) }
        switch query {
        case .whole(let text): result.append(("?", text))
        case .items(let items): result += items.map { ("?", $0.pattern) }
        case nil: break
        }
        if let fragment { result.append(("#", fragment)) }
        return result
    }

    /// Returns a pattern's variables by name, whether one is not closed, and the bytes outside of them.
    static func variables(in pattern: String) -> (names: [String], isOpen: Bool, literal: [UInt8]) {
        var names: [String] = []
        var literal: [UInt8] = []
        // Compared as bytes, as in compiled patterns, because a character may include more than the bracket.
        var rest = Array(pattern.utf8)[...]
        while let start = rest.firstRange(of: "$(".utf8) {
            guard let end = rest[start.upperBound...].firstIndex(of: 0x29) else { return (names, true, literal + rest) }
            literal += rest[..<start.lowerBound]
            names.append(String(decoding: rest[start.upperBound..<end], as: UTF8.self))
            rest = rest[(end + 1)...]
        }
        return (names, false, literal + rest)
    }
}

/// Finds patterns whose meaning is unexpected.
private struct PatternCheck {
    let rule: AssociationFile.Rule
    let place: String
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
                    "\(name) uses the variable \"\(variable)\", which is undefined, so it matches nothing."
                )
            }
        if found.isOpen {
            result.append(LinkFinding("AASA009", .error, "\(name) has \"$(\" without \")\", so it is not a variable."))
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
                LinkFinding("AASA013", .warning, "\(name) has non-ASCII letters, which URLs don't contain. \(step)")
            ]
        }
        guard !rule.isPercentEncoded, hasEscape else { return [] }
        let why = "percentEncoded is false, so the URL's escapes are resolved before it is compared."
        return [LinkFinding("AASA013", .warning, "\(name) has an escape such as %20, which never matches: \(why)")]
    }

    /// Finds parts of a path that belong to another key (AASA012).
    private func misplaced(_ path: String) -> [LinkFinding] {
        func finding(_ what: String, _ step: String) -> [LinkFinding] {
            [LinkFinding("AASA012", .warning, "\(place) has \(what) in its path, where it never matches. \(step)")]
        }
        if path.contains("://") { return finding("a whole URL", "Leave out the scheme and the host.") }
        if path.contains("#") { return finding("a fragment", "Put it under the key \"#\".") }
        // A question mark by itself matches any character.
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
                ? finding("begins with NOT, which only excludes in \"paths\". Use \"exclude\": true.") : []
        }
        if rule.excludes {
            return path.first == " " ? finding("has more than one space after NOT, so it matches nothing.") : []
        }
        return isWord ? finding("excludes nothing: it must begin with NOT, in capitals, and one space.") : []
    }
}

extension AssociationFile {
    /// Finds variables without effect, or with an unexpected effect (AASA010).
    private var variableFindings: [LinkFinding] {
        let patterns = details.flatMap(\.rules).flatMap(\.patterns)
        let used = Set(patterns.flatMap { Rule.variables(in: $0.text).names }.map(ExactText.init(_:)))
        var result: [LinkFinding] = []
        for variable in variables where SubstitutionVariables.isName(variable.name) {
            let name = variable.name
            func add(_ text: String) {
                result.append(LinkFinding("AASA010", .warning, "The variable \"\(name)\" \(text)"))
            }
            if variable.values.isEmpty { add("has no values, so patterns that use it match nothing.") }
            if !used.contains(ExactText(name)) { add("is not used by any pattern.") }
            if SubstitutionVariables.isPredefined(name) { add("hides the predefined variable with the same name.") }
        }
        return result
    }

    /// Finds entries and rules that are never reached, because an earlier one matches all of the same URLs (AASA011).
    /// At most 2000 rules of an entry are compared.
    private var reachabilityFindings: [LinkFinding] {
        var result: [LinkFinding] = []
        func add(_ place: String, _ why: String) {
            result.append(LinkFinding("AASA011", .warning, "\(place) is never reached: \(why)"))
        }
        for (index, entry) in details.enumerated() {
            let rules = entry.rules.prefix(2000).map(Reach.init)
            let apps = Set(entry.apps)
            let earlierEntry = details[..<index].first { earlier in
                !apps.isEmpty && apps.isSubset(of: earlier.apps)
                    && earlier.rules.contains { Reach($0).takesEverything }
            }
            if let earlierEntry { add(entry.place, "a rule of \(earlierEntry.place) matches every URL for its apps.") }
            for (number, rule) in rules.enumerated() {
                guard let earlier = rules[..<number].firstIndex(where: { $0.covers(rule) }) else { continue }
                let (own, other) = (entry.rules[number], entry.rules[earlier])
                let what = other.excludes ? "excludes" : "matches"
                let all = rules[earlier].takesEverything ? "every URL" : "everything that the later rule matches"
                add("\(entry.place).\(own.place)", "\(other.place) \(what) \(all).")
            }
        }
        return result
    }
}

/// The URLs that a rule matches, in a form that allows comparing rules.
private struct Reach {
    private let rule: AssociationFile.Rule
    private let path: [UInt8]
    /// The prefix that is sufficient for a path to match; nil for patterns that need more.
    private let beginning: [UInt8]?
    private let query: [ExactText]
    private let fragment: ExactText?
    private let isQueryFree: Bool
    private let isFragmentFree: Bool

    init(_ rule: AssociationFile.Rule) {
        self.rule = rule
        var path = Array((rule.path ?? "*").utf8)[...]
        while path.first == 0x2F { path.removeFirst() }
        while path.last == 0x2F { path.removeLast() }
        // Consecutive stars mean the same as one star.
        while path.suffix(2).elementsEqual("**".utf8) { path.removeLast() }
        self.path = Array(path)
        let literal = path.dropLast()
        let isPlain = path.last == 0x2A && !literal.contains { "*?$".utf8.contains($0) }
        beginning = isPlain ? Array(literal) : nil
        query =
            switch rule.query {
            case nil: []
            case .whole(let pattern): [ExactText(pattern)]
            case .items(let items): items.flatMap { [ExactText($0.name), ExactText($0.pattern)] }
            }
        fragment = rule.fragment.map(ExactText.init(_:))
        isQueryFree =
            switch rule.query {
            case nil, .whole("*"): true
            case .items(let items): items.allSatisfy { $0.pattern == "*" }
            case .whole: false
            }
        isFragmentFree = rule.fragment == nil || rule.fragment == "*"
    }

    var takesEverything: Bool { beginning?.isEmpty == true && isQueryFree && isFragmentFree }

    func covers(_ other: Reach) -> Bool {
        if takesEverything { return true }
        let isAlike =
            rule.isCaseSensitive == other.rule.isCaseSensitive
            && rule.isPercentEncoded == other.rule.isPercentEncoded
        if !rule.isCaseSensitive, other.rule.isCaseSensitive {
            // A rule that ignores case covers the same rule with case.
            var folded = (rule, other.rule)
            folded.0.isCaseSensitive = true
            folded.0.path = folded.0.path?.lowercased()
            folded.1.path = folded.1.path?.lowercased()
            return Reach(folded.0).covers(Reach(folded.1))
        }
        guard isAlike, isQueryFree || query == other.query, isFragmentFree || fragment == other.fragment else {
            return false
        }
        if path == other.path { return true }
        // A slash and a star at the end also match the path without the slash.
        guard let beginning else { return false }
        return other.path.starts(with: beginning) || other.path + [0x2F] == beginning
    }
}

/// A problem in an association file or an app's associated domains, or a part with an unexpected effect.
public struct LinkFinding: Sendable, Hashable {
    /// How serious a finding is.
    public enum Severity: String, Sendable, Hashable {
        /// Links don't open the app, or open another app.
        case error
        /// A part has no effect, or an unexpected effect.
        case warning
        /// Information without a problem.
        case information
    }

    /// The rule that was broken, such as `AASA011`. The meaning of a rule never changes.
    public let id: String
    /// How serious the finding is.
    public let severity: Severity
    /// Sentences that explain the problem and its position.
    public let message: String

    init(_ id: String, _ severity: Severity, _ message: String) {
        self.id = id
        self.severity = severity
        self.message = message
    }
}

extension AssociationFileError {
    /// The ID of the rule that the file breaks.
    public var rule: String { code == .tooLarge ? "AASA002" : "AASA001" }

    /// The error as a finding.
    public var finding: LinkFinding { LinkFinding(rule, .error, reason) }
}

extension LinkFinding {
    private static let name = "apple-app-site-association"

    /// Returns the problem with the path of an association file.
    public static func ofName(_ path: String) -> [LinkFinding] {
        guard path.lowercased().hasSuffix(name + ".json") else { return [] }
        let text = "The file must be served as \(name), without .json at the end."
        return [LinkFinding("AASA017", .error, text)]
    }

    /// Returns the problems with the URL of an association file. Throws ``LinkURL/Problem`` when the URL is not of a
    /// site.
    public static func ofPlace(_ url: String) throws(LinkURL.Problem) -> [LinkFinding] {
        let place = try LinkURL(url)
        var result = ofName(place.pathText)
        func add(_ text: String, _ severity: Severity = .error) {
            result.append(LinkFinding("AASA017", severity, text))
        }
        if !url.lowercased().hasPrefix("https:") { add("The file is served over HTTP. It must be served over HTTPS.") }
        // A folder with this name is not the file.
        let end = place.bytes[place.path.upperBound...].first == 0x2F ? "/" : ""
        switch place.pathText + end {
        case "/.well-known/\(name)": break
        case "/\(name)":
            add(
                "The file is at the root of the site, where not all devices look. Serve it at /.well-known/\(name).",
                .warning
            )
        default:
            if result.isEmpty { add("No device looks for the file there. Serve it at /.well-known/\(name).") }
        }
        return result
    }

    /// Returns the finding for a site's answer without a usable file. Nil when the answer breaks no rule of association
    /// files, for example when the site does not answer. The codes are those of `nfc links fetch`.
    public static func ofAnswer(_ code: String, reason: String) -> LinkFinding? {
        switch code {
        case "bad-file": LinkFinding("AASA001", .error, reason)
        case "too-large": LinkFinding("AASA002", .error, reason)
        case "redirect": LinkFinding("AASA017", .error, "\(reason) Redirects are not followed.")
        default: nil
        }
    }
}
