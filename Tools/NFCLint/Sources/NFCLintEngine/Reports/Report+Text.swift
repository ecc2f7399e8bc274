// SPDX-License-Identifier: Apache-2.0

extension Report {
    /// Lines for people: each finding with its line of source and a caret.
    ///
    /// - Parameter hasColour: whether the reader is a terminal.
    public func text(hasColour: Bool = false) -> String {
        var output = ""
        for finding in findings {
            let position = finding.place.position
            let place = "\(path(finding.place.path)):\(position.line):\(position.column)"
            let word = Self.coloured(finding.severity.rawValue, finding.severity, hasColour)
            output += "\(place): \(word): \(Self.visible(finding.message)) [\(finding.id)]\n"
            if let line = line(finding.place) {
                output += "    \(Self.visible(line))\n"
                output += "    \(Self.caret(line, position.column))\n"
            }
            output += "    fix: \(finding.remedy)\n    see: \(page(finding))\n"
        }
        return output
    }

    /// What was taken for what, and what could not be found.
    public var targetLines: String {
        var output = ""
        for unit in project.units where unit.usesCoreNFC || unit.isApp {
            var parts = ["\(unit.target.name) (\(unit.target.kind.rawValue))"]
            let info = Set(unit.target.variants.compactMap { $0.info?.path }).sorted()
            let entitlements = Set(unit.target.variants.compactMap { $0.entitlements?.path }).sorted()
            if !info.isEmpty { parts.append("Info.plist: \(info.joined(separator: ", "))") }
            if !entitlements.isEmpty { parts.append("entitlements: \(entitlements.joined(separator: ", "))") }
            if let minimum = unit.target.variants.compactMap(\.minimum).min() { parts.append("iOS \(minimum)") }
            parts.append("\(unit.target.files.count { $0.hasSuffix(".swift") }) Swift files")
            output += Self.visible(parts.joined(separator: "; ")) + "\n"
            for missing in unit.target.missing where unit.usesCoreNFC {
                output += "  not found: \(Self.visible(missing))\n"
            }
        }
        return output
    }

    private static func coloured(_ text: String, _ severity: Severity, _ hasColour: Bool) -> String {
        guard hasColour else { return text }
        let code =
            switch severity {
            case .error: "31"
            case .warning: "33"
            case .info: "36"
            }
        return "\u{1B}[1;\(code)m\(text)\u{1B}[0m"
    }

    private static func caret(_ line: String, _ column: Int) -> String {
        let before = String(decoding: line.utf8.prefix(max(0, column - 1)), as: UTF8.self)
        return String(visible(before).map { $0 == "\t" ? "\t" : " " }) + "^"
    }

    /// Characters that nobody sees become escapes, so that no file draws on the terminal.
    static func visible(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isHidden =
                scalar.value < 0x20 && scalar != "\t" || (0x7F...0x9F).contains(scalar.value)
                || scalar.properties.generalCategory == .format || scalar.properties.generalCategory == .lineSeparator
                || scalar.properties.generalCategory == .paragraphSeparator
            if isHidden {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
