// SPDX-License-Identifier: Apache-2.0

/// The documentation page of a rule, created from the rule's texts.
public struct RulePage: Sendable {
    private let rule: Rule

    /// Creates the page of a rule.
    public init(_ rule: Rule) { self.rule = rule }

    /// The page as Markdown.
    public var markdown: String {
        var output = "# \(rule.id)\n\n\(rule.title).\n\n"
        output +=
            "## Overview\n\nSeverity: \(rule.severity.rawValue).\n\n\(rule.why)\n\n**How to fix it.** \(rule.fix)\n\n"
        output += "## What it finds\n\n" + rule.bad.map(example).joined(separator: "Another one:\n\n")
        output += "## What it allows\n\n" + rule.good.map(example).joined(separator: "Another one:\n\n")
        output +=
            "To silence it, write `// nfclint:disable \(rule.id)` at the line or above it, or list it under `disabled`"
        return output + " in `.nfclint.yml`.\n"
    }

    /// The page as plain text for a terminal.
    public var text: String {
        markdown.replacing("**", with: "").replacing("```swift", with: "```").replacing("```xml", with: "```")
            .replacing("```json", with: "```")
    }

    private func example(_ example: Example) -> String {
        example.files.map { file in
            let language =
                file.path.hasSuffix(".swift")
                ? "swift" : file.path.hasSuffix(".plist") || file.path.hasSuffix(".entitlements") ? "xml" : ""
            // The first part of a long file is sufficient.
            let body = file.text.count > 4000 ? String(file.text.prefix(200)) + " …" : file.text.trimmedAtEnd
            return "`\(file.path)`:\n\n```\(language)\n\(body)\n```\n\n"
        }.joined()
    }
}
