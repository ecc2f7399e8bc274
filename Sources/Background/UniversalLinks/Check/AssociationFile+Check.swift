// SPDX-License-Identifier: Apache-2.0

extension AssociationFile {
    /// Returns all problems of the file, including parts whose effect differs from what one expects. First those found
    /// while reading, then those found by comparing its rules and variables.
    public func check() -> [LinkFinding] {
        var result = findings
        let names = Set(variables.map { ExactText($0.name) })
        for entry in details {
            for rule in entry.rules {
                let place = "\(entry.place).\(rule.place)"
                result += PatternCheck(rule: rule, place: place, variables: names).findings
            }
        }
        return result + VariableCheck(file: self).findings + ReachabilityCheck(file: self).findings
    }

    /// Returns the reason why a link does not open an app.
    ///
    /// - Parameters:
    ///   - app: the app's identifier; nil for any app in the file.
    ///   - url: the link; nil to check only whether the file contains the app.
    public func check(app: String?, opens url: LinkURL?) -> [LinkFinding] {
        if let app, !details.contains(where: { $0.apps.contains(app) }) {
            return [LinkFinding("AASA005", .error, "The file does not name the app \(app).")]
        }
        guard let url else { return [] }
        let answer = LinkMatcher(self).answer(url, installed: app.map { [$0] })
        guard answer.app == nil else { return [] }
        return [LinkFinding("AASA016", .error, "The link does not open \(app ?? "an app"): \(answer.why)")]
    }
}

extension AssociationFile.Rule {
    /// The patterns, each with its key.
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

    /// Returns the names of the variables in a pattern, whether one is not closed, and the bytes around them.
    static func variables(in pattern: String) -> (names: [String], isOpen: Bool, literal: [UInt8]) {
        var names: [String] = []
        var literal: [UInt8] = []
        // By bytes, as patterns are compiled: a character may have more than a bracket.
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
