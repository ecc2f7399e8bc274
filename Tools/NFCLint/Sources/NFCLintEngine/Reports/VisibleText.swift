// SPDX-License-Identifier: Apache-2.0
import TextSafety

extension String {
    /// The text on one line, with invisible characters escaped. File names and source lines can't control a terminal,
    /// start another line, or give commands to a workflow. Tabs stay, because source lines are indented with them.
    public var visible: String {
        split(separator: "\t", omittingEmptySubsequences: false).map { VisibleText.escaped(String($0)) }
            .joined(separator: "\t")
    }

    /// The text as Markdown that shows it literally, so that source text can't create images, links, mentions or HTML tags.
    var markdown: String {
        var result = ""
        for character in visible {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            // A mention or a thread number counts only if it follows directly.
            case "@", "#": result += "\(character)\u{2060}"
            case "\\", "`", "*", "_", "[", "]", "(", ")", "!", "|", "~": result += "\\\(character)"
            default: result.append(character)
            }
        }
        // Addresses become links by themselves.
        return result.replacing("://", with: ":\u{2060}//")
    }

    /// The text as code in a cell of a table in Markdown.
    var markdownCode: String {
        "`" + visible.replacing("`", with: "'").replacing("|", with: "\\|") + "`"
    }
}
