// SPDX-License-Identifier: Apache-2.0

extension Report {
    /// The report as text for users: each finding with its source line and a caret.
    ///
    /// - Parameter hasColour: whether the terminal supports colours.
    public func text(hasColour: Bool = false) -> String {
        var output = ""
        for finding in findings {
            let position = finding.place.position
            let place = "\(path(finding.place.path).visible):\(position.line):\(position.column)"
            let word = Self.coloured(finding.severity.rawValue, finding.severity, hasColour)
            output += "\(place): \(word): \(finding.message.visible) [\(finding.id)]\n"
            if let line = line(finding.place) {
                output += "    \(line.visible)\n"
                output += "    \(Self.caret(line, position.column))\n"
            }
            output += "    fix: \(finding.remedy.visible)\n    see: \(page(finding))\n"
        }
        return output
    }

    /// How the files of each target were interpreted, and which files could not be found.
    public var targetLines: String {
        var output = ""
        for unit in shownUnits {
            var parts = ["\(unit.target.name) (\(unit.target.kind.rawValue))"]
            let info = Set(unit.target.variants.compactMap { $0.info?.path }).sorted()
            let entitlements = Set(unit.target.variants.compactMap { $0.entitlements?.path }).sorted()
            if !info.isEmpty { parts.append("Info.plist: \(info.joined(separator: ", "))") }
            if !entitlements.isEmpty { parts.append("entitlements: \(entitlements.joined(separator: ", "))") }
            if let minimum = unit.target.variants.compactMap(\.minimum).min() { parts.append("iOS \(minimum)") }
            let sources = unit.target.files.count { $0.hasSuffix(".swift") }
            parts.append(sources == 1 ? "1 Swift file" : "\(sources) Swift files")
            output += parts.joined(separator: "; ").visible + "\n"
            for missing in unit.target.missing where unit.usesCoreNFC {
                output += "  not found: \(missing.visible)\n"
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
        return String(before.visible.map { $0 == "\t" ? "\t" : " " }) + "^"
    }
}
