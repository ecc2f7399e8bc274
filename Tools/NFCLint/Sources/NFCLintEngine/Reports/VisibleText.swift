// SPDX-License-Identifier: Apache-2.0
import TextSafety

extension String {
    /// The text on one line, with invisible characters escaped. File names and source lines then can't control a
    /// terminal, start a new line, or issue workflow commands. Tabs stay, because source lines are indented with them.
    public var visible: String {
        split(separator: "\t", omittingEmptySubsequences: false).map { VisibleText.escaped(String($0)) }
            .joined(separator: "\t")
    }

    /// The text escaped for Markdown, so that source text can't create images, links, mentions or HTML tags.
    var markdown: String {
        var result = ""
        for character in visible {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            // A word joiner after the character prevents a mention or an issue link.
            case "@", "#": result += "\(character)\u{2060}"
            case "\\", "`", "*", "_", "[", "]", "(", ")", "!", "|", "~": result += "\\\(character)"
            default: result.append(character)
            }
        }
        // Prevent automatic links.
        return result.replacing("://", with: ":\u{2060}//")
    }

    /// The text as code in a cell of a Markdown table.
    var markdownCode: String {
        "`" + visible.replacing("`", with: "'").replacing("|", with: "\\|") + "`"
    }
}
