// SPDX-License-Identifier: Apache-2.0

/// Formats for other programs, with one line per finding.
extension Report {
    /// Workflow commands for GitHub Actions, which displays them next to the code.
    public var github: String {
        findings.map { finding in
            let word = finding.severity == .info ? "notice" : finding.severity.rawValue
            let position = finding.place.position
            let parts = [
                "file=\(Self.property(path(finding.place.path)))", "line=\(position.line)", "col=\(position.column)",
                "title=\(Self.property(finding.id))",
            ]
            let text = Self.data("\(finding.message) \(finding.remedy)")
            return "::\(word) \(parts.joined(separator: ","))::\(text)\n"
        }.joined()
    }

    /// Lines in the format that Xcode reads from a build phase.
    public var xcode: String {
        findings.map { finding in
            let word = finding.severity == .info ? "note" : finding.severity.rawValue
            let position = finding.place.position
            let place = "\(path(finding.place.path)):\(position.line):\(position.column)"
            return "\(place): \(word): \(finding.message) \(finding.remedy) (\(finding.id))".visible + "\n"
        }.joined()
    }

    /// A row of a Markdown table for each finding.
    var markdownRows: String {
        findings.map { finding in
            let sign =
                switch finding.severity {
                case .error: "❌"
                case .warning: "⚠️"
                case .info: "ℹ️"
                }
            let place = "\(path(finding.place.path)):\(finding.place.position.line)"
            let cells = [
                sign, finding.id, place.markdownCode, finding.message.markdown, finding.remedy.markdown,
            ]
            return "| \(cells.joined(separator: " | ")) |\n"
        }.joined()
    }

    /// The findings as a Markdown table, for a pull request.
    public var markdown: String { Reports([self]).markdown }

    private static func data(_ text: String) -> String { text.visible.replacing("%", with: "%25") }

    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}

extension Reports {
    /// The findings as a Markdown table, for a pull request.
    public var markdown: String {
        let rows = all.map(\.markdownRows).joined()
        let head = "\n| | rule | where | what | how to fix it |\n| --- | --- | --- | --- | --- |\n"
        return "### nfc lint: \(summary)\n" + (rows.isEmpty ? "" : head + rows)
    }
}
